package flows

// prefetchGo touches every bucket. A load has to wait for its cache miss at last, which
// its twin need not.
func prefetchGo(t *Table, hashes []uint64) {
	for _, h := range hashes {
		t.Touch(h)
	}
}

// findByTagGo finds, for each hash, the flow in the first bucket that has its tag,
// most likely the right one; any flow where there is none.
func findByTagGo(t *Table, hashes []uint64, out []*Flow) {
	out = out[:len(hashes)]
	for j, h := range hashes {
		bk, tag := &t.buckets[t.primary(h)], tagOf(h)
		m, s := matches(bk.tags[0], tag), uint64(0)
		if m == 0 {
			if m = matches(bk.tags[1], tag); m == 0 {
				out[j] = &t.flows[0]
				continue
			}
			s = 4
		}
		out[j] = &t.flows[bk.flows[(s+slot(m))&(slots-1)]]
	}
	touchFlows(out)
}

// touchFlows loads the first two lines of each flow, so that their cache misses overlap.
//
//go:noinline
func touchFlows(out []*Flow) (sum uint64) {
	for _, f := range out {
		sum += f.Key.portsProto + uint64(f.seen)
	}
	return sum
}

// confirmGo marks out[from:] as seen as long as they have the keys that are looked for,
// and returns the place of the first that has not.
func confirmGo(now int64, keys []Key, out []*Flow, from int) (next int) {
	out = out[:len(keys)]
	for j := from; j < len(keys); j++ {
		f := out[j]
		if !f.Key.equal(&keys[j]) {
			return j
		}
		f.seen = now
	}
	return len(keys)
}
