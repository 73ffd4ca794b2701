// Block bypass, whole: a switch that takes packets around the sink.

package conf

import (
	"intsink/conf/schema"
	"path/filepath"
	"time"
)

// Bypass is a switch that takes packets around the sink.
type Bypass struct {
	Command   []string      // run with "bypass", "inline" or "heartbeat" behind it; empty: there is no switch
	Heartbeat time.Duration // how often "heartbeat" is run while all workers poll; 0: never
	After     time.Duration // without a poll of some worker, "bypass" is run
	Timeout   time.Duration // that a command may take
}

func visitBypass(v schema.Visitor, b *Bypass) {
	v.Attr("command", schema.Texts(&b.Command))
	v.Attr("heartbeat", schema.Duration(&b.Heartbeat, 0, time.Minute))
	v.Attr("after", schema.Duration(&b.After, 100*time.Millisecond, time.Minute))
	v.Attr("timeout", schema.Duration(&b.Timeout, 100*time.Millisecond, time.Minute))
}

func defaultBypass() Bypass {
	return Bypass{Heartbeat: 0, After: time.Second, Timeout: 5 * time.Second}
}

const minHeartbeat = 100 * time.Millisecond

func (d checker) checkBypass(b *Bypass) {
	if len(b.Command) == 0 {
		return
	}
	if !filepath.IsAbs(b.Command[0]) {
		d.ErrorAt([]any{&b.Command}, `bypass: command = [%q, ...]: must begin with an absolute path, such as "/usr/local/sbin/bypass"`, schema.Short(b.Command[0]))
	}
	if b.Heartbeat > 0 && b.Heartbeat < minHeartbeat {
		d.ErrorAt([]any{&b.Heartbeat}, "bypass: heartbeat = %s: must be \"0s\" for none, or at least %s", schema.DurationText(b.Heartbeat), schema.DurationText(minHeartbeat))
	}
}
