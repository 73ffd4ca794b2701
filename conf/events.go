// Blocks events and events_override, whole: the thresholds of each event.

package conf

import (
	"fmt"
	"intsink/conf/schema"
	"strconv"
	"time"
)

// Events holds every threshold; defaults depend on Profile.
type Events struct {
	Profile EventProfile
	NewFlow struct {
		Rate         int
		AfterRestart time.Duration // none is reported for so long
	}
	PathChange    PathChange
	HopLatency    Deadband
	EndToEnd      Deadband
	LinkLatency   Deadband
	Congestion    Congestion
	TxUtilization struct {
		Raise, Clear uint32
		Hold         time.Duration
	}
	Refresh struct {
		Every  time.Duration
		Jitter float64
		Most   time.Duration
	}
	Loss struct {
		Window            int
		Timeout, Interval time.Duration
	}
	Drop        struct{ Interval time.Duration }
	HopLimit    struct{ Rearm time.Duration }
	MTUExceeded struct{ Rearm time.Duration }
}

// PathChange holds the thresholds of path_change.
type PathChange struct {
	Paths  int
	Memory time.Duration
	Rate   int
	ECMP   ECMP // "ignore" | "report"
}

// Congestion holds the thresholds of congestion; Raise and Clear are queue
// occupancies as the wire carries them, or in the unit of the node's model.
type Congestion struct {
	Raise, Clear uint32        // Raise may be AutoRaise
	Factor       uint32        // with AutoRaise: so many times what is usual in a queue begins an episode
	RaiseLatency time.Duration // with AutoRaise: the least latency that does
	Quota        int
	Timeout      time.Duration
}

// Deadband is the test of a latency event (EVENTS.md, hop_latency).
type Deadband struct {
	Clock    Clock // end_to_end only: "none" | "ptp"
	Absolute time.Duration
	Relative float64
	K, N     int
	Interval time.Duration

	ClockOffset time.Duration // end_to_end only: subtracted from the difference of the clocks, may be negative
}

// EventProfile is events.profile: which defaults thresholds have.
type EventProfile string

// The values of events.profile.
const (
	DataCenter EventProfile = "dc"
	WAN        EventProfile = "wan"
)

// ECMP is path_change.ecmp: whether a known path that comes back is reported.
type ECMP string

// The values of path_change.ecmp.
const (
	IgnoreECMP ECMP = "ignore"
	ReportECMP ECMP = "report"
)

// Clock is end_to_end.clock: what makes the end-to-end latency.
type Clock string

// The values of end_to_end.clock.
const (
	NoClock  Clock = "none" // the sum of the hops' latencies
	PTPClock Clock = "ptp"  // the sink's time less the source's
)

// defaultEvents returns the default of every threshold in a profile.
func defaultEvents(profile EventProfile) Events {
	e := Events{Profile: profile}
	e.NewFlow.Rate, e.NewFlow.AfterRestart = 20000, 10*time.Second
	e.PathChange = PathChange{Paths: 16, Memory: 60 * time.Second, Rate: 10, ECMP: IgnoreECMP}
	e.HopLatency = Deadband{Absolute: 10 * time.Microsecond, Relative: 0.5, K: 2, N: 4, Interval: 100 * time.Millisecond}
	e.EndToEnd = Deadband{Clock: NoClock, Absolute: 50 * time.Microsecond, Relative: 0.5, K: 2, N: 4, Interval: 100 * time.Millisecond}
	e.LinkLatency = Deadband{Absolute: AutoAbsolute, Relative: 0.5, K: 2, N: 4, Interval: time.Second}
	if profile == WAN {
		e.HopLatency.Absolute, e.HopLatency.Relative, e.HopLatency.K, e.HopLatency.N = 100*time.Microsecond, 0.25, 3, 8
		e.EndToEnd.Absolute, e.EndToEnd.Relative, e.EndToEnd.K, e.EndToEnd.N = time.Millisecond, 0.25, 3, 8
		e.LinkLatency.Relative, e.LinkLatency.K, e.LinkLatency.N = 0.25, 3, 8
	}
	e.Congestion = Congestion{Raise: AutoRaise, Factor: 8, RaiseLatency: floorOf(profile), Quota: 32, Timeout: time.Second}
	e.TxUtilization.Raise, e.TxUtilization.Clear, e.TxUtilization.Hold = AutoRaise, 75, 5*time.Second
	e.Refresh.Every, e.Refresh.Jitter, e.Refresh.Most = time.Minute, 0.2, 15*time.Minute
	e.Loss.Window, e.Loss.Timeout, e.Loss.Interval = 1024, 200*time.Millisecond, time.Second
	e.Drop.Interval = time.Second
	e.HopLimit.Rearm = 10 * time.Second
	e.MTUExceeded.Rearm = 10 * time.Second
	return e
}

