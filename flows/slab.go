// slab: hands out places of flows in order, and recycles them by a FIFO free list.

package flows

// Places of flows come from a slab, in ascending order: a thousand flows of a table for a
// million take the pages of a thousand. A flow keeps its place when its slot moves to
// another bucket. The places of removed flows are recycled first in, first out, so that a
// removed flow stays readable for a while: losses may be reported after its end.

// recycleShare is the part of the table that must be free before a place is recycled: one
// in so many.
const recycleShare = 16

// slab hands out the places of Table.flows.
type slab struct {
	used        int    // flows[:used] have been in use
	free        int    // places of these in the free list
	first, last uint32 // ends of the free list, where free is not 0
}

// alloc returns a place for a new flow. There always is one: places are as many as slots.
func (t *Table) alloc() uint32 {
	p := &t.slab
	if p.used < len(t.flows) && p.free <= len(t.flows)/recycleShare {
		p.used++
		return uint32(p.used - 1)
	}
	at := p.first
	p.first = t.flows[at].nextFree()
	p.free--
	return at
}

// free marks the flow at a place as removed, and puts the place at the end of the free list.
func (t *Table) free(at uint32) {
	p := &t.slab
	t.flows[at].Key.markRemoved()
	if p.free == 0 {
		p.first = at
	} else {
		t.flows[p.last].setNextFree(at)
	}
	p.last = at
	p.free++
}

// The free list is linked through Flow.windows, which only this package writes: a report of
// a removed flow's losses changes other fields.

func (f *Flow) nextFree() uint32 { return uint32(f.windows[0]) }

func (f *Flow) setNextFree(at uint32) { f.windows[0] = uint64(at) }

// Len returns the number of flows in the table.
func (t *Table) Len() int { return t.slab.used - t.slab.free }
