// Tells systemd what run is doing: READY, status, watchdog, reload.

package appliance

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/notify"
	"intsink/cmd/intsink/internal/part"
)

// serviceEvery is how often it is looked what to tell systemd.
const serviceEvery = 100 * time.Millisecond

// linkPatience is how long the start waits for links. A switch port may take half a minute
// (spanning tree); a cable that is not there is no reason to start again and again.
const linkPatience = 45 * time.Second

// health is the part that knows whether the sink does what it is for.
type health interface {
	Ready() error
	Healthy() error // nil while every worker polls
}

// service is what systemd has been told.
type service struct {
	to        *notify.Notifier
	handsOver func() bool // to another program, with which the service goes on
	health    health
	says      []part.Says
	since     time.Time
	ready     atomic.Bool // READY=1 was sent
	status    string
	barked    time.Time // when the watchdog was last told that all is well
}

// Start implements part.Part.
func (s *service) Start(e *part.Env) (stop func(), err error) {
	s.health, s.says = part.Find[health](e), part.All[part.Says](e)
	return nil, nil
}

// Run implements part.Runs: it tells systemd until done is closed, and then that the sink stops.
func (s *service) Run(done <-chan struct{}) {
	if !s.to.Enabled() {
		return
	}
	s.since = time.Now()
	tick := time.NewTicker(serviceEvery)
	defer tick.Stop()
	for {
		s.look(time.Now())
		select {
		case <-done:
			if !s.handsOver() {
				s.to.Send(notify.Stopping("sending what is open"))
			}
			return
		case <-tick.C:
		}
	}
}

// state says for systemctl status what the sink does, while all is well.
func (s *service) state() string {
	line := "forwarding"
	for _, p := range s.says {
		if text := p.Says(); text != "" {
			line += ", " + text
		}
	}
	return line
}

// look tells what is new: READY=1 once the links are up, or have been waited for; what
// is wrong, as a status; and the watchdog that every worker polls, as long as that is so.
func (s *service) look(now time.Time) {
	var lines []string
	status := s.state()
	err := s.health.Ready()
	if err != nil {
		status = err.Error()
	}
	ready, barked := s.ready.Load(), s.barked
	if !ready && err != nil && now.Sub(s.since) < linkPatience {
		status = fmt.Sprintf("waiting for up to %v: %s", linkPatience, status)
	} else if !ready {
		ready = true
		lines = append(lines, "READY=1")
	}
	if status != s.status {
		lines = append(lines, notify.Status(status))
	}
	if w := s.to.Watchdog(); w > 0 && now.Sub(s.barked) >= w/4 && s.health.Healthy() == nil {
		barked = now
		lines = append(lines, "WATCHDOG=1")
	}
	if len(lines) > 0 && s.to.Send(lines...) { // else they are told again
		s.status, s.barked = status, barked
		s.ready.Store(ready)
	}
}

// tellReload tells systemd that a reload begins, with its time (sd_notify(3)); the function that
// it returns tells the end. Before READY=1 there is nothing to tell.
func (s *service) tellReload() (done func()) {
	if !s.ready.Load() {
		return func() {}
	}
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails: every kernel has the clock
	s.to.Send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", t.Nano()/1000))
	return func() { s.to.Send("READY=1") }
}
