package event

import (
	"fmt"
	"testing"

	"intsink/flows"
)

// Every threshold that is a time, at its documented maximum (docs/configuration.md), from
// wherever the clock is, and past every wrap of it.

const (
	day     = 24 * 3600 * second
	longest = day // of the attributes below
)

// wraps are times just before something of the clock wraps: microseconds and nanoseconds of
// 32 bits, units of NextRefresh, ticks.
var wraps = []int64{second, 1<<32*1000 - second, 1<<32 - ms, 1<<49 - second, 1<<50 - day/2, 1<<51 - ms, 1<<52 - second, 1<<52 - day/2, 1<<60 + 7}

// later are times after a first event, and whether it fires again where limit is the longest.
var later = []struct {
	after int64
	again bool
}{
	{ms, false}, {second, false}, {4295 * second, false}, {4296 * second, false}, {2*4295*second + ms, false}, {day / 2, false}, {longest - 3*ms, false},
	{longest + 3*ms, true}, {longest + 4295*second, true}, {1<<49 + ms, true}, {1<<50 + ms, true}, {1<<51 + ms, true}, {1<<52 + ms, true}, {1<<52 + day/2, true}, {3 << 52, true},
}

// atMaximum are attributes that keep an event from firing again. play makes it fire once,
// returns what makes it fire for the second time, and tells the flow's events.
var atMaximum = []struct {
	name  string
	event Event
	set   func(*Thresholds)
	again func(f *feed, after int64) Set // after the first time, which start made fire
	start func(f *feed)
}{
	{"hop_latency interval", HopLatency, func(t *Thresholds) { t.Latency = Deadband{Absolute: 10_000, K: 1, N: 1, Interval: longest} },
		func(f *feed, after int64) Set { return f.look(after, observe(path(2, 20_000))) },
		func(f *feed) { f.look(0, observe(path(2, 20_000))); f.look(ms, observe(path(2, 90_000))) }},
	{"end_to_end interval", EndToEnd, func(t *Thresholds) { t.EndToEnd = Deadband{Absolute: 10_000, K: 1, N: 1, Interval: longest} },
		func(f *feed, after int64) Set { return f.look(after, observe(path(2, 20_000))) },
		func(f *feed) { f.look(0, observe(path(2, 20_000))); f.look(ms, observe(path(2, 90_000))) }},
	{"link_latency interval", LinkLatency, func(t *Thresholds) { t.LinkLatency = Deadband{Absolute: 10_000, K: 1, N: 1, Interval: longest} },
		func(f *feed, after int64) Set { return f.look(after, linked(5_000)) },
		func(f *feed) { f.look(0, linked(5_000)); f.look(ms, linked(5_000)); f.look(ms, linked(90_000)) }},
	{"congestion timeout", Congestion, func(t *Thresholds) { t.CongestionTimeout, t.CongestionQuota = longest, 1 },
		func(f *feed, after int64) Set { return f.look(after, told(one(9000))) },
		func(f *feed) { f.look(0, told(one(0))); f.look(ms, told(one(9000))) }},
	{"tx_utilization hold", TxUtilization, func(t *Thresholds) { t.TxHold = longest },
		func(f *feed, after int64) Set {
			f.look(after, told(with(one(0), func(v *values) { v.tx = 10 })))
			return f.look(0, told(with(one(0), func(v *values) { v.tx = 95 })))
		},
		func(f *feed) {
			f.look(0, told(with(one(0), func(v *values) { v.tx = 10 })))
			f.look(ms, told(with(one(0), func(v *values) { v.tx = 95 })))
			f.look(0, told(with(one(0), func(v *values) { v.tx = 10 })))
		}},
	{"hop_limit rearm", HopLimit, func(t *Thresholds) { t.HopLimitRearm = longest },
		func(f *feed, after int64) Set { return f.look(after, flagged(true, false)) },
		func(f *feed) { f.look(0, observe(path(2, 0))); f.look(ms, flagged(true, false)) }},
	{"mtu_exceeded rearm", MTUExceeded, func(t *Thresholds) { t.MTURearm = longest },
		func(f *feed, after int64) Set { return f.look(after, flagged(false, true)) },
		func(f *feed) { f.look(0, observe(path(2, 0))); f.look(ms, flagged(false, true)) }},
	{"drop interval", Drop, func(t *Thresholds) { t.DropInterval = longest },
		func(f *feed, after int64) Set { f.now += after; set, _ := f.d.Dropped(f.now, &f.f, 1); return set },
		func(f *feed) { f.look(0, observe(path(2, 0))); f.d.Dropped(f.now, &f.f, 1) }},
	{"refresh every", Refresh, func(t *Thresholds) { t.RefreshEvery, t.RefreshJitter = longest, 0 },
		func(f *feed, after int64) Set {
			if after > 6*day {
				return Refresh.Set() // a flow is idle for a day at most
			}
			return f.look(after, observe(path(2, 0)))
		},
		func(f *feed) { f.look(0, observe(path(2, 0))) }},
	{"path_change memory", PathChange, func(t *Thresholds) { t.PathMemory = longest },
		func(f *feed, after int64) Set { return f.look(after, observe(path(2, 0))) },
		func(f *feed) { f.look(0, observe(path(2, 0))); f.look(ms, observe(path(3, 0))) }},
	{"loss interval", Loss, func(t *Thresholds) { t.LossInterval, t.LossTimeout = longest, 0 },
		func(f *feed, after int64) Set { f.look(after, numberedOne(20)); return f.lossy(1) },
		func(f *feed) { f.look(0, numberedOne(1)); f.look(ms, numberedOne(3)); f.lossy(1) }},
	{"loss timeout", Loss, func(t *Thresholds) { t.LossInterval, t.LossTimeout = 0, longest },
		func(f *feed, after int64) Set { return f.lossy(after) },
		func(f *feed) { f.look(0, numberedOne(1)); f.look(ms, numberedOne(3)) }},
}

