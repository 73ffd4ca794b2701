// Tells systemd what run is doing: READY, status, watchdog, reload.

package appliance

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/notify"
	"intsink/conf"
)

// serviceEvery is how often it is looked what to tell systemd.
const serviceEvery = 100 * time.Millisecond

// linkPatience is how long the start waits for links. A switch port may take half a minute
// (spanning tree); a cable that is not there is no reason to start again and again.
const linkPatience = 45 * time.Second

// service is what systemd has been told.
type service struct {
	to       *notify.Notifier
	since    time.Time
	ready    atomic.Bool // READY=1 was sent
	status   string
	barked   time.Time // when the watchdog was last told that all is well
	isReady  func() error
	isPolled func() error  // nil while every worker polls
	state    func() string // what else is to be told while all is well
}

// startNotifying tells systemd until a stops.
func (a *Appliance) startNotifying(*conf.Config) (stop func(), err error) {
	s := &a.service
	if !s.to.Enabled() {
		return nil, nil
	}
	s.since, s.isReady, s.isPolled, s.state = time.Now(), a.vitals.Ready, a.vitals.Healthy, a.stateLine
	stopLooking := repeat(serviceEvery, s.look)
	return func() {
		stopLooking()
		if a.force.Successor() == nil { // else the service goes on
			s.to.Send(notify.Stopping("sending what is open"))
		}
	}, nil
}

// look tells what is new: READY=1 once the links are up, or have been waited for; what
// is wrong, as a status; and the watchdog that every worker polls, as long as that is so.
func (s *service) look(now time.Time) {
	var lines []string
	status := s.state()
	err := s.isReady()
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
	if w := s.to.Watchdog(); w > 0 && now.Sub(s.barked) >= w/4 && s.isPolled() == nil {
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
