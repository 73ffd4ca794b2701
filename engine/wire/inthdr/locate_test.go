package inthdr

import (
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/packet"
)

// TestMarkIsTakenOff: where the shim carries no DSCP, the bits of the mask are cleared, and
// the others stay.
func TestMarkIsTakenOff(t *testing.T) {
	for _, c := range []struct{ value, mask, dscp, carried, want uint8 }{
		{4, 4, 0x25, 0, 0x21}, {4, 4, 4, 0, 0}, {23, 63, 23, 0, 0}, {4, 4, 0x3d, 0, 0x39}, {4, 4, 0x25, 0x0a, 0x0a}, {0x20, 0x30, 0x2f, 0, 0x0f},
	} {
		f := intgen.Flow{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Proto: intgen.TCP, SrcPort: 1, DstPort: 2}
		s := intgen.Source{Marking: intgen.ByDSCP, DSCP: c.value, Mask: c.mask, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
		b, err := s.Insert(f.Frame(20, 1), []intgen.Hop{{NodeID: 1}})
		if err != nil {
			t.Fatal(err)
		}
		b[15] = c.dscp << 2
		b[14+20+20+3] = b[14+20+20+3]&3 | c.carried<<2 // last byte of the shim: DSCP and two bits
		p := NewLocator(Config{Version2: true, DSCP: []DSCP{{Value: c.value, Mask: c.mask}}})
		var l packet.Layers
		var i Info
		if packet.Parse(b, len(b), &l) != packet.OK || p.Find(b, &l, &i, new(Outers)) != Sound || i.DSCP != c.want {
			t.Errorf("%+v: DSCP %#x, reason %v", c, i.DSCP, i.Reason)
		}
	}
}

// TestWhatADSCPBecomes: of several marks each has its own value; what bears a mark without INT loses it, and never
// gets another.
func TestWhatADSCPBecomes(t *testing.T) {
	ten := uint8(10)
	d := dscpsOf([]DSCP{{Value: 23, Mask: 63, Restore: &ten}, {Value: 0x28, Mask: 0x38}, {Value: 8, Mask: 63}, {Value: 0, Mask: 63}})
	for dscp, want := range map[uint8]struct {
		marks              bool
		restored, unmarked uint8
	}{
		23: {true, 10, 10}, 0x28: {true, 0, 1}, 0x2d: {true, 5, 5}, 8: {true, 0, 1}, 0: {true, 0, 1},
		10: {}, 22: {}, 0x30: {},
	} {
		got := want
		if got.marks = d.marks(dscp); got.marks {
			got.restored, got.unmarked = d.restored[dscp], d.unmarked[dscp]
		}
		if got != want {
			t.Errorf("DSCP %d: %v, want %v", dscp, got, want)
		}
	}
}