// look gives f a packet and returns its events.
func (f *feed) look(after int64, o *Observation) Set {
	f.now += after
	set := f.d.Packet(f.now, &f.f, f.fresh, 0, o)
	f.fresh = false
	return set
}

func (f *feed) lossy(after int64) (set Set) {
	f.now += after
	f.d.Lossy(f.now, func(*flows.Flow) {}, func(*flows.Flow) { set = Loss.Set() })
	return set
}

func flagged(e, m bool) *Observation {
	o := observe(path(2, 0))
	o.Info.HopExceeded, o.Info.MTUExceeded = e, m
	return o
}

func numberedOne(n uint64) *Observation {
	o := observe(path(2, 0))
	o.Sequence, o.SequenceBits = n, 32
	return o
}

// linked is a packet that took ns from node 1 to node 2.
func linked(ns uint64) *Observation {
	return told(values{node: 2, ports: 0x10002, queue: 1, in: 1e6 + ns, out: 2e6}, values{node: 1, ports: 0x10002, queue: 1, in: 1, out: 1e6})
}

func TestTimesAtTheirMaximum(t *testing.T) {
	for _, c := range atMaximum {
		t.Run(c.name, func(t *testing.T) {
			p := watching(c.event)
			p.Thresholds.PathRate = 0
			c.set(&p.Thresholds)
			for _, from := range wraps {
				for _, l := range later {
					f := start(t, p)
					f.now = from
					c.start(f)
					if got := c.again(f, l.after).Has(c.event); got != l.again {
						t.Errorf("from %d on, %d s after the first: %v, want %v", from, l.after/second, got, l.again)
					}
					f.d.Close()
				}
			}
		})
	}
}

// TestFlapsAtTheMaximum: of a latency that never comes to rest there is a report a day, for
// as long as one looks.
func TestFlapsAtTheMaximum(t *testing.T) {
	for _, interval := range []int64{30 * second, 3600 * second, 4295 * second, 72 * 60 * second, 2 * 3600 * second, day} {
		t.Run(fmt.Sprint(interval/second, " s"), func(t *testing.T) {
			p := defaults(HopLatency)
			p.Thresholds.Latency = Deadband{Absolute: 10_000, K: 1, N: 1, Interval: interval}
			f, reports := start(t, p), 0
			defer f.d.Close()
			f.look(0, observe(path(2, 20_000)))
			const step = 10 * second
			for n := range 70 * day / step { // every interval is a whole number of steps, but for one
				if f.look(step, observe(path(2, uint32(20_000+n%2*80_000)))).Has(HopLatency) {
					reports++
				}
			}
			every := (interval + step - 1) / step * step
			if want := int(70 * day / every); reports < want*9/10 || reports > want+1 {
				t.Errorf("%d reports, want about %d", reports, want)
			}
		})
	}
}

// TestStretchedRefreshAtTheMaximum: six days are the longest time to a refresh.
func TestStretchedRefreshAtTheMaximum(t *testing.T) {
	for _, from := range wraps {
		p := defaults(Refresh)
		p.Thresholds.RefreshEvery, p.Thresholds.RefreshJitter = day, 0.9
		f := start(t, p)
		f.now, f.d.Stretch = from, 1500
		f.look(0, observe(path(2, 0)))
		for h := range int64(6 * 24) {
			if due := f.f.RefreshDue(f.now); due < f.now || due > from+6*day+second {
				t.Fatalf("after %d hours a refresh is due in %d s", h, (due-f.now)/second)
			}
			if set := f.look(3600*second, observe(path(2, 0))); set != 0 {
				from = f.now
			}
		}
		f.d.Close()
	}
}

// TestClockOffsetAtTheMaximum: with clock_offset, a sink with a clock that is a day off compares
// latencies like one with a right clock.
func TestClockOffsetAtTheMaximum(t *testing.T) {
	for _, offset := range []int64{-day, day} {
		for _, from := range wraps[3:] {
			p := watching(EndToEnd)
			p.Thresholds.PTP, p.Thresholds.ClockOffset = true, offset
			p.Thresholds.EndToEnd = Deadband{Absolute: 10_000, K: 1, N: 1}
			f := start(t, p)
			f.d.SetRules([]Policy{p}, []NodeModel{asIs})
			f.now = from + 2*day
			stamped := func(ns int64) *Observation {
				return told(values{node: 1, ports: 0x10002, queue: 1, in: uint64(f.now + ms - offset - ns)})
			}
			f.look(ms, stamped(20_000))
			if set := f.look(ms, stamped(25_000)); set != 0 {
				t.Errorf("offset %d, from %d on: %b within the deadband", offset, from, set)
			}
			if set := f.look(ms, stamped(90_000)); !set.Has(EndToEnd) || f.d.Trigger.Value != 90_000 {
				t.Errorf("offset %d, from %d on: %b, %+v", offset, from, set, f.d.Trigger)
			}
			f.d.Close()
		}
	}
}
