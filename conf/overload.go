// Block overload, whole: when workers that cannot keep up do less with packets.

package conf

import (
	"intsink/conf/schema"
	"time"
)

// checkOverload: the ladder has something to look at.
func (d checker) checkOverload(o *Overload, dpdk *DPDK, b *Bypass) {
	if o.Mode != "off" && o.Busy == 0 && o.PollGap == 0 && o.FullBursts == 0 {
		d.ErrorAt([]any{&o.Mode, &o.Busy, &o.PollGap, &o.FullBursts}, "overload: mode = %q has nothing to look at: busy, poll_gap and full_bursts are all 0; give one of them a limit", o.Mode)
	}
	if o.Mode != "off" && o.PollGap > 0 && o.PollGap <= 2*dpdk.IdleSleep {
		d.WarnAt([]any{&o.PollGap, &dpdk.IdleSleep}, "overload: poll_gap = %s is at most twice dpdk.idle_sleep = %s: workers without packets sleep so long, and count as overloaded; raise poll_gap or lower idle_sleep",
			schema.DurationText(o.PollGap), schema.DurationText(dpdk.IdleSleep))
	}
	if o.Mode == "bypass" && len(b.Command) == 0 {
		d.WarnAt([]any{&o.Mode, &b.Command}, `overload: mode = "bypass" is as "pass" without bypass { command }`)
	}
}

// Overload says when workers that cannot keep up do less with packets.
type Overload struct {
	Mode       OverloadMode  // how far
	Busy       float64       // share of a worker's time behind polls that found packets; 0: not looked at
	PollGap    time.Duration // time between two polls; 0: not looked at
	FullBursts float64       // share of polls that found a full burst, so that more waited; 0: not looked at
	Enter      time.Duration // how long a value is above its limit before the next step
	Clear      time.Duration // how long all are far below before the step back
}

// OverloadMode is overload.mode: how far the sink goes when workers cannot keep up. Each mode
// includes those before it.
type OverloadMode string

// The values of overload.mode.
const (
	NeverDegrade    OverloadMode = "off"
	DegradeToStrip  OverloadMode = "strip"  // INT is removed; no flows, events and reports
	DegradeToPass   OverloadMode = "pass"   // packets leave as they came
	DegradeToBypass OverloadMode = "bypass" // the bypass switch leads traffic past the sink
)

func visitOverload(v schema.Visitor, o *Overload) {
	v.Attr("mode", schema.Choice(&o.Mode, NeverDegrade, DegradeToStrip, DegradeToPass, DegradeToBypass))
	v.Attr("busy", schema.Fraction(&o.Busy, 0, 1))
	v.Attr("poll_gap", schema.Duration(&o.PollGap, 0, 10*time.Second))
	v.Attr("full_bursts", schema.Fraction(&o.FullBursts, 0, 1))
	v.Attr("enter", schema.Duration(&o.Enter, 250*time.Millisecond, time.Hour))
	v.Attr("clear", schema.Duration(&o.Clear, time.Second, time.Hour))
}

func defaultOverload() Overload {
	return Overload{Mode: NeverDegrade, Busy: 0.98, PollGap: 0, FullBursts: 0.9, Enter: 2 * time.Second, Clear: 10 * time.Second}
}
