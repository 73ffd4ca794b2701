package engine

import (
	"bytes"
	"slices"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// TestSeveralDSCPsMarkINT: each mark stands for the DSCP of its class; what the shim carries goes before it. It is
// so for the packets that are parsed and for those that have a template.
func TestSeveralDSCPsMarkINT(t *testing.T) {
	zero, ef := uint8(0), uint8(46)
	several := func(r *Rules) {
		r.INT = inthdr.Config{DSCP: []inthdr.DSCP{{Value: 23, Mask: 63, Restore: &zero}, {Value: 29, Mask: 63, Restore: &ef}, {Value: 32, Mask: 63}}, Version2: true}
	}
	for _, c := range []struct{ original, mark, want uint8 }{
		{0, 23, 0}, {0, 29, 46}, {0, 32, 0}, {10, 29, 10}, {10, 23, 10},
	} {
		for name, change := range map[string]func(*intgen.Flow){"IPv4 UDP": nil, "IPv6 TCP": sixTCP} {
			b := newBed(t, several)
			sent := withINT(t, flowWith(c.original, change).Frame(40, 1), func(s *intgen.Source, _ []intgen.Hop) {
				s.Marking, s.DSCP, s.Mask = intgen.ByDSCP, c.mark, 63
			})
			want := flowWith(c.want, change).Frame(40, 1)
			for range 3 {
				b.network.RX = append(b.network.RX, bytes.Clone(sent))
				b.Poll()
			}
			if !slices.EqualFunc(b.host.TX, [][]byte{want, want, want}, bytes.Equal) {
				t.Errorf("%s, %+v: left %x\nwant %x", name, c, b.host.TX, want)
			}
			b.step(2e6)
			if l := b.Snapshot().Links[0]; l.INT[inthdr.MD] != 3 || l.Direction[burst.ToHost].Forwarded != 3 {
				t.Errorf("%s, %+v: %+v", name, c, l)
			}
		}
	}
}
