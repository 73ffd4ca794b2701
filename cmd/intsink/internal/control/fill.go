// What /api/v1/status and /metrics have of the configuration in force, its trials and the last writes.

package control

import (
	"time"

	"intsink/cmd/intsink/internal/status"
	"intsink/engine/metric"
)

// Fill implements part.Status.
func (s *Server) Fill(j *status.Status) {
	last, good := s.State.Last()
	j.Config = &status.Config{Path: good.Config, Generation: good.Generation, SHA256: good.SHA256, Since: good.Time}
	if last.By != "start" {
		j.Config.LastReload = &status.Reload{OK: last.OK, Time: last.Time, By: last.By, Error: last.Error}
	}
	if t := s.State.Trial(); t != nil {
		j.Config.Trial = &status.Trial{Until: t.Until, BackTo: t.BackTo, By: t.By, Program: t.Program}
	}
	if t := s.State.LastTrial(); t != nil {
		j.Config.LastTrial = &status.EndedTrial{Generation: t.Generation, BackTo: t.BackTo, Result: t.End.String(), Why: t.Why, Ended: t.Time, By: t.By, Program: t.Program, Tried: t.Tried}
	}
	for _, w := range s.Writes.Last() {
		j.Writes = append(j.Writes, status.Write(w))
	}
}

// Says implements part.Says.
func (s *Server) Says() string {
	if t := s.State.Trial(); t != nil {
		return "on trial until " + t.Until.Format(time.RFC3339)
	}
	return ""
}

// Metrics implements part.Metrics.
func (s *Server) Metrics() []metric.Bound { return metric.Bind(metrics, s) }

var metrics = []metric.Of[Server]{
	{Name: "intsink_config_last_reload_successful", Help: "1: the last reload was done, or there was none; 0: it was refused, and the configuration before it is in force", Samples: func(s *Server, to metric.Samples) {
		last, _ := s.State.Last()
		to.Add(metric.One(last.OK))
	}},
	{Name: "intsink_config_last_reload_success_timestamp_seconds", Help: "when the configuration in force was taken over, at start or by a reload, in seconds since 1970", Samples: func(s *Server, to metric.Samples) {
		_, good := s.State.Last()
		to.Seconds(good.Time.UnixNano())
	}},
	{Name: "intsink_config_generation", Help: "1 at start, one more with each reload that was not refused", Samples: func(s *Server, to metric.Samples) {
		_, good := s.State.Last()
		to.Add(good.Generation)
	}},
	{Name: "intsink_config_info", Help: "1; the label is the SHA-256 of the configuration in force, as sha256sum prints it of the file", Samples: func(s *Server, to metric.Samples) {
		_, good := s.State.Last()
		to.Add(1, "sha256", good.SHA256)
	}},
	{Name: "intsink_config_trial", Help: "1: the configuration in force, or the program that runs, goes by itself unless it is confirmed; 0: it stays", Samples: func(s *Server, to metric.Samples) {
		to.Add(metric.One(s.State.Trial() != nil))
	}},
	{Name: "intsink_config_trials_total", Help: "trials of configurations and programs that ended: confirmed, timeout, back (asked for), reports or poll_gap (above the limit), stuck (a worker did not poll), problem (something became wrong), crashed (a new program ended, or did not forward)", Samples: func(s *Server, to metric.Samples) {
		for e := range NumTrialEnds {
			to.Add(s.State.Trials(e), "result", e)
		}
	}},
	{Name: "intsink_api_writes_total", Help: "requests to change something, by result: ok, refused (by what it asked for), forbidden, limited (too many at once), bad_request", Samples: func(s *Server, to metric.Samples) {
		for r := range NumWriteResults {
			to.Add(s.Writes.Count(r), "result", r)
		}
	}},
	{Name: "intsink_api_unauthorized_total", Help: "requests from other machines that were refused for they showed no token or certificate", Samples: func(s *Server, to metric.Samples) {
		to.Add(s.Writes.Unauthorized())
	}},
}

// Paths are what can be read.
func (s *Server) Paths() []string { return []string{"/api/v1/config"} }
