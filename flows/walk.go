package flows

// Walk calls f for the flows from bucket at on until budget is used up: a bucket
// costs 1, a flow what f returns. It returns the bucket to go on from, 0 when all
// were seen, and what is left of budget, which the last bucket may make negative.
// f may not change the table.
func (t *Table) Walk(at, budget int, f func(*Flow) int) (next, left int) {
	for ; budget > 0 && at < len(t.buckets); at++ {
		budget--
		bk := &t.buckets[at]
		if bk.tags == [2]uint64{} {
			continue
		}
		for s := range uint64(slots) {
			if bk.tag(s) != 0 {
				budget -= f(&t.flows[uint64(at)*slots+s])
			}
		}
	}
	if at >= len(t.buckets) {
		return 0, budget
	}
	return at, budget
}

// Find is the flow of k, or nil. Unlike LookupBurst it leaves the flow as it is.
func (t *Table) Find(k *Key) *Flow {
	h := t.Hash(k)
	for _, b := range [2]uint64{h & t.mask, t.second(h)} {
		for s := range uint64(slots) {
			if t.buckets[b].tag(s) != tagOf(h) {
				continue
			}
			if f := &t.flows[b*slots+s]; f.Key.equal(k) {
				return f
			}
		}
	}
	return nil
}
