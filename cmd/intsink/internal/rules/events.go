// Thresholds of block events as event.Policy.

package rules

import (
	"math"
	"time"

	"intsink/conf"
	"intsink/engine/event"
)

func policyOf(w *conf.Watch, defaults *conf.Events) event.Policy {
	e := defaults
	if w.Override != nil {
		e = w.Override
	}
	p := event.Policy{Sample: w.Sample, SampleByFlow: w.SampleBy == conf.SampleFlows, Thresholds: thresholds(e)}
	for _, name := range w.Events {
		if ev, ok := event.Named(name); ok { // always: conf knows the same names
			p.Events |= ev.Set()
		}
	}
	return p
}

func thresholds(e *conf.Events) event.Thresholds {
	return event.Thresholds{
		NewFlowRate: e.NewFlow.Rate,
		Paths:       e.PathChange.Paths, PathMemory: int64(e.PathChange.Memory),
		PathRate: e.PathChange.Rate, ReportKnown: e.PathChange.ECMP == conf.ReportECMP,
		Latency:  deadband(&e.HopLatency),
		EndToEnd: deadband(&e.EndToEnd), PTP: e.EndToEnd.Clock == conf.PTPClock, ClockOffset: int64(e.EndToEnd.ClockOffset),
		LinkLatency:     deadband(&e.LinkLatency),
		CongestionRaise: e.Congestion.Raise, CongestionClear: e.Congestion.Clear,
		CongestionLatency: nanoseconds(e.Congestion.RaiseLatency),
		CongestionQuota:   e.Congestion.Quota, CongestionTimeout: int64(e.Congestion.Timeout),
		TxRaise: e.TxUtilization.Raise, TxClear: e.TxUtilization.Clear, TxHold: int64(e.TxUtilization.Hold),
		LossWindow: e.Loss.Window, LossTimeout: int64(e.Loss.Timeout), LossInterval: int64(e.Loss.Interval),
		DropInterval:  int64(e.Drop.Interval),
		HopLimitRearm: int64(e.HopLimit.Rearm), MTURearm: int64(e.MTUExceeded.Rearm),
		RefreshEvery: int64(e.Refresh.Every), RefreshJitter: e.Refresh.Jitter,
	}
}

func deadband(d *conf.Deadband) event.Deadband {
	return event.Deadband{
		Absolute: nanoseconds(d.Absolute), Relative: d.Relative, K: d.K, N: d.N, Interval: int64(d.Interval),
	}
}

// nanoseconds is a latency as the wire carries it; longer ones than fit are never
// reached.
func nanoseconds(d time.Duration) uint32 { return uint32(min(d, math.MaxInt32)) }
