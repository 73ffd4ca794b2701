// Runs: packets of a burst that are reported alike are gathered and reported together.

package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
)

// gather makes the first packet of left, and those after it that are reported alike, the
// run, and returns the others. The run is empty where the fragment of the first packet
// goes beyond its first buffer.
func (w *Worker) gather(b *burst, left uint64) (rest uint64) {
	r, j := &w.scratch.run, bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)
	first := b.header(uint8(j))
	r.Begin(b.events[j], first, &b.fast.Hashes)
	alike := shared{set: b.events[j], watch: b.watch[j], domain: first.DomainID}
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		i := b.fast.At[j] & (mbuf.MaxBurst - 1)
		t, from, to := w.fragmentOf(b, uint8(j))
		f := b.vec[i].Bytes()
		if r.Len() > 0 && t != r.InType() || to > len(f) || !alike.has(b, j, b.header(uint8(j))) {
			break
		}
		r.Add(t, j, f[from:to:to])
	}
	return left
}

// shared is what the packets of a run have in common.
type shared struct {
	set    event.Set
	watch  uint8
	domain uint16
}

// has reports whether INT packet j of b, with that INT, belongs to the run.
func (s shared) has(b *burst, j int, info *inthdr.Info) bool {
	j &= mbuf.MaxBurst - 1
	return info.Type == inthdr.MD && info.DomainID == s.domain && b.watch[j] == s.watch && b.events[j] == s.set
}
