// Table of streams: find, expire, evict, counts.

package streams

import (
	"cmp"
	"slices"
)

// Place is where a report packet stands: the start of its stream in Unix nanoseconds,
// and its number in it. No two packets of one stream share a place, but for copies that
// the network made.
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

// Count is how many report packets the gap has.
func (g Gap) Count() uint64 { return g.Last - g.First + 1 }

// Counts of one stream. Lost never falls: what comes after it was given up is in Late.
type Counts struct {
	Received    uint64 // report packets that came, copies and undecodable ones included
	Lost        uint64 // numbers that were given up
	Late        uint64 // of those, the ones that came after all
	Reordered   uint64 // behind a higher number, in time
	Repeated    uint64 // came more than once
	Restarts    uint64 // of the sink: its numbers began anew
	Undecodable uint64 // not one report in them could be read
}

// Table holds the streams of one collector.
type Table struct {
	streams map[Key]*Stream
	max     int
	last    *Stream // of the latest packet: most come in runs
}

// New makes a table of at most max streams.
func New(max int) *Table {
	return &Table{streams: map[Key]*Stream{}, max: max}
}

// Times of one packet in nanoseconds: when it arrived, by the wall clock of the kernel,
// and when it was read, by a clock that is never set.
type Times struct{ Arrived, Monotonic int64 }

// idle is how long a stream stays after its last packet where room is needed.
const idle = int64(10 * 60 * 1e9)

// Find returns the stream of k, a new one where there is none yet: it begins with h and
// now. It returns nil where the table is full.
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

// evict forgets the streams that have been idle for long; false where there is none.
func (t *Table) evict(monotonic int64) bool {
	before := len(t.streams)
	for k, s := range t.streams {
		if monotonic-s.newest.Monotonic > idle {
			delete(t.streams, k)
		}
	}
	t.last = nil
	return len(t.streams) < before
}

// Len is how many streams there are.
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

// Expire gives up the numbers that have been missing for longer than [Patience], and
// calls gap for each range.
func (t *Table) Expire(monotonic int64, gap func(Gap)) {
	for _, s := range t.streams {
		s.expire(monotonic-Patience, gap)
	}
}
