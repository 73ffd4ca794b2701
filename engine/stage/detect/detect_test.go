package detect_test

import (
	"bytes"
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/event"
	"intsink/engine/stage/detect"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// stage is one with watches on a bed.
type stage struct {
	*detect.Stage
	*bursttest.Bed
}

// newStage has a watch for each match, all for these events.
func newStage(t *testing.T, events event.Set, matches ...*watch.Match) *stage {
	s := &stage{Bed: bursttest.New(t, bursttest.ByPort())}
	paths := inspect.NewPaths(7)
	t.Cleanup(paths.Close)
	s.Stage = detect.New(s.Detector, paths, 7)
	s.adopt(events, matches...)
	return s
}

func (s *stage) adopt(events event.Set, matches ...*watch.Match) {
	c := bursttest.ByPort()
	r := detect.Rules{Watches: watch.Compile(&watch.Config{Matches: matches, INT: &c})}
	for range matches {
		r.Events, r.Policies = append(r.Events, events), append(r.Policies, event.Policy{Events: events, Thresholds: event.Thresholds{NewFlowRate: 1000}})
	}
	s.Begin(s.Burst, false)
	s.Adopt(r)
	s.Detector.Adopt(r.Policies, event.CompileModels(nil))
	s.Watched = true
}

// look has frames of the network looked at.
func (s *stage) look(frames ...[]byte) {
	s.Parse(frames...)
	s.Resolve()
	s.Fast.Pass()
	s.Keeps = 0
	s.Do(s.Burst)
}

func of(t *testing.T, n int) []byte { return bursttest.WithINT(t, bursttest.Plain(n), nil) }

var fromOne = &watch.Match{SourcePort: []watch.PortRange{{First: 1, Last: 1}}}

// TestWhatIsReportable: the first packet of a flow, of the first watch that selects it, for the events of that watch. Packets
// that go to the detector keep their INT.
func TestWhatIsReportable(t *testing.T) {
	s := newStage(t, event.NewFlow.Set(), fromOne, &watch.Match{})
	s.look(of(t, 1), bursttest.Plain(9), of(t, 1), of(t, 2))
	if s.Reportable != 0b101 || s.Keeps != 0b111 || s.Cause[0] != burst.CauseOf(event.NewFlow.Set(), 1, false) || s.Cause[2].Watch() != 1 {
		t.Errorf("reportable %b, keep INT %b, cause %x", s.Reportable, s.Keeps, s.Cause[0])
	}
	if s.Served.Counters.INT != [inthdr.NumTypes]uint64{inthdr.MD: 3} || s.Detector.Counters.Fired[event.NewFlow] != 2 {
		t.Errorf("INT %v, fired %v", s.Served.Counters.INT, s.Detector.Counters.Fired)
	}
	s = newStage(t, event.NewFlow.Set(), fromOne)
	if s.look(of(t, 1)); s.Reportable != 0 || s.Fast.Flows[0].Watch != watch.None {
		t.Errorf("reportable %b, watch %d", s.Reportable, s.Fast.Flows[0].Watch)
	}
}

// TestTypesAndFlagsAreCounted, and contents that make no sense, which are an event once per port and second.
func TestTypesAndFlagsAreCounted(t *testing.T) {
	s := newStage(t, event.Malformed.Set(), &watch.Match{})
	mx := bursttest.WithINT(t, bursttest.Plain(1), func(s *intgen.Source, _ []intgen.Hop) { s.Type = intgen.TypeMX })
	crooked, flagged := of(t, 2), of(t, 3)
	crooked[48] ^= 1 // Hop ML does not agree with the bitmap
	flagged[46] |= 6 // E and M
	s.look(mx, crooked, flagged, bytes.Clone(crooked))
	c := s.Served.Counters
	if c.INT != [inthdr.NumTypes]uint64{inthdr.MD: 3, inthdr.MX: 1} || c.Flagged != [burst.NumFlags]uint64{1, 1} || c.Malformed != [inthdr.NumReasons]uint64{inthdr.ReasonHopML: 2} {
		t.Errorf("INT %v, flagged %v, malformed %v", c.INT, c.Flagged, c.Malformed)
	}
	if s.Reportable != 0b10 || s.Cause[1].Set() != event.Malformed.Set() || s.Detector.Counters.Suppressed[event.Malformed][event.SuppressInterval] != 1 {
		t.Errorf("reportable %b for %v, suppressed %v", s.Reportable, s.Cause[1].Set(), s.Detector.Counters.Suppressed[event.Malformed])
	}
}

// TestWatchesAfterAReload: a flow gets its watch again with its next packet, or when it is asked for.
func TestWatchesAfterAReload(t *testing.T) {
	s := newStage(t, event.NewFlow.Set(), &watch.Match{})
	s.look(of(t, 1), of(t, 2))
	one, two := s.Fast.Flows[0], s.Fast.Flows[1]
	s.adopt(event.NewFlow.Set(), fromOne)
	s.look(of(t, 1))
	s.Rematch(one, s.Generation)
	if s.Rematch(two, s.Generation-1); one.Watch != watch.None || one.Generation != s.Generation || two.Watch != 0 {
		t.Errorf("watches %d and %d", one.Watch, two.Watch)
	}
	if s.Rematch(two, s.Generation); two.Watch != watch.None {
		t.Errorf("watch %d", two.Watch)
	}
}

// TestFactsOfPackets: a flow whose packet has another fact belongs to another watch from then on.
func TestFactsOfPackets(t *testing.T) {
	s := newStage(t, event.NewFlow.Set(), &watch.Match{DSCP: []uint8{46}}, &watch.Match{})
	for _, x := range []struct{ dscp, watch uint8 }{{46, 0}, {46, 0}, {0, 1}, {46, 0}} {
		s.look(bursttest.WithINT(t, bursttest.FlowWith(x.dscp, nil).Frame(40, 1), nil))
		if got := s.Fast.Flows[0].Watch; got != x.watch {
			t.Errorf("DSCP %d: watch %d, want %d", x.dscp, got, x.watch)
		}
	}
}
