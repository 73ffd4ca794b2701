// Answers /healthz and /readyz with a line per check: workers that poll, links that are up,
// mode, last reload.

package observe

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/status"
)

// Healthy is nil while every worker polls.
func (s *Source) Healthy() error { return s.healthy() }

// Ready is nil while, besides, every link is up and the appliance is not stopping.
func (s *Source) Ready() error { return s.ready() }

// healthy: every worker has ticked lately.
func (s *Source) healthy() error {
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

// verbose answers each check by a line, the configuration in force, what became of the
// last reload and what is degraded, neither of which makes a sink less ready.
func (s *Source) verbose(w http.ResponseWriter) {
	err := s.ready()
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
	if err := s.healthy(); err != nil {
		workers = err.Error()
	}
	line("workers", workers)
	if s.Control != nil {
		last, good := s.Control.State.Last()
		line("config", fmt.Sprintf("generation %d, in force since %s, sha256 %s, %s", good.Generation, good.Time.Format(time.RFC3339), good.SHA256, good.Config))
		if last.By != "start" {
			line("last reload", strings.TrimSuffix(fmt.Sprintf("%s at %s, by %s: %s", outcome(last.OK), last.Time.Format(time.RFC3339), last.By, last.Error), ": "))
		}
	}
	if s.Control != nil && s.Control.State.Trial() != nil {
		t := statusOfOpenTrial(s.Control.State.Trial())
		_, before := t.Of()
		line("trial", fmt.Sprintf("%s comes back at %s unless it is confirmed", before, t.Until.Format(time.RFC3339)))
	}
	if s.Control != nil && s.Control.State.LastTrial() != nil {
		line("last trial", statusOfTrial(s.Control.State.LastTrial()).Text())
	}
	if s.Modes != nil {
		line("mode", modeLine(s.Modes.State()))
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

// modeLine says which mode is in force, and what the bypass switch is at.
func modeLine(m status.Mode) string {
	text := m.Mode
	if m.Why != "" {
		text += ", " + m.Why
	}
	if m.Switch != nil {
		text += "; bypass switch: " + m.Switch.State
		if m.Switch.Error != "" {
			text += ", its command failed: " + m.Switch.Error
		}
	}
	return text
}

func outcome(ok bool) string {
	if ok {
		return "done"
	}
	return "refused"
}

// ready: healthy, and the link of every port is up that packets come by.
func (s *Source) ready() error {
	if s.Stopping() {
		return errors.New("stopping")
	}
	for _, p := range s.Ports {
		if s := p.Device.LinkDown(); s != "" && !p.Aside {
			return fmt.Errorf("port %q: link is down: %s", p.Name, s)
		}
	}
	return s.healthy()
}
