package strip_test

import (
	"bytes"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/stage/strip"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// stripped is a burst of frames behind the stage.
func stripped(t *testing.T, dropMalformed bool, frames ...[]byte) *bursttest.Bed {
	t.Helper()
	b := bursttest.New(t, bursttest.InTunnels())
	b.Served.DropMalformed = dropMalformed
	b.Parse(frames...)
	strip.New().Do(b.Burst)
	return b
}

// TestINTGoes out of both layers of tunnels, and from nowhere else.
func TestINTGoes(t *testing.T) {
	b := stripped(t, false, bursttest.Plain(2), bursttest.WithINT(t, bursttest.Plain(1), nil), bursttest.Plain(3))
	b.Expect(bursttest.Plain(2), bursttest.Plain(1), bursttest.Plain(3))
	for _, n := range bursttest.Nestings() {
		original, marked := n.Frames(t, nil)
		stripped(t, false, marked, marked).Expect(original, original)
	}
}

// TestDiscard: a packet with the D flag goes, be it in the inner layer.
func TestDiscard(t *testing.T) {
	b := stripped(t, false, bursttest.WithINT(t, bursttest.Plain(1), bursttest.Discarded), bursttest.Plain(2))
	b.Expect(bursttest.Plain(2))
	b.ExpectDropped(burst.DropDiscard, 1)
	for _, n := range bursttest.Nestings() {
		_, marked := n.Frames(t, bursttest.Discarded)
		b := stripped(t, false, marked)
		b.Expect()
		b.ExpectDropped(burst.DropDiscard, 1)
	}
}

// TestUnsoundInside: unsound INT inside stays where it is, or drops the packet.
func TestUnsoundInside(t *testing.T) {
	for _, n := range bursttest.Nestings() {
		for _, drop := range []bool{false, true} {
			_, marked := n.Frames(t, nil)
			marked[bytes.LastIndex(marked, []byte{0x20, 0, 5, 5})] = 0x70 // the inner MD header: version 7
			b := stripped(t, drop, marked)
			if left := b.Left(); drop && len(left) != 0 || !drop && (len(left) != 1 || len(left[0]) >= len(marked) || !bytes.Contains(left[0], []byte{0x70, 0, 5, 5})) {
				t.Errorf("%s, drop %v: left %x", n.Name, drop, left)
			}
			if got := b.AllLeft(); b.Served.Counters.Malformed[inthdr.ReasonVersion] != 1 || len(got) != 1 || got[0].Dropped != drop {
				t.Errorf("%s, drop %v: malformed %v, left to report %+v", n.Name, drop, b.Served.Counters.Malformed, got)
			}
		}
	}
}

// TestMoreTunnelsThanAreLookedInto: INT is taken out of as many as the sink looks into; what is left is told, and dropped
// where malformed = "drop".
func TestMoreTunnelsThanAreLookedInto(t *testing.T) {
	f := bursttest.Plain(1)
	for tunnels := 1; tunnels <= 6; tunnels++ {
		f = bursttest.WithINT(t, f, bursttest.Like(bursttest.GRESource()))
		for _, drop := range []bool{false, true} {
			b := stripped(t, drop, f)
			deep := tunnels > inthdr.MaxDepth+1
			if told := b.Served.Counters.Malformed[inthdr.ReasonTooDeep] == 1; told != deep || len(b.Left()) == 1 == (deep && drop) {
				t.Errorf("%d tunnels, drop %v: too deep is %v, left %x", tunnels, drop, told, b.Left())
			}
			if !deep {
				b.Expect(bursttest.Plain(1))
			}
		}
	}
}

// congested is a packet that cannot bear the mark that a queue put on the tunnel that its source made for INT.
func congested(t *testing.T) []byte {
	f := bursttest.WithINT(t, bursttest.Plain(1), bursttest.Like(bursttest.GRESource()))
	bursttest.SetECN(f, 14, 3)
	return f
}

// TestCongestedIsDropped (RFC 6040, section 4.2): a mark of the inner of two tunnels that go is lost like one of the outer.
func TestCongestedIsDropped(t *testing.T) {
	for _, f := range [][]byte{congested(t), bursttest.WithINT(t, congested(t), bursttest.Like(bursttest.GRESource()))} {
		b := stripped(t, false, f)
		b.Expect()
		b.ExpectDropped(burst.DropCongested, 1)
		if got := b.AllLeft(); len(got) != 1 || got[0].Why != burst.DropCongested || got[0].Event != burst.NoEvent {
			t.Errorf("left to report %+v", got)
		}
	}
}

// TestUnwatched counts types, flags and senseless contents of INT, and takes it out: but of packets of a tap, which keep it.
func TestUnwatched(t *testing.T) {
	original := bursttest.Plain(1)
	original[40], original[41] = 0, 0 // no checksum
	sound := bursttest.WithINT(t, original, nil)
	flagged, crooked := bytes.Clone(sound), bytes.Clone(sound)
	flagged[46] |= 6 // E and M
	crooked[48] ^= 1 // Hop ML does not agree with the bitmap
	mx := bursttest.WithINT(t, original, func(s *intgen.Source, _ []intgen.Hop) { s.Type = intgen.TypeMX })
	for _, tap := range []bool{false, true} {
		b := bursttest.New(t, bursttest.ByPort())
		sent := [][]byte{sound, flagged, mx, crooked, bursttest.Plain(2), bursttest.WithINT(t, bursttest.Plain(3), bursttest.Discarded)}
		want := [][]byte{original, original, original, original, bursttest.Plain(2)}
		if tap {
			b.Served.Link.Host, want = nil, sent
		}
		b.Parse(sent...)
		strip.New().Unwatched(b.Burst)
		b.Expect(want...)
		c := b.Served.Counters
		if c.INT != [inthdr.NumTypes]uint64{inthdr.MD: 4, inthdr.MX: 1} || c.Flagged != [burst.NumFlags]uint64{1, 1} || c.Malformed != [inthdr.NumReasons]uint64{inthdr.ReasonHopML: 1} {
			t.Errorf("tap %v: INT %v, flagged %v, malformed %v", tap, c.INT, c.Flagged, c.Malformed)
		}
	}
}
