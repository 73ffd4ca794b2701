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

	// Skipped is how many numbers in front of Sequence are missing since this packet came.
	Skipped uint64
}

// Gap is a range of report packets that never came, both ends included.
type Gap struct {
	Key   Key    `json:"stream"`
	Start int64  `json:"start"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`

	// Unknown: it is not known how many packets are missing from First on. Last is 0.
	Unknown bool `json:"unknown,omitempty"`

	// Of a table that remembers: when the packets in front of and behind the gap came, Unix nanoseconds; 0: not known.
	Before int64 `json:"-"`
	After  int64 `json:"-"`
}

// Count returns how many report packets the gap has; 0: it is not known.
func (g Gap) Count() uint64 {
	if g.Unknown {
		return 0
	}
	return g.Last - g.First + 1
}

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
	Unknown     uint64 // outages after which the numbers do not tell how many packets are missing
	Twins       uint64 // packets with the number of another one, and other contents: of a second sink
}

// Add adds o to c.
func (c *Counts) Add(o *Counts) {
	c.Received += o.Received
	c.Lost += o.Lost
	c.Late += o.Late
	c.Reordered += o.Reordered
	c.Repeated += o.Repeated
	c.Restarts += o.Restarts
	c.Undecodable += o.Undecodable
	c.Unknown += o.Unknown
	c.Twins += o.Twins
}

// Table holds the streams of one collector.
type Table struct {
	Gone Counts // of streams that made room

	streams map[Key]*Stream // by Key.place
	heads   map[Key]*head   // by Key.label
	owned   map[netip.Addr]int
	max     int
	share   int      // most streams of one exporter address
	since   int64    // it remembers what came since, Unix nanoseconds; 0: it does not
	id      uint64   // among collectors that ask each other
	last    *Stream  // the stream of the latest packet: most packets follow one of their own stream
	search  [2]int64 // no stream that may go is searched for before, by the monotonic clock: in all, in an exporter's share
}

// New makes a table of at most max streams. Once half of it is taken, an exporter address may have share.
func New(max, share int) *Table {
	return &Table{streams: map[Key]*Stream{}, heads: map[Key]*head{}, owned: map[netip.Addr]int{}, max: max, share: share}
}

// Times has two times of one packet in nanoseconds: when the kernel received it, by the wall
// clock, and when it was read from the socket, by the monotonic clock.
type Times struct{ Arrived, Monotonic int64 }

// Streams that make room for a new one: those of one packet, which noise makes, sooner than others.
const (
	silent = 10 * int64(1e9)  // how long after its last packet a stream may make room
	single = Patience         // the same for a stream of one packet
	idle   = 600 * int64(1e9) // a row that has waited so long is given up
)

// searchEvery is how often streams that may make room are searched for at most while the table is full. A search goes
// over all streams: with one for each packet of a new key, a source that makes up keys could stop the
// collector.
const searchEvery = int64(1e9)

// Get returns the stream of k, or nil if there is none.
func (t *Table) Get(k Key) *Stream {
	s := t.last
	if s == nil || s.Key != k {
		if s = t.streams[k.place()]; s == nil {
			return nil
		}
		t.last = s
	}
	s.speaker.at = k.Exporter
	return s
}

// Add makes the stream of k, which begins with h and now. It returns nil if there is no room.
func (t *Table) Add(k Key, h Header, now Times) *Stream {
	full, own := len(t.streams) >= t.max, len(t.streams) >= t.max/2 && t.owned[k.Exporter] >= t.share
	if (full || own) && !t.evict(k.Exporter, own, now.Monotonic) {
		return nil
	}
	s := newStream(k, h, now)
	s.remember(t.since)
	s.Restarts = t.earlier(s)
	s.head = t.heads[k.label()]
	if s.head == nil {
		s.head = &head{current: s}
		t.heads[k.label()] = s.head
	}
	t.streams[k.place()] = s
	t.owned[s.owner]++
	t.last = s
	return s
}

// earlier returns how many restarts the stream stands for: one where the table has an earlier start of its sink.
func (t *Table) earlier(s *Stream) uint64 {
	if !s.known() {
		return 0
	}
	for k := range t.streams {
		if k.Instance == s.Instance && k.Began < s.Began && k.Node == s.Node && k.HwID == s.HwID && k.Collector == s.Collector {
			return 1
		}
	}
	return 0
}

// Find is Get, or Add if there is none.
func (t *Table) Find(k Key, h Header, now Times) *Stream {
	if s := t.Get(k); s != nil {
		return s
	}
	return t.Add(k, h, now)
}

