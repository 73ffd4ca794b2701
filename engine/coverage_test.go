package engine

import (
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// TestRoutersWithoutINT (INT 2.1, section 5.1): the TTL that the source wrote, less that of the packet, are the routers on
// the way; those beyond the hops in the stack wrote no INT. What cannot be compared tells nothing.
func TestRoutersWithoutINT(t *testing.T) {
	for _, c := range []struct {
		name    string
		version int
		more    int // the source's TTL less the packet's
		change  func(*intgen.Source)
		told    bool
		without int
	}{
		{"all of them write", 4, 3, nil, true, 0},
		{"two do not", 4, 5, nil, true, 2},
		{"IPv6", 6, 5, nil, true, 2},
		{"bridges with INT", 4, 1, nil, true, 0},
		{"a TTL that has grown", 4, -1, nil, false, 0},
		{"no TTL", 4, 1 << 10, nil, false, 0},
		{"a node had no room", 4, 5, func(s *intgen.Source) { s.HopExceeded = true }, false, 0},
		{"another instruction alone", 4, 5, func(s *intgen.Source) { s.DSInstruction, s.SourceOnly = 0x4000, s.SourceOnly[:4] }, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, func(r *Rules) {
				d := inthdr.Domain{ID: 7}
				d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = 4, true, inthdr.TTL
				d.Bits[1].Length, d.Bits[1].SourceOnly = 4, true
				r.INT.Domains = []inthdr.Domain{d}
			})
			frame := intgen.NthFlow(1, false, c.version == 6).Frame(100, 0)
			ttl := int(frame[14+8])
			if c.version == 6 {
				ttl = int(frame[14+7])
			}
			n := ttl + c.more
			packet := withINT(t, frame, func(s *intgen.Source, _ []intgen.Hop) {
				s.DomainID, s.DSInstruction, s.SourceOnly = 7, 0xc000, []byte{0, 0, byte(n >> 8), byte(n), 0xde, 0xad, 0xbe, 0xef}
				if c.change != nil {
					c.change(s)
				}
			})
			b.send(packet, packet, packet)
			ways := b.answer(inspect.New(inspect.Ways, 0)).Ways
			if len(ways) != 1 {
				t.Fatalf("%d paths, want 1", len(ways))
			}
			without, told := ways[0].Value.WithoutINT()
			if told != c.told || told && (without != c.without || int(ways[0].Value.IPHops) != c.more) {
				t.Errorf("told %v, %d of %d without INT; want %v, %d of %d", told, without, ways[0].Value.IPHops, c.told, c.without, c.more)
			}
			want := [2]uint64{uint64(c.without), uint64(c.more - c.without)}
			if !c.told {
				want = [2]uint64{}
			}
			if got := b.Snapshot().Detector.IPHops; got != want {
				t.Errorf("counted without and with INT: %v, want %v", got, want)
			}
			b.balance()
		})
	}
}
