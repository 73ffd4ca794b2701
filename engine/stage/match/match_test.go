package match_test

import (
	"testing"

	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/fast"
	"intsink/engine/stage/match"
	"intsink/engine/watch"
)

// TestWhatPackageFastHasToKnow: packets lose their INT at once unless they stay on their port or an aside wants to see it;
// what watches ask for is a fact that it finds, or no packet is passed.
func TestWhatPackageFastHasToKnow(t *testing.T) {
	b := bursttest.New(t, bursttest.ByPort())
	s := match.New(b.Detector, 7)
	for _, x := range []struct {
		m    watch.Match
		keep bool
		asks uint8
	}{
		{watch.Match{}, false, 0},
		{watch.Match{VLAN: []watch.PortRange{{First: 5, Last: 5}}}, false, fast.AsksVLAN},
		{watch.Match{DSCP: []uint8{0}}, false, fast.AsksDSCP},
		{watch.Match{VNI: []watch.VNIRange{{First: 9, Last: 9}}}, true, 0},
	} {
		s.Adopt(watch.Compile(&watch.Config{Matches: []*watch.Match{&x.m}}))
		if f := s.Burst(b.Burst, true); f.Keep != x.keep || f.Facts.Asks != x.asks || !f.Strip {
			t.Errorf("%+v: keep %v, asks %b", x.m, f.Keep, f.Facts.Asks)
		}
	}
	s.Adopt(watch.Compile(&watch.Config{}))
	for _, x := range []struct{ tap, aside, strips bool }{{strips: true}, {tap: true}, {aside: true}} {
		if b.Served.Link.Host = b.Host; x.tap {
			b.Served.Link.Host = nil
		}
		b.Come(burst.ToHost, bursttest.WithINT(t, bursttest.Plain(1), nil))
		b.Aside = x.aside
		if s.Do(b.Burst); b.Fast.Strips() != x.strips || b.Fast.Unknown != 1 {
			t.Errorf("%+v: strips %v, unknown %b", x, b.Fast.Strips(), b.Fast.Unknown)
		}
	}
}
