package conf

import "time"

// visitEvents is the schema of events and of events_override. A profile, where
// there is one, sets all thresholds before the others are read.
func visitEvents(v visitor, e *Events) {
	v.attr("profile", then(choice(&e.Profile, "dc", "wan"), func() { *e = defaultEvents(e.Profile) }))
	v.block("new_flow", &e.NewFlow, func(v visitor) {
		v.attr("rate", integer(&e.NewFlow.Rate, 0, maxRate))
	})
	v.block("path_change", &e.PathChange, func(v visitor) {
		v.attr("paths", integer(&e.PathChange.Paths, 1, 4))
		v.attr("memory", duration(&e.PathChange.Memory, 0, maxTime))
		v.attr("rate", integer(&e.PathChange.Rate, 0, maxRate))
		v.attr("ecmp", choice(&e.PathChange.ECMP, "ignore", "report"))
	})
	v.block("hop_latency", &e.HopLatency, func(v visitor) { visitDeadband(v, &e.HopLatency) })
	v.block("end_to_end", &e.EndToEnd, func(v visitor) {
		v.attr("clock", choice(&e.EndToEnd.Clock, "none", "ptp"))
		v.attr("clock_offset", duration(&e.EndToEnd.ClockOffset, -maxTime, maxTime))
		visitDeadband(v, &e.EndToEnd)
	})
	v.block("link_latency", &e.LinkLatency, func(v visitor) { visitDeadband(v, &e.LinkLatency) })
	v.block("congestion", &e.Congestion, func(v visitor) {
		v.attr("raise", then(integer(&e.Congestion.Raise, 0, 1<<32-2), func() { e.Congestion.Clear = e.Congestion.Raise / 2 }))
		v.attr("clear", integer(&e.Congestion.Clear, 0, 1<<32-2))
		v.attr("raise_latency", duration(&e.Congestion.RaiseLatency, 0, maxLatency))
		v.attr("quota", integer(&e.Congestion.Quota, 0, maxRate))
		v.attr("timeout", duration(&e.Congestion.Timeout, time.Millisecond, maxTime))
	})
	v.block("tx_utilization", &e.TxUtilization, func(v visitor) {
		v.attr("raise", integer(&e.TxUtilization.Raise, 0, 1<<32-2))
		v.attr("clear", integer(&e.TxUtilization.Clear, 0, 1<<32-2))
		v.attr("hold", duration(&e.TxUtilization.Hold, 0, maxTime))
	})
	v.block("refresh", &e.Refresh, func(v visitor) {
		v.attr("every", duration(&e.Refresh.Every, time.Millisecond, maxTime))
		v.attr("jitter", fraction(&e.Refresh.Jitter, 0, 0.9))
	})
	v.block("loss", &e.Loss, func(v visitor) {
		v.attr("window", integer(&e.Loss.Window, 1, 1024))
		v.attr("timeout", duration(&e.Loss.Timeout, 0, maxTime))
		v.attr("interval", duration(&e.Loss.Interval, 0, maxTime))
	})
	v.block("drop", &e.Drop, func(v visitor) {
		v.attr("interval", duration(&e.Drop.Interval, 0, maxTime))
	})
	v.block("hop_limit", &e.HopLimit, func(v visitor) {
		v.attr("rearm", duration(&e.HopLimit.Rearm, 0, maxTime))
	})
	v.block("mtu_exceeded", &e.MTUExceeded, func(v visitor) {
		v.attr("rearm", duration(&e.MTUExceeded.Rearm, 0, maxTime))
	})
}

func visitDeadband(v visitor, d *Deadband) {
	v.attr("absolute", duration(&d.Absolute, 0, maxLatency))
	v.attr("relative", fraction(&d.Relative, 0, 1000))
	v.attr("k", integer(&d.K, 1, 8))
	v.attr("n", integer(&d.N, 1, 8))
	v.attr("interval", duration(&d.Interval, 0, maxTime))
}
