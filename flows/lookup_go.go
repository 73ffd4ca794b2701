package flows

// candidatesGo finds, for each hash, the flow in the first bucket that has its tag,
// most likely the right one; nil where there is none. It is marked as seen before
// that is known: unsee takes it back.
func candidatesGo(t *Table, tick uint32, hashes []uint64, out []*Flow) {
	out = out[:len(hashes)]
	for j, h := range hashes {
		b := h & t.mask
		bk, tag := &t.buckets[b], tagOf(h)
		m, s := matches(bk.tags[0], tag), uint64(0)
		if m == 0 {
			if m = matches(bk.tags[1], tag); m == 0 {
				out[j] = nil
				continue
			}
			s = 4
		}
		s += slot(m)
		bk.seen[s&(slots-1)] = tick
		out[j] = &t.flows[b*slots+s]
	}
}

// firstsGo finds, for each hash, the first flow of its bucket, in a sparse table most
// likely the right one. No packet has the key of a flow that is gone.
func firstsGo(t *Table, hashes []uint64, out []*Flow) {
	out = out[:len(hashes)]
	for j, h := range hashes {
		out[j] = &t.flows[h&t.mask*slots]
	}
}

// confirmGo marks out[from:] as seen as long as they have the keys that are looked for,
// and returns the place of the first that has not.
func confirmGo(now int64, keys []Key, out []*Flow, from int) (next int) {
	out = out[:len(keys)]
	for j := from; j < len(keys); j++ {
		f := out[j]
		if f == nil || !f.Key.equal(&keys[j]) {
			return j
		}
		f.seen = now
	}
	return len(keys)
}
