package flows

// LookupBurst finds or makes the flow of every key: out[j] for keys[j], whose
// Hash is hashes[j]. Bit j of fresh tells that out[j] was made now. All flows
// stay valid until the next call; none is evicted by a later key of the same
// call. out[j] is nil where that would be needed. At most 64 keys.
func (t *Table) LookupBurst(now int64, keys []Key, hashes []uint64, out []*Flow) (fresh uint64) {
	hashes, out = hashes[:len(keys)], out[:len(keys)]
	// Each pass only loads what the next one needs, for all keys: the cache
	// misses of a pass overlap, where one key after the other would wait for each.
	// Each is a function, so that its few values stay in registers.
	t.touchBuckets(hashes)
	t.candidates(Tick(now), hashes, out)
	touchFlows(out)
	for j := range keys {
		if f := out[j]; f != nil && f.Key.equal(&keys[j]) {
			f.seen = now
			continue
		}
		t.unsee(hashes[j], out[j])
		out[j], fresh = t.findOrInsert(now, hashes[j], &keys[j], out[:j], fresh)
	}
	return fresh
}

//go:noinline
func (t *Table) touchBuckets(hashes []uint64) {
	sum, buckets := uint64(0), t.buckets
	for _, h := range hashes {
		sum += buckets[h&t.mask].tags[0]
	}
	t.touched = sum
}

// touchFlows loads the first two lines of each flow.
//
//go:noinline
func touchFlows(out []*Flow) (sum uint64) {
	for _, f := range out {
		if f != nil {
			sum += f.Key.rest + f.PathHash
		}
	}
	return sum
}

// candidates finds, for each hash, the flow in the first bucket that has its tag,
// most likely the right one; nil where there is none. It is marked as seen before
// that is known: unsee takes it back.
//
//go:noinline
func (t *Table) candidates(tick uint32, hashes []uint64, out []*Flow) {
	out = out[:len(hashes)]
	mask, buckets, flows, second := t.mask, t.buckets, t.flows, uint64(0)
	for j, h := range hashes {
		b := h & mask
		bk, tag := &buckets[b], tagOf(h)
		m, s := matches(bk.tags[0], tag), uint64(0)
		if m == 0 {
			if m = matches(bk.tags[1], tag); m == 0 {
				out[j] = nil
				second += buckets[t.other(b, tag)].tags[0] // looked at next
				continue
			}
			s = 4
		}
		s += slot(m)
		bk.seen[s&(slots-1)] = tick
		out[j] = &flows[b*slots+s]
	}
	t.touched += second
}

// unsee takes back that f, a candidate for hash h, was marked as seen: it is another
// flow.
//
//go:noinline
func (t *Table) unsee(h uint64, f *Flow) {
	if f == nil {
		return
	}
	b := h & t.mask
	for s := range uint64(slots) {
		if &t.flows[b*slots+s] == f {
			t.buckets[b].seen[s] = Tick(f.seen)
		}
	}
}

// findOrInsert looks at every place where the flow may be.
//
//go:noinline
func (t *Table) findOrInsert(now int64, h uint64, k *Key, held []*Flow, fresh uint64) (*Flow, uint64) {
	if f := t.findIn(now, h&t.mask, tagOf(h), k); f != nil {
		return f, fresh
	}
	if f := t.findIn(now, t.second(h), tagOf(h), k); f != nil {
		return f, fresh
	}
	f := t.insert(now, h, k, held)
	if f != nil {
		fresh |= 1 << len(held)
	}
	return f, fresh
}

// second is the other bucket of a hash.
func (t *Table) second(h uint64) uint64 { return t.other(h&t.mask, tagOf(h)) }

func (t *Table) findIn(now int64, b uint64, tag uint16, k *Key) *Flow {
	bk := &t.buckets[b]
	for w := range uint64(len(bk.tags)) {
		for m := matches(bk.tags[w], tag); m != 0; m &= m - 1 {
			s := w*4 + slot(m)
			if f := &t.flows[b*slots+s]; bk.tag(s) == tag && f.Key.equal(k) {
				bk.seen[s] = Tick(now)
				f.seen = now
				return f
			}
		}
	}
	return nil
}