// floorOf is the default of congestion.raise_latency.
func floorOf(profile EventProfile) time.Duration {
	if profile == WAN {
		return time.Millisecond
	}
	return 100 * time.Microsecond
}

// visitEvents is the schema of events and of events_override. A profile, where
// there is one, sets all thresholds before the others are read.
func visitEvents(v schema.Visitor, e *Events) {
	v.Attr("profile", schema.Then(schema.Choice(&e.Profile, DataCenter, WAN), func() { *e = defaultEvents(e.Profile) }))
	v.Block("new_flow", &e.NewFlow, func(v schema.Visitor) {
		v.Attr("rate", schema.Integer(&e.NewFlow.Rate, 0, maxRate))
		v.Attr("after_restart", schema.Duration(&e.NewFlow.AfterRestart, 0, maxTime))
	})
	v.Block("path_change", &e.PathChange, func(v schema.Visitor) {
		v.Attr("paths", schema.Integer(&e.PathChange.Paths, 1, 16))
		v.Attr("memory", schema.Duration(&e.PathChange.Memory, 0, maxTime))
		v.Attr("rate", schema.Integer(&e.PathChange.Rate, 0, maxRate))
		v.Attr("ecmp", schema.Choice(&e.PathChange.ECMP, IgnoreECMP, ReportECMP))
	})
	absolute := func(p *time.Duration) schema.Value { return schema.Duration(p, 0, maxDeadband) }
	v.Block("hop_latency", &e.HopLatency, func(v schema.Visitor) { visitDeadband(v, &e.HopLatency, absolute(&e.HopLatency.Absolute)) })
	v.Block("end_to_end", &e.EndToEnd, func(v schema.Visitor) {
		v.Attr("clock", schema.Choice(&e.EndToEnd.Clock, NoClock, PTPClock))
		v.Attr("clock_offset", schema.Duration(&e.EndToEnd.ClockOffset, -maxTime, maxTime))
		visitDeadband(v, &e.EndToEnd, absolute(&e.EndToEnd.Absolute))
	})
	v.Block("link_latency", &e.LinkLatency, func(v schema.Visitor) {
		visitDeadband(v, &e.LinkLatency, absoluteValue{absolute(&e.LinkLatency.Absolute), &e.LinkLatency.Absolute})
	})
	v.Block("congestion", &e.Congestion, func(v schema.Visitor) {
		v.Attr("raise", schema.Then(raiseValue{&e.Congestion.Raise}, e.raised))
		v.Attr("clear", schema.Integer(&e.Congestion.Clear, 0, 1<<32-2))
		v.Attr("factor", schema.Integer(&e.Congestion.Factor, 2, 1000))
		v.Attr("raise_latency", schema.Duration(&e.Congestion.RaiseLatency, 0, maxLatency))
		v.Attr("quota", schema.Integer(&e.Congestion.Quota, 0, maxRate))
		v.Attr("timeout", schema.Duration(&e.Congestion.Timeout, time.Millisecond, maxTime))
	})
	v.Block("tx_utilization", &e.TxUtilization, func(v schema.Visitor) {
		v.Attr("raise", raiseValue{&e.TxUtilization.Raise})
		v.Attr("clear", schema.Integer(&e.TxUtilization.Clear, 0, 1<<32-2))
		v.Attr("hold", schema.Duration(&e.TxUtilization.Hold, 0, maxTime))
	})
	v.Block("refresh", &e.Refresh, func(v schema.Visitor) {
		v.Attr("every", schema.Duration(&e.Refresh.Every, time.Millisecond, maxTime))
		v.Attr("jitter", schema.Fraction(&e.Refresh.Jitter, 0, 0.9))
		v.Attr("most", schema.Duration(&e.Refresh.Most, time.Millisecond, maxTime))
	})
	v.Block("loss", &e.Loss, func(v schema.Visitor) {
		v.Attr("window", schema.Integer(&e.Loss.Window, 1, 1024))
		v.Attr("timeout", schema.Duration(&e.Loss.Timeout, 0, maxTime))
		v.Attr("interval", schema.Duration(&e.Loss.Interval, 0, maxTime))
	})
	v.Block("drop", &e.Drop, func(v schema.Visitor) {
		v.Attr("interval", schema.Duration(&e.Drop.Interval, 0, maxTime))
	})
	v.Block("hop_limit", &e.HopLimit, func(v schema.Visitor) {
		v.Attr("rearm", schema.Duration(&e.HopLimit.Rearm, 0, maxTime))
	})
	v.Block("mtu_exceeded", &e.MTUExceeded, func(v schema.Visitor) {
		v.Attr("rearm", schema.Duration(&e.MTUExceeded.Rearm, 0, maxTime))
	})
}

