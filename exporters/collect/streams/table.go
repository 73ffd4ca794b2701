// Table of streams: finds the stream of a packet, expires missing numbers, evicts idle
// streams; State keeps streams over a restart of the collector.

package streams

import (
	"cmp"
	"net/netip"
	"slices"
)

// Place identifies a report packet within its Key: the start of its stream in Unix
// nanoseconds, and its extended sequence number. Only copies that the network made share it.
type Place struct {
	Start    int64
	Sequence uint64
}

// Gap is a range of report packets that never came, both ends included.
type Gap struct {
	Key   Key    `json:"stream"`
	Start int64  `json:"start"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// Count returns how many report packets the gap has.
func (g Gap) Count() uint64 { return g.Last - g.First + 1 }

// Counts of one stream. Lost never falls: a packet that comes after its number was counted as
// lost is counted in Late as well.
type Counts struct {
	Received    uint64 // report packets that came, copies and undecodable ones included
	Lost        uint64 // numbers that did not come in time
	Late        uint64 // packets that came after their number was counted as lost
	Reordered   uint64 // packets that came after a higher number, but in time
	Repeated    uint64 // packets that came more than once
	Restarts    uint64 // restarts of the sink: its numbers began anew
	Undecodable uint64 // packets in which no report could be read
}

// Table holds the streams of one collector.
type Table struct {
	streams map[Key]*Stream
	max     int
	last    *Stream // the stream of the latest packet: most packets follow one of their own stream
	search  int64   // no idle stream is searched for before, by the monotonic clock
}

// New makes a table of at most max streams.
func New(max int) *Table {
	return &Table{streams: map[Key]*Stream{}, max: max}
}

// Times has two times of one packet in nanoseconds: when the kernel received it, by the wall
// clock, and when it was read from the socket, by the monotonic clock.
type Times struct{ Arrived, Monotonic int64 }

// idle is how long after its last packet a stream may be evicted when the table is full.
const idle = int64(10 * 60 * 1e9)

// searchEvery is how often idle streams are searched for at most while the table is full. A search goes
// over all streams: with one for each packet of a new key, a source that makes up keys could stop the
// collector.
const searchEvery = int64(1e9)

// Find returns the stream of k. If there is none it makes one that begins with h and now, or
// returns nil if the table is full.
func (t *Table) Find(k Key, h Header, now Times) *Stream {
	if t.last != nil && t.last.Key == k {
		return t.last
	}
	s := t.streams[k]
	if s == nil {
		if len(t.streams) >= t.max && !t.evict(now.Monotonic) {
			return nil
		}
		s = newStream(k, h, now)
		t.streams[k] = s
	}
	t.last = s
	return s
}

// evict removes the streams that have been idle for long. It returns false if there is none, or if it
// has looked less than searchEvery ago.
func (t *Table) evict(monotonic int64) bool {
	if monotonic < t.search {
		return false
	}
	t.search = monotonic + searchEvery
	before := len(t.streams)
	for k, s := range t.streams {
		if monotonic-s.newest.Monotonic > idle {
			delete(t.streams, k)
		}
	}
	t.last = nil
	return len(t.streams) < before
}

// Len returns the number of streams.
func (t *Table) Len() int { return len(t.streams) }

// Sorted returns all streams in the order of their keys.
func (t *Table) Sorted() []*Stream {
	all := make([]*Stream, 0, len(t.streams))
	for _, s := range t.streams {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Stream) int {
		return cmp.Or(a.Key.Exporter.Compare(b.Key.Exporter), a.Key.Collector.Compare(b.Key.Collector),
			cmp.Compare(a.Key.Version, b.Key.Version), cmp.Compare(a.Key.Node, b.Key.Node), cmp.Compare(a.Key.HwID, b.Key.HwID))
	})
	return all
}

// Expire counts numbers that have been missing for longer than [Patience] as lost, and calls
// gap with each range of them. Packets that may be of a sink that has begun anew are counted
// when it is idle: as what they are if it has not.
func (t *Table) Expire(monotonic int64, gap func(Gap)) {
	for _, s := range t.streams {
		s.expire(monotonic-Patience, gap)
		if monotonic-s.newest.Monotonic > idle {
			s.dismiss()
		}
	}
}

// State is the part of a stream that must be stored so that its extended numbers continue
// after a restart of the collector.
type State struct {
	Exporter  netip.Addr     `json:"exporter"`
	Collector netip.AddrPort `json:"collector"`
	Node      uint32         `json:"node_id"`
	HwID      uint8          `json:"hw_id"`
	Version   uint8          `json:"version"`
	Start     int64          `json:"start"`
	Next      uint64         `json:"next"`
}

// States returns the states to be stored, in the order of the keys. Streams whose packets are
// not numbered are left out.
func (t *Table) States() []State {
	all := make([]State, 0, len(t.streams))
	for _, s := range t.Sorted() {
		if s.copies == 0 {
			all = append(all, State{s.Exporter, s.Collector, s.Node, s.HwID, s.Version, s.start, s.next})
		}
	}
	return all
}

// Resume makes a stream of each state, as far as there is room. With exact, numbers that are
// missing before the next packet count as such. Otherwise packets may have come after the
// states were stored: then it is not known what is missing, and nothing counts.
func (t *Table) Resume(states []State, exact bool, now Times) {
	for _, st := range states {
		k := Key{st.Exporter, st.Collector, st.Node, st.HwID, st.Version}
		if len(t.streams) >= t.max || st.Version > 2 {
			return
		}
		s := &Stream{Key: k, start: st.Start, first: st.Next, next: st.Next, newest: now, resuming: !exact}
		for i := range s.seen { // take all earlier numbers for numbers that came
			s.seen[i] = ^uint64(0)
		}
		t.streams[k] = s
	}
}
