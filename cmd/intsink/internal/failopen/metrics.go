// What /api/v1/status and /metrics have of the mode and the bypass switch.

package failopen

import (
	"intsink/cmd/intsink/internal/status"
	"intsink/engine/metric"
)

// Fill implements part.Status.
func (s *Server) Fill(j *status.Status) {
	m := s.State()
	j.Mode = &m
}

// Paths are what can be read.
func (s *Server) Paths() []string { return []string{"/api/v1/mode"} }

// Metrics implements part.Metrics.
func (s *Server) Metrics() []metric.Bound { return metric.Bind(metrics, s) }

var metrics = []metric.Of[Server]{
	{Name: "intsink_mode", Help: "1 for the mode in force: full, strip (no flows, events and reports), pass (packets pass as they came), bypass; 0 for the others", Samples: func(s *Server, to metric.Samples) {
		now := s.State().Mode
		for m := range NumModes {
			to.Add(metric.One(now == m.String()), "mode", m)
		}
	}},
	{Name: "intsink_mode_changes_total", Help: "how often the mode was entered since the start", Samples: func(s *Server, to metric.Samples) {
		for m := range NumModes {
			to.Add(s.Entered(m), "mode", m)
		}
	}},
	{Name: "intsink_bypass_active", Help: "1: the bypass switch takes packets around the sink; 0: it does not, or nobody knows", Samples: func(s *Server, to metric.Samples) {
		x := s.State().Switch
		to.Add(metric.One(x != nil && x.State == "bypass"))
	}},
	{Name: "intsink_bypass_commands_total", Help: "commands of the bypass switch: ok, failed", Samples: func(s *Server, to metric.Samples) {
		to.Add(s.Watchdog.Commands(false), "result", "ok")
		to.Add(s.Watchdog.Commands(true), "result", "failed")
	}},
}
