package decode

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"

	"intsink/engine/report/decode"
)

// streamKey names one sequence of report packets: the number runs per node,
// hw_id and collector. The source port is left out, since it may carry entropy.
type streamKey struct {
	source  netip.Addr
	to      netip.AddrPort
	version float64
	node    uint32
	hwID    uint8
}

// gap is a range of missing sequence numbers, both ends included; it may wrap.
type gap struct{ first, last uint32 }

// maxGaps bounds what is kept of each stream; more gaps are only counted.
const maxGaps = 1024

// stream is the state of one sequence.
type stream struct {
	mask          uint32
	next          uint32 // the number that should come
	packets, lost int
	late          int // behind next: reordered or repeated
	gaps          []gap
}

type streams map[streamKey]*stream

// see takes note of one packet's sequence number.
func (s streams) see(g datagram, h *decode.Header) {
	k := streamKey{g.from.Addr(), g.to, h.Version, 0, h.HwID}
	if h.NodeID != nil && h.Version >= 1 { // 0.5 has it in some reports only
		k.node = *h.NodeID
	}
	st := s[k]
	if st == nil {
		st = &stream{mask: uint32(1)<<h.SequenceBits() - 1, next: h.SequenceNumber}
		s[k] = st
	}
	st.see(h.SequenceNumber)
}

func (s *stream) see(n uint32) {
	s.packets++
	ahead := (n - s.next) & s.mask
	if ahead > s.mask/2 {
		s.late++
		s.fill(n)
		return
	}
	if ahead > 0 {
		s.lost += int(ahead)
		if len(s.gaps) < maxGaps {
			s.gaps = append(s.gaps, gap{s.next, (n - 1) & s.mask})
		}
	}
	s.next = (n + 1) & s.mask
}

// fill takes a number that came late out of its gap.
func (s *stream) fill(n uint32) {
	for i, g := range s.gaps {
		at, size := (n-g.first)&s.mask, (g.last-g.first)&s.mask
		if at > size {
			continue
		}
		s.lost--
		var rest []gap
		if at > 0 {
			rest = append(rest, gap{g.first, (n - 1) & s.mask})
		}
		if at < size {
			rest = append(rest, gap{(n + 1) & s.mask, g.last})
		}
		s.gaps = slices.Replace(s.gaps, i, i+1, rest...)
		return
	}
}

func (s streams) totals() (lost, late int) {
	for _, st := range s {
		lost += st.lost
		late += st.late
	}
	return lost, late
}

// print names the gaps of every stream that has any.
func (s streams) print(w io.Writer) {
	const shown = 10
	keys := slices.SortedFunc(maps.Keys(s), func(a, b streamKey) int {
		return cmp.Or(a.source.Compare(b.source), a.to.Compare(b.to), cmp.Compare(a.version, b.version),
			cmp.Compare(a.node, b.node), cmp.Compare(a.hwID, b.hwID))
	})
	for _, k := range keys {
		st := s[k]
		if st.lost == 0 {
			continue
		}
		fmt.Fprintf(w, "node %d hw_id %d from %s to %s: %d lost:", k.node, k.hwID, k.source, k.to, st.lost)
		for i, g := range st.gaps {
			if i == shown {
				fmt.Fprint(w, " ...")
				break
			}
			if g.first == g.last {
				fmt.Fprintf(w, " %d", g.first)
			} else {
				fmt.Fprintf(w, " %d-%d", g.first, g.last)
			}
		}
		fmt.Fprintln(w)
	}
}
