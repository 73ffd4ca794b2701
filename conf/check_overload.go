// Checks blocks overload and bypass: at least one limit to look at, a command that can be
// found.

package conf

import (
	"path/filepath"

	"intsink/conf/schema"
)

// checkOverload: the ladder has something to look at, and the switch a command that can be
// found.
func (d checker) checkOverload(c *Config) {
	o, b := &c.Overload, &c.Bypass
	if o.Mode != "off" && o.Busy == 0 && o.PollGap == 0 && o.FullBursts == 0 {
		d.ErrorAt([]any{&o.Mode, &o.Busy, &o.PollGap, &o.FullBursts}, "overload: mode = %q has nothing to look at: busy, poll_gap and full_bursts are all 0; give one of them a limit", o.Mode)
	}
	if o.Mode != "off" && o.PollGap > 0 && o.PollGap <= 2*c.DPDK.IdleSleep {
		d.WarnAt([]any{&o.PollGap, &c.DPDK.IdleSleep}, "overload: poll_gap = %s is at most twice dpdk.idle_sleep = %s: workers without packets sleep so long, and count as overloaded; raise poll_gap or lower idle_sleep",
			schema.DurationText(o.PollGap), schema.DurationText(c.DPDK.IdleSleep))
	}
	if o.Mode == "bypass" && len(b.Command) == 0 {
		d.WarnAt([]any{&o.Mode, &b.Command}, `overload: mode = "bypass" is as "pass" without bypass { command }`)
	}
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
