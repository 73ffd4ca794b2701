package report_test

import (
	"bytes"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/aside/inspect"
	"intsink/engine/aside/recorder"
	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/enginetest"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/stage/report"
	"intsink/engine/watch"
)

// stage is one with a watch for all packets and a collector, on a bed.
type stage struct {
	*report.Stage
	*bursttest.Bed
	reports *mbuf.Arena
	ring    *ring.Ring
	count   reporting.Counters
}

// newStage shows so many bytes of packets with these events.
func newStage(t *testing.T, fragment int, events event.Set) *stage {
	pool, err := mbuf.NewArena(64, 9400)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Bed: bursttest.New(t, bursttest.ByPort()), reports: pool, ring: ring.New(64)}
	s.count.Collectors = make([]reporting.CollectorCounters, 1)
	rules, paths := &reporting.Rules{Fragment: fragment, MaxReports: 1}, inspect.NewPaths(7)
	r := reporting.New(&reporting.Config{Outlets: []reporting.Outlet{{Ring: s.ring}}, Pool: pool, Counters: &s.count}, rules, []reporting.Collector{{MaxPayload: 9000 - 42}})
	s.Stage = report.New(report.Config{
		Reporter: r, Detector: s.Detector, Table: s.Table, Paths: paths, Feed: new(inspect.Feed), Recorder: recorder.New(0, s.Now, s.Detector, new(recorder.Counters)), Clock: func() int64 { return s.Now }, Links: 1,
	})
	all := &watch.Match{}
	s.Adopt(report.Rules{
		Report: rules, Watches: watch.Compile(&watch.Config{Matches: []*watch.Match{all}}), DropInterval: 1e9,
		Policies: []report.Policy{{Match: all, Events: events, Collectors: 1}},
	})
	s.Detector.Adopt([]event.Policy{{Events: events, Thresholds: event.Thresholds{DropInterval: 1e9}}}, event.CompileModels(nil))
	s.Watched = true
	t.Cleanup(func() {
		r.Close(s.Now)
		if s.sealed(); pool.InUse() != 0 {
			t.Errorf("%d mbufs of reports did not come home", pool.InUse())
		}
		paths.Close()
		pool.Close()
	})
	return s
}

func (s *stage) sealed() [][]byte { return enginetest.Sealed(s.ring, s.reports) }

// expect compares what is sealed: a report of each frame, which shows so many of its bytes, from one on.
func (s *stage) expect(t *testing.T, from, n int, frames ...[]byte) {
	t.Helper()
	got := s.sealed()
	if len(got) != len(frames) {
		t.Fatalf("%d reports, want %d", len(got), len(frames))
	}
	for i, f := range frames {
		if !bytes.Contains(got[i], f[from:from+n]) || from+n < len(f) && bytes.Contains(got[i], f[from:from+n+1]) {
			t.Errorf("report %d is\n%x\nand does not show %d bytes of\n%x", i, got[i], n, f)
		}
	}
}

// chain makes the packet at hand one of several buffers of these sizes, the last one of all that is left.
func (s *stage) chain(t *testing.T, frame []byte, sizes ...int) {
	v := mbuf.NewVec()
	if !s.Pool.AllocBulk(v, len(sizes)) {
		t.Fatal("no mbufs")
	}
	for i, n := range sizes {
		copy(v[i].SetLen(min(n, len(frame))), frame)
		if frame = frame[min(n, len(frame)):]; i > 0 {
			v[0].Chain(v[i])
		}
	}
	s.Vec[0], s.N = v[0], 1
}

// TestDropsOfNoFlow: the first is reported, then one per interval, for each reason, if a watch has the event; a leak that is
// dropped is one report.
func TestDropsOfNoFlow(t *testing.T) {
	s := newStage(t, 36, event.Drop.Set()|event.Leak.Set())
	drop := func(d burst.Direction, why burst.DropReason, e event.Event, n int) {
		s.Come(d, bursttest.Plain(n))
		s.DropPacket(0, why)
		s.Leave(burst.Left{Frame: s.Vec[0], Event: e, Dropped: true, Why: why})
		if s.Stage.Left(s.Burst); s.HasLeft() {
			t.Error("something is untold")
		}
	}
	drop(burst.ToHost, burst.DropTxFull, burst.NoEvent, 1)
	drop(burst.ToHost, burst.DropTxFull, burst.NoEvent, 2)
	drop(burst.ToHost, burst.DropMalformed, burst.NoEvent, 3)
	drop(burst.ToNetwork, burst.DropLeak, event.Leak, 4)
	s.expect(t, 0, 32, bursttest.Plain(1), bursttest.Plain(3), bursttest.Plain(4))
	s.Now += 1e9
	drop(burst.ToHost, burst.DropTxFull, burst.NoEvent, 5)
	s.expect(t, 0, 32, bursttest.Plain(5))
	c := s.Detector.Counters
	if s.count.Reported[event.Drop] != 4 || s.count.Reported[event.Leak] != 1 || c.Fired[event.Drop] != 5 || c.Suppressed[event.Drop][event.SuppressInterval] != 1 {
		t.Errorf("reported %v, fired %v, suppressed %v", s.count.Reported, c.Fired, c.Suppressed[event.Drop])
	}
	s = newStage(t, 36, event.NewFlow.Set())
	if drop(burst.ToHost, burst.DropTxFull, burst.NoEvent, 1); len(s.sealed()) != 0 || s.Detector.Counters.Fired[event.Drop] != 1 {
		t.Error("reported though no watch has the event")
	}
}

// TestFramesOfChains: a report of a packet that belongs to no flow shows all bytes that it may, wherever buffers end.
func TestFramesOfChains(t *testing.T) {
	f := bursttest.FlowWith(0, nil).Frame(7900, 1)
	s := newStage(t, 7000, event.Malformed.Set())
	s.Come(burst.ToHost)
	s.chain(t, f, 100, 2048, 2048, 2048, 2048)
	s.Leave(burst.Left{Frame: s.Vec[0], Event: event.Malformed})
	s.Stage.Left(s.Burst)
	s.expect(t, 0, 6996, f)
}

// TestPacketsWithEvents are reported one by one, from their IP header on, with INT.
func TestPacketsWithEvents(t *testing.T) {
	s := newStage(t, 60, event.NewFlow.Set())
	one, two := bursttest.WithINT(t, bursttest.Plain(1), nil), bursttest.WithINT(t, bursttest.Plain(2), nil)
	s.Parse(one, bursttest.Plain(9), two)
	s.Resolve()
	for j := range 2 {
		s.Fast.Flows[j].Watch, s.Cause[j] = 0, burst.CauseOf(event.NewFlow.Set(), 0, false)
	}
	s.Reportable = 0b10
	s.Do(s.Burst)
	s.expect(t, 14, 60, two)
	s.Reportable = 0b11
	s.Do(s.Burst)
	s.expect(t, 14, 60, one, two)
	if s.count.Reported[event.NewFlow] != 3 || s.count.Collectors[0].Cut != 3 { // 60 bytes end within INT
		t.Errorf("reported %v, %d cut", s.count.Reported, s.count.Collectors[0].Cut)
	}
}
