// Totals: sums of flows by path, for the list of paths.

package inspect

import "intsink/flows"

// totalSlots is how many paths Totals has room for, of one worker.
const totalSlots = 1 << 13

// Totals adds up the flows on each path: a table with open addressing, in memory that the
// asking goroutine has allocated.
type Totals struct {
	slots    []PathTotal
	used     bool
	Pathless uint64 // flows that told of no path
	Left     uint64 // flows on paths that there was no room for
}

// PathTotal is what the flows that are on a path now add up to, since each began.
type PathTotal struct {
	Hash           uint64
	Flows          uint64 // 0: the slot is free
	Packets, Bytes uint64
	Seen           int64  // last packet, Unix nanoseconds
	MaxLatency     uint32 // highest of the whole way, last reported
}

func newTotals() Totals { return Totals{slots: make([]PathTotal, totalSlots)} }

// clear empties a table that was used; a new one is empty.
func (t *Totals) clear() {
	if t.used {
		clear(t.slots)
	}
	t.used, t.Pathless, t.Left = false, 0, 0
}

// maxProbes bounds the work for one flow.
const maxProbes = 16

func (t *Totals) add(f *flows.Flow) {
	if f.NumPaths == 0 {
		t.Pathless++
		return
	}
	t.used = true
	h := f.PathHash
	for i := range uint64(maxProbes) {
		s := &t.slots[(h^h>>32+i)%totalSlots]
		if s.Flows != 0 && s.Hash != h {
			continue
		}
		packets, bytes := f.Totals()
		s.Hash = h
		s.Flows++
		s.Packets += packets
		s.Bytes += bytes
		s.Seen = max(s.Seen, f.LastSeen())
		if f.EndKnown() {
			s.MaxLatency = max(s.MaxLatency, f.EndRef)
		}
		return
	}
	t.Left++
}

// All are the paths that have flows.
func (t *Totals) All(yield func(*PathTotal) bool) {
	for i := range t.slots {
		if t.slots[i].Flows > 0 && !yield(&t.slots[i]) {
			return
		}
	}
}