// evict removes streams that have been silent, of one exporter where own says that its share is full: all of one packet,
// or, where there are none, a sixteenth of the others, those with the fewest packets. It returns false if there is
// none, or if it has looked less than searchEvery ago.
func (t *Table) evict(exporter netip.Addr, own bool, monotonic int64) bool {
	search := &t.search[0]
	if own {
		search = &t.search[1]
	}
	if monotonic < *search {
		return false
	}
	*search = monotonic + searchEvery
	var gone, others []*Stream
	for _, s := range t.streams {
		since := monotonic - s.newest.Monotonic
		switch {
		case own && s.owner != exporter:
		case s.Received <= 1 && since > single:
			gone = append(gone, s)
		case since > silent:
			others = append(others, s)
		}
	}
	if len(gone) == 0 {
		slices.SortFunc(others, func(a, b *Stream) int {
			return cmp.Or(cmp.Compare(a.Received, b.Received), cmp.Compare(a.newest.Monotonic, b.newest.Monotonic))
		})
		gone = others[:(len(others)+15)/16]
	}
	for _, s := range gone {
		t.remove(s)
		if t.since > 0 {
			t.since = max(t.since, s.newest.Arrived)
		}
	}
	return len(gone) > 0
}

func (t *Table) remove(s *Stream) {
	t.Gone.Add(&s.Counts)
	delete(t.streams, s.Key.place())
	if t.owned[s.owner]--; t.owned[s.owner] == 0 {
		delete(t.owned, s.owner)
	}
	if t.last == s {
		t.last = nil
	}
	if s.head != nil && s.head.current == s {
		delete(t.heads, s.Key.label())
	}
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
			cmp.Compare(a.Key.Version, b.Key.Version), cmp.Compare(a.Key.Node, b.Key.Node), cmp.Compare(a.Key.HwID, b.Key.HwID),
			cmp.Compare(a.Key.Began, b.Key.Began), cmp.Compare(a.Key.Instance, b.Key.Instance))
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
			s.dismiss(Times{monotonic, monotonic})
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
	Instance  uint64         `json:"instance,omitempty"`
	Began     int64          `json:"began,omitempty"`
	Seen      int64          `json:"seen,omitempty"` // when its newest packet came, Unix nanoseconds
	Pace      float64        `json:"pace,omitempty"` // most numbers a second

	// Few: so few packets are known of it that it may be no stream, but a late packet, or noise.
	Few bool `json:"-"`
}

// Replaces reports whether st tells more of a stream than old, of another source.
func (st *State) Replaces(old *State) bool {
	switch {
	case st.Start == old.Start:
		return old.Next < st.Next
	case st.Few != old.Few:
		return old.Few
	}
	return old.Start < st.Start
}

// States returns the states to be stored, in the order of the keys. Streams whose packets are
// not numbered, as far as is known, are left out.
func (t *Table) States() []State {
	all := make([]State, 0, len(t.streams))
	for _, s := range t.Sorted() {
		if s.copies == 0 && (s.numbered || s.known()) {
			all = append(all, State{s.Exporter, s.Collector, s.Node, s.HwID, s.Version, s.start, s.next, s.Instance, s.Began, s.newest.Arrived, s.pace.highest, false})
		}
	}
	return all
}

// Resume makes a stream of each state, as far as there is room. With exact, numbers that are
// missing before the next packet count as such. Otherwise packets may have come after the
// states were stored: then it is not known what is missing, and nothing counts.
func (t *Table) Resume(states []State, exact bool, now Times) {
	for _, st := range states {
		k := Key{st.Exporter, st.Collector, st.Node, st.HwID, st.Version, st.Instance, st.Began}
		if len(t.streams) >= t.max || st.Version > IPFIX {
			return
		}
		s := &Stream{Key: k, start: st.Start, first: st.Next, next: st.Next, newest: now, numbered: true, resuming: !exact, owner: k.Exporter, head: &head{}}
		if away := now.Arrived - st.Seen; st.Seen > 0 && away > 0 { // the numbers may have come round meanwhile
			s.newest = Times{st.Seen, now.Monotonic - away}
		}
		s.speaker = speaker{at: k.Exporter, heard: max(st.Next, 1) - 1, last: s.newest.Monotonic}
		s.pace = pace{s.newest.Monotonic, s.next, st.Pace}
		s.head.current = s
		if t.since > 0 {
			s.remember(now.Arrived)
		}
		for i := range s.seen { // take all earlier numbers for numbers that came
			s.seen[i] = ^uint64(0)
		}
		t.streams[k.place()], t.heads[k.label()] = s, s.head
		t.owned[s.owner]++
	}
}
