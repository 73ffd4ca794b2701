// Walk and Find: all flows slice by slice, and one by its key, for the API.

package flows

// Walk calls f for the flows from place at on until budget is used up: a place
// costs 1, a flow what f returns. It returns the place to go on from, 0 when all
// were seen, and what is left of budget, which the last flow may make negative.
// f may not change the table.
func (t *Table) Walk(at, budget int, f func(*Flow) int) (next, left int) {
	for ; budget > 0 && at < t.slab.used; at++ {
		budget--
		if flow := &t.flows[at]; !flow.Key.removed() {
			budget -= f(flow)
		}
	}
	if at >= t.slab.used {
		return 0, budget
	}
	return at, budget
}

// Find returns the flow of k, or nil. Unlike LookupBurst it does not mark the flow as seen.
func (t *Table) Find(k *Key) *Flow {
	h := t.Hash(k)
	for _, b := range t.candidates(h) {
		if f := t.findIn(b, tagOf(h), k); f != nil {
			return f
		}
	}
	return nil
}

// findIn is the flow of k in bucket b, or nil.
func (t *Table) findIn(b uint64, tag uint16, k *Key) *Flow {
	bk := &t.buckets[b]
	for w := range uint64(len(bk.tags)) {
		for m := matches(bk.tags[w], tag); m != 0; m &= m - 1 {
			s := w*4 + slot(m)
			if f := &t.flows[bk.flows[s&(slots-1)]]; bk.tag(s) == tag && f.Key.equal(k) {
				return f
			}
		}
	}
	return nil
}
