// Effort: bursts that are left to the parser while their packets are of more shapes than are
// known.

package fast

import (
	"math/bits"

	"intsink/dpdk/mbuf"
)

// A packet of an unknown shape is first compared with the known shapes and then parsed: that
// costs a quarter more than parsing alone, for packets without INT half more. So after bursts
// that were matched in vain only one burst of probeEvery is matched.
const (
	// worthOfINT is how many comparisons in vain are saved by one packet with INT that has a
	// template, some 250 instructions each; a packet without INT saves one.
	worthOfINT = 4
	// vainEnough is how many packets of bursts that were matched in vain it takes.
	vainEnough = 4 * mbuf.MaxBurst
	probeEvery = 8
)

// effort is what came of matching the last bursts.
type effort struct {
	vain    int  // packets of bursts that were matched in vain, since one was not
	until   int  // with how many bursts one is matched again; 0: all are
	skipped bool // the burst at hand is left to the parser
	probing bool // a burst was matched after some that were not, and none of its packets has made a template
}

// skip tells whether the burst at hand is left to the parser, while until is not zero.
func (e *effort) skip() bool {
	e.until--
	e.skipped, e.probing = e.until > 0, e.until == 0
	return e.skipped
}

// weigh takes the result of matching a burst of n packets into account: ints of them have INT or
// no template, and the bits of unknown are those without a template.
func (e *effort) weigh(n, ints int, unknown uint64) {
	lost := bits.OnesCount64(unknown)
	if worthOfINT*(ints-lost)+n-ints >= lost {
		e.vain = 0
		return
	}
	if e.vain += n; e.vain >= vainEnough {
		e.vain, e.until = vainEnough, probeEvery
	}
}

// allUnknown makes all packets of the burst unknown: the parser takes them.
func (s *State) allUnknown() {
	for i := range s.n {
		s.At[i], s.Template[i] = uint8(i), None
	}
	s.ints, s.Unknown = s.n, 1<<s.n-1
}