// AutoRaise is raise = "auto": a threshold made of what is usual in each queue; of interfaces, AutoBusy per cent.
const AutoRaise = 1<<32 - 1

// AutoBusy is the threshold of tx_utilization with raise = "auto".
const AutoBusy = 90

// raiseValue is raise of congestion and tx_utilization: a number or "auto".
type raiseValue struct{ p *uint32 }

func (v raiseValue) Key() any { return v.p }

func (v raiseValue) Write() (string, bool) {
	if *v.p == AutoRaise {
		return schema.Quote("auto"), true
	}
	return fmt.Sprint(*v.p), true
}

func (v raiseValue) Read(x *schema.Expr) bool {
	const accepted = `"auto" or a whole number from 0 to 4294967294`
	text, ok := x.TextOrNumber(accepted)
	if !ok {
		return false
	}
	if text == "auto" {
		*v.p = AutoRaise
		return true
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == AutoRaise {
		return x.Fail("must be %s", accepted)
	}
	*v.p = uint32(n)
	return true
}

// raised sets what raise decides where nothing else is given: a number ends the thresholds made of what is usual, so no
// latency counts either.
func (e *Events) raised() {
	c := &e.Congestion
	c.Clear = 0
	if c.Raise != AutoRaise {
		c.Clear, c.RaiseLatency = c.Raise/2, 0
	} else if c.RaiseLatency == 0 {
		c.RaiseLatency = floorOf(e.Profile)
	}
}

// AutoAbsolute is absolute = "auto": a link is held against what is usual.
const AutoAbsolute time.Duration = -1

// absoluteValue is link_latency.absolute: a duration or "auto".
type absoluteValue struct {
	schema.Value
	p *time.Duration
}

func (v absoluteValue) Write() (string, bool) {
	if *v.p == AutoAbsolute {
		return schema.Quote("auto"), true
	}
	return v.Value.Write()
}

func (v absoluteValue) Read(x *schema.Expr) bool {
	accepted := fmt.Sprintf(`"auto" or a duration from "0s" to %q`, schema.DurationText(maxDeadband))
	text, ok := x.Text(accepted)
	if !ok {
		return false
	}
	if text == "auto" {
		*v.p = AutoAbsolute
		return true
	}
	return v.Value.Read(x)
}

func visitDeadband(v schema.Visitor, d *Deadband, absolute schema.Value) {
	v.Attr("absolute", absolute)
	v.Attr("relative", schema.Fraction(&d.Relative, 0, 1000))
	v.Attr("k", schema.Integer(&d.K, 1, 8))
	v.Attr("n", schema.Integer(&d.N, 1, 8))
	v.Attr("interval", schema.Duration(&d.Interval, 0, maxTime))
}

// checkEvents compares thresholds with each other, those that this block sets:
// what an override inherits is reported where it stands. inherited is nil where e is
// no override.
func (d checker) checkEvents(e, inherited *Events, where string) {
	for _, x := range []struct {
		name string
		b    *Deadband
	}{{"hop_latency", &e.HopLatency}, {"end_to_end", &e.EndToEnd}, {"link_latency", &e.LinkLatency}} {
		if x.b.K > x.b.N && (d.Has(&x.b.K) || d.Has(&x.b.N)) {
			d.ErrorAt([]any{&x.b.K, &x.b.N}, "%s: %s: k = %d of n = %d: k of the last n packets must deviate, so k is at most n", where, x.name, x.b.K, x.b.N)
		}
	}
	if l, usual := e.LinkLatency, defaultEvents(e.Profile).LinkLatency; l.Absolute == AutoAbsolute && (l.Relative != usual.Relative || l.K != usual.K || l.N != usual.N) {
		d.WarnAt([]any{&e.LinkLatency.Relative, &e.LinkLatency.K, &e.LinkLatency.N}, `%s: link_latency: relative, k and n do nothing with absolute = "auto", where links are held against what is usual; give absolute a duration`, where)
	}
	d.checkClear(&e.Congestion.Clear, &e.Congestion.Raise, where+": congestion")
	if c := &e.Congestion; c.Raise == AutoRaise && c.RaiseLatency < minFloor && (d.Has(&c.Raise) || d.Has(&c.RaiseLatency)) {
		d.ErrorAt([]any{&c.RaiseLatency, &c.Raise}, `%s: congestion: raise_latency = %q is too low with raise = "auto", where it is the least latency that begins an episode; `+
			`write "1us" or more, or a number for raise`, where, schema.DurationText(c.RaiseLatency))
	} else if c.Raise == AutoRaise && c.Clear != 0 {
		d.WarnAt([]any{&c.Clear}, `%s: congestion: clear does nothing with raise = "auto": an episode ends below half of what begins it`, where)
	}
	d.checkClear(&e.TxUtilization.Clear, &e.TxUtilization.Raise, where+": tx_utilization")
	if t := &e.TxUtilization; t.Raise == AutoRaise && t.Clear > AutoBusy && d.Has(&t.Clear) {
		d.ErrorAt([]any{&t.Clear}, `%s: tx_utilization: clear = %d is above %d per cent, which raise = "auto" is: an episode would end as it begins`, where, t.Clear, AutoBusy)
	}
	idle := func(e *Events) bool { return e.EndToEnd.ClockOffset != 0 && e.EndToEnd.Clock != PTPClock }
	if d.Has(&e.EndToEnd.ClockOffset) && idle(e) && (inherited == nil || !idle(inherited)) {
		d.WarnAt([]any{&e.EndToEnd.ClockOffset}, `%s: end_to_end: clock_offset does nothing unless clock = "ptp"`, where)
	}
}

// minFloor is the least raise_latency with raise = "auto".
const minFloor = time.Microsecond

func (d checker) checkClear(clear, raise *uint32, where string) {
	if *clear > *raise && (d.Has(clear) || d.Has(raise)) {
		d.ErrorAt([]any{clear, raise}, "%s: clear = %d is above raise = %d: an episode would end as it begins; set clear to raise or less", where, *clear, *raise)
	}
}

// Bounds of times: of a raise_latency 32 bits of nanoseconds end a little above, and of a deadband twice as much fits into them.
const (
	maxLatency  = 4 * time.Second
	maxDeadband = 2 * time.Second
)

// events lists every event by its name in watch.events; on says whether a watch
// that names none has it.
var events = []struct {
	name string
	on   func(*Events) bool
}{
	{"new_flow", always},
	{"path_change", always},
	{"hop_latency", always},
	{"end_to_end", always},
	{"link_latency", func(e *Events) bool { return e.LinkLatency.Absolute == AutoAbsolute }},
	{"congestion", func(e *Events) bool { return e.Congestion.Raise > 0 || e.Congestion.RaiseLatency > 0 }},
	{"tx_utilization", func(e *Events) bool { return e.TxUtilization.Raise == AutoRaise }},
	{"refresh", always},
	{"sample", never}, // watch.sample turns it on
	{"flow_end", always},
	{"loss", always}, // of flows whose domain declares a sequence
	{"drop", always},
	{"hop_limit", always},
	{"mtu_exceeded", always},
	{"malformed", always},
	{"leak", always},
	{"unknown_domain", always},
}

func always(*Events) bool { return true }

func never(*Events) bool { return false }

// EventNames returns the names that watch.events takes.
func EventNames() []string {
	names := make([]string, len(events))
	for i := range events {
		names[i] = events[i].name
	}
	return names
}
