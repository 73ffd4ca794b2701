// The schema of blocks overload and bypass.

package conf

import (
	"time"

	"intsink/conf/schema"
)

func visitOverload(v schema.Visitor, o *Overload) {
	v.Attr("mode", schema.Choice(&o.Mode, NeverDegrade, DegradeToStrip, DegradeToPass, DegradeToBypass))
	v.Attr("busy", schema.Fraction(&o.Busy, 0, 1))
	v.Attr("poll_gap", schema.Duration(&o.PollGap, 0, 10*time.Second))
	v.Attr("full_bursts", schema.Fraction(&o.FullBursts, 0, 1))
	v.Attr("enter", schema.Duration(&o.Enter, 250*time.Millisecond, time.Hour))
	v.Attr("clear", schema.Duration(&o.Clear, time.Second, time.Hour))
}

func visitBypass(v schema.Visitor, b *Bypass) {
	v.Attr("command", schema.Texts(&b.Command))
	v.Attr("heartbeat", schema.Duration(&b.Heartbeat, 0, time.Minute))
	v.Attr("after", schema.Duration(&b.After, 100*time.Millisecond, time.Minute))
	v.Attr("timeout", schema.Duration(&b.Timeout, 100*time.Millisecond, time.Minute))
}
