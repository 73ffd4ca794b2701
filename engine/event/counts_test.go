package event

import (
	"testing"

	"intsink/flows"
)

// TestCountsOfWhatFired: events that enter are counted once each, those that a limit
// withholds too, and a restarted sequence in the flow as in the worker.
func TestCountsOfWhatFired(t *testing.T) {
	p := watching(HopLatency, EndToEnd, LinkLatency, Loss)
	p.Thresholds.Latency = Deadband{Absolute: 10_000, K: 1, N: 1, Interval: second}
	p.Thresholds.EndToEnd, p.Thresholds.LinkLatency = p.Thresholds.Latency, p.Thresholds.Latency
	f := start(t, p)
	defer f.d.Close()
	f.look(0, observe(path(2, 1000)))
	f.look(ms, observe(path(2, 90_000)))
	f.look(ms, observe(path(2, 1000)))
	f.look(ms, linked(1000))
	f.look(ms, linked(90_000))
	for e, want := range map[Event][2]uint64{HopLatency: {2, 1}, LinkLatency: {1, 0}} {
		if c := &f.d.Counters; c.Fired[e] != want[0] || c.Suppressed[e][SuppressInterval] != want[1] {
			t.Errorf("%v entered %d times, %d withheld; want %v", e, c.Fired[e], c.Suppressed[e][SuppressInterval], want)
		}
	}
	for _, n := range []uint64{1, 5000, 5001, 5000, 90, 91, 93, 92} {
		f.look(ms, numberedOne(n))
	}
	l, _ := f.f.Loss()
	if c := &f.d.Counters; l.Restarts != 2 || c.Restarts != 2 || l.Duplicates != 1 || c.Duplicates != 1 || l.Reordered != 1 || c.Reordered != 1 {
		t.Errorf("flow %+v, worker %+v", l, c)
	}
}

// TestLimitsAtEquality: a limit is over when its time is, not a nanosecond later.
func TestLimitsAtEquality(t *testing.T) {
	tx := func(percent uint32) *Observation { return told(with(one(0), func(v *values) { v.tx = percent })) }
	p := watching(TxUtilization)
	p.Thresholds.TxHold = 0
	for _, c := range []struct {
		after int64
		want  bool
	}{{second - 1, false}, {second, true}} {
		f := start(t, p)
		f.look(0, tx(1))
		f.look(ms, tx(95))
		f.look(0, tx(75))
		if got := f.look(c.after, tx(90)).Has(TxUtilization); got != c.want {
			t.Errorf("%d ns after the first report: %v, want %v", c.after, got, c.want)
		}
		f.d.Close()
	}
}

// TestDeadbandAtEquality: differences up to both limits are within the deadband.
func TestDeadbandAtEquality(t *testing.T) {
	for _, c := range []struct {
		name   string
		b      Deadband
		ref, x uint32
		enters bool
	}{
		{"absolute", Deadband{Absolute: 10, K: 1, N: 1}, 100, 110, false},
		{"absolute, below", Deadband{Absolute: 10, K: 1, N: 1}, 100, 90, false},
		{"beyond", Deadband{Absolute: 10, K: 1, N: 1}, 100, 111, true},
		{"beyond, below", Deadband{Absolute: 10, K: 1, N: 1}, 100, 89, true},
		{"relative", Deadband{Relative: 0.5, K: 1, N: 1}, 100, 150, false},
		{"relative, beyond", Deadband{Relative: 0.5, K: 1, N: 1}, 100, 151, true},
		{"neither", Deadband{K: 1, N: 1}, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, enters := c.b.test(c.ref, c.x, 0); enters != c.enters {
				t.Errorf("enters %v", enters)
			}
		})
	}
}

// TestEndOfAFlow: each end counts; the rate of new_flow decides which are reported, of those that are asked for.
func TestEndOfAFlow(t *testing.T) {
	p := defaults(FlowEnd)
	p.Thresholds.NewFlowRate = 1
	d := New([]Policy{p, defaults(NewFlow)}, 42)
	defer d.Close()
	for n, s := range []struct {
		now   int64
		watch uint8
		want  bool
		shed  uint64
	}{
		{second, 1, false, 0}, {second, 0, true, 0}, {second, 0, false, 1}, {2*second - 1, 0, false, 2}, {2*second - 1, 1, false, 2}, {2 * second, 0, true, 2},
	} {
		if got := d.End(s.now, &flows.Flow{Watch: s.watch}); got != s.want || d.Counters.Suppressed[FlowEnd][SuppressRate] != s.shed || d.Counters.Fired[FlowEnd] != uint64(n+1) {
			t.Errorf("end %d: reported %v, %d not; want %v, %d", n, got, d.Counters.Suppressed[FlowEnd][SuppressRate], s.want, s.shed)
		}
	}
}

// TestThresholdsOfNothing: 0 is no threshold, and what no value reaches stays so one below.
func TestThresholdsOfNothing(t *testing.T) {
	for _, c := range []struct{ configured, threshold, below uint32 }{{0, never, never}, {1, 1, 0}, {8000, 8000, 7999}, {never - 1, never - 1, never - 2}} {
		if got := orNever(c.configured); got != c.threshold || below(got) != c.below {
			t.Errorf("%d: threshold %d, below it %d; want %d, %d", c.configured, got, below(got), c.threshold, c.below)
		}
	}
}

// TestLongestEndToEndLatency: one that 32 bits do not hold is the longest that is not unknown.
func TestLongestEndToEndLatency(t *testing.T) {
	d := New([]Policy{watching(EndToEnd)}, 42)
	defer d.Close()
	for _, c := range []struct {
		ns   uint64
		want uint32
	}{{5000, 5000}, {unknown32 - 2, unknown32 - 2}, {unknown32 - 1, unknown32 - 1}, {unknown32, unknown32 - 1}, {1 << 40, unknown32 - 1}} {
		for _, ptp := range []bool{false, true} {
			var f flows.Flow
			p := Policy{Thresholds: Thresholds{PTP: ptp}}
			const now = 1 << 60
			o, sum := told(values{in: now - c.ns}), c.ns
			if ptp {
				sum = 7
			}
			if d.endToEndLatency(now, &f, &p, o, sum, true); !f.EndKnown() || f.EndRef != c.want {
				t.Errorf("PTP %v, %d ns: %d, want %d", ptp, c.ns, f.EndRef, c.want)
			}
		}
	}
}
