// Answers /healthz and /readyz with a line per check: workers that poll, links that are up,
// mode, last reload.

package vitals

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/status"
)

// Healthy is nil while every worker polls: it has ticked lately.
func (s *Server) Healthy() error {
	now := s.Clock()
	for i, w := range s.Workers {
		beat := w.Beat()
		if beat == 0 {
			return fmt.Errorf("worker w%d has not polled yet", i)
		}
		if late := time.Duration(now - beat); late > flowapi.StuckAfter {
			return fmt.Errorf("worker w%d has not polled for %v", i, late.Round(time.Millisecond))
		}
	}
	return nil
}

// behind is since when, by the wall clock, the worker has not polled that polled longest ago; zero: one never has.
func (s *Server) behind(now time.Time) time.Time {
	longest := time.Duration(0)
	for _, w := range s.Workers {
		beat := w.Beat()
		if beat == 0 {
			return time.Time{}
		}
		longest = max(longest, time.Duration(s.Clock()-beat))
	}
	return now.Add(-longest)
}

// verbose answers each check by a line, the configuration in force, what became of the
// last reload and what is degraded, neither of which makes a sink less ready.
func (s *Server) verbose(w http.ResponseWriter) {
	err := s.Ready()
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	line := func(what, fault string) {
		if fault == "" {
			fault = "ok"
		}
		fmt.Fprintf(w, "%s: %s\n", what, fault)
	}
	for _, p := range s.Ports {
		line(fmt.Sprintf("port %q", p.Name), p.Device.LinkDown())
	}
	workers := ""
	if err := s.Healthy(); err != nil {
		workers = err.Error()
	}
	line("workers", workers)
	j := &status.Status{}
	for _, f := range s.Fills {
		f.Fill(j)
	}
	if c := j.Config; c != nil {
		line("config", fmt.Sprintf("generation %d, in force since %s, sha256 %s, %s", c.Generation, c.Since.Format(time.RFC3339), c.SHA256, c.Path))
		if r := c.LastReload; r != nil {
			line("last reload", strings.TrimSuffix(fmt.Sprintf("%s at %s, by %s: %s", outcome(r.OK), r.Time.Format(time.RFC3339), r.By, r.Error), ": "))
		}
		if t := c.Trial; t != nil {
			_, before := t.Of()
			line("trial", fmt.Sprintf("%s comes back at %s unless it is confirmed", before, t.Until.Format(time.RFC3339)))
		}
		if t := c.LastTrial; t != nil {
			line("last trial", t.Text())
		}
	}
	if j.Mode != nil {
		line("mode", j.Mode.Text())
	}
	for _, d := range s.Degraded.List() {
		line("degraded", d.String())
	}
	ready := ""
	if err != nil {
		ready = err.Error()
	}
	line("ready", ready)
}

func outcome(ok bool) string {
	if ok {
		return "done"
	}
	return "refused"
}

// Ready is nil while, besides, the link of every port is up that packets come by, and the sink is not stopping.
func (s *Server) Ready() error {
	if s.Stopping() {
		return errors.New("stopping")
	}
	for _, p := range s.Ports {
		if s := p.Device.LinkDown(); s != "" && !p.Aside {
			return fmt.Errorf("port %q: link is down: %s", p.Name, s)
		}
	}
	return s.Healthy()
}
