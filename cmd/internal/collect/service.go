// Tells systemd that collect is ready, reloading, stopping, and that the collector is not
// stuck (watchdog).

package collect

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/notify"
)

// serviceEvery is the time between two looks at whether systemd must be told something.
const serviceEvery = 200 * time.Millisecond

// service remembers what a daemon last told systemd.
type service struct {
	to     *notify.Notifier
	status string
	barked time.Time // when the watchdog was last told that all is well
}

// notifySystemd tells systemd how the daemon is, until the function that it returns is called.
func (d *daemon) notifySystemd() (stop func()) {
	d.notifier = notify.New(os.Getenv)
	if !d.notifier.Enabled() {
		return func() {}
	}
	s := &service{to: d.notifier}
	d.notifier.Send("READY=1")
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(serviceEvery)
		defer tick.Stop()
		for {
			s.look(time.Now(), d.state)
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		d.notifier.Send(notify.Stopping("giving the outputs what is left"))
	}
}

// look tells a state that is new, and the watchdog that the collector answers: state waits
// for the lock that every receiver needs.
func (s *service) look(now time.Time, state func() string) {
	var lines []string
	if status := state(); status != s.status {
		s.status = status
		lines = append(lines, notify.Status(status))
	}
	if w := s.to.Watchdog(); w > 0 && now.Sub(s.barked) >= w/4 {
		s.barked = now
		lines = append(lines, "WATCHDOG=1")
	}
	if len(lines) > 0 {
		s.to.Send(lines...)
	}
}

// state is what `systemctl status` shows.
func (d *daemon) state() string {
	if err := d.ready(); err != nil {
		return err.Error()
	}
	var behind, away []string
	for _, o := range d.collector.Snapshot().Outputs {
		switch {
		case !o.Takes:
			away = append(away, o.Name)
		case !o.Live:
			behind = append(behind, o.Name)
		}
	}
	switch {
	case len(away) > 0:
		return "take no records: " + strings.Join(away, ", ")
	case len(behind) > 0:
		return "read what waits in the spool: " + strings.Join(behind, ", ")
	}
	if all := d.parts.List(); len(all) > 0 {
		return fmt.Sprintf("collecting; degraded: %s %s: %s", all[0].Part, all[0].Name, all[0].Why)
	}
	return "collecting"
}

// tellReload tells systemd that a reload begins (sd_notify(3)), with the time; the function
// that it returns tells its end.
func (d *daemon) tellReload() (done func()) {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails: every kernel has the clock
	d.notifier.Send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", t.Nano()/1000))
	return func() { d.notifier.Send("READY=1") }
}
