package flows

// Flows stand one behind the other in the order in which they came, however big the table
// is: a thousand of a million share the pages of a thousand, and a flow stays where it is
// when its slot moves to another bucket. The places of flows that are gone are taken again,
// the one that is free for longest first, and not at once as long as there are others:
// somebody may still have something to say of its losses.

// recycleShare: places are taken again once one in so many of the table's is free.
const recycleShare = 16

// slab hands out the places of Table.flows.
type slab struct {
	used        int    // flows[:used] were taken at some time
	free        int    // of these, flows that are gone
	first, last uint32 // of the free ones, where there are any
}

// alloc is a place for a new flow. There is one: as many as slots.
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

// free makes the place of flow at free.
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

// A free place tells the next one where no package but this writes: what is reported of a
// flow that is gone changes other fields of it.

func (f *Flow) nextFree() uint32 { return uint32(f.windows[0]) }

func (f *Flow) setNextFree(at uint32) { f.windows[0] = uint64(at) }

// Len is the number of flows in the table.
func (t *Table) Len() int { return t.slab.used - t.slab.free }
