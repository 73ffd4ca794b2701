package observe

import (
	"errors"
	"fmt"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
)

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

// ready: healthy, and every port's link is up.
func (s *Source) ready() error {
	if s.Stopping() {
		return errors.New("stopping")
	}
	for _, p := range s.Ports {
		if s := p.Device.LinkDown(); s != "" {
			return fmt.Errorf("port %q: link is down: %s", p.Name, s)
		}
	}
	return s.healthy()
}
