// Adds to /metrics reloads, writes, modes, captures and mitigation rules.

package observe

import (
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/livecapture"
	"intsink/engine/aside/mitigate"
)

// addMitigation adds how many rules there are.
func (s *Source) addMitigation(x *exposition) {
	var rules [mitigate.NumActions]int
	if s.Mitigation != nil {
		rules = s.Mitigation.Store.Rules()
	}
	for a := range mitigate.NumActions {
		x.add("intsink_mitigation_rules", uint64(rules[a]), "action", a)
	}
}

// addCapture adds what captures took and lack.
func (s *Source) addCapture(x *exposition) {
	var c livecapture.Counters
	if s.Capture != nil {
		c = s.Capture.Counters()
	}
	running := uint64(0)
	if c.Running {
		running = 1
	}
	x.add("intsink_capture_running", running)
	x.add("intsink_capture_packets_total", c.Packets)
	x.add("intsink_capture_dropped_total", c.DroppedRate, "reason", "rate")
	x.add("intsink_capture_dropped_total", c.DroppedRoom, "reason", "reader")
}

// addControl adds which configuration is in force, what became of the last reload, and who
// tried to change something.
func (s *Source) addControl(x *exposition) {
	if s.Control == nil {
		return
	}
	last, good := s.Control.State.Last()
	ok := uint64(0)
	if last.OK {
		ok = 1
	}
	x.add("intsink_config_last_reload_successful", ok)
	x.addSeconds("intsink_config_last_reload_success_timestamp_seconds", good.Time.UnixNano())
	x.add("intsink_config_generation", good.Generation)
	x.add("intsink_config_info", 1, "sha256", good.SHA256)
	x.add("intsink_config_trial", one(s.Control.State.Trial() != nil))
	for e := range control.NumTrialEnds {
		x.add("intsink_config_trials_total", s.Control.State.Trials(e), "result", e)
	}
	for r := range control.NumWriteResults {
		x.add("intsink_api_writes_total", s.Control.Writes.Count(r), "result", r)
	}
	x.add("intsink_api_unauthorized_total", s.Control.Writes.Unauthorized())
}

// addModes adds how much is done with packets.
func (s *Source) addModes(x *exposition) {
	if s.Modes == nil {
		return
	}
	state := s.Modes.State()
	for m := range failopen.NumModes {
		x.add("intsink_mode", one(state.Mode == m.String()), "mode", m)
		x.add("intsink_mode_changes_total", s.Modes.Entered(m), "mode", m)
	}
	x.add("intsink_bypass_active", one(state.Switch != nil && state.Switch.State == "bypass"))
	x.add("intsink_bypass_commands_total", s.Modes.Watchdog.Commands(false), "result", "ok")
	x.add("intsink_bypass_commands_total", s.Modes.Watchdog.Commands(true), "result", "failed")
}

func one(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}
