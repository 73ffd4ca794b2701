// Makes the Controller of modes, gives it the load of the workers (loadMeter), and puts its
// mode in force in workers.

package appliance

import (
	"fmt"
	"os"
	"time"

	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/events"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/conf"
	"intsink/engine"
)

// makeModes makes what decides how much is done with packets.
func (a *Appliance) makeModes(*conf.Config) (stop func(), err error) {
	a.live = events.NewLive(a.workers)
	load := newLoadMeter(a)
	a.bypass.Announce = func(x failopen.SwitchChange) { a.live.Announce("bypass", x) }
	c := &failopen.Controller{
		Config: a.config.Load, Load: load.read, Apply: a.enterMode, Watchdog: &a.bypass.Watchdog, Wall: time.Now,
		Announce: func(x failopen.Change) { a.live.Announce("mode", x) },
	}
	c.Start(a.begin)
	a.modes = &failopen.Server{Controller: c, Control: a.control}
	return c.Keep(statefile.Dir(os.Getenv)), nil
}

// startModes begins to look at the load, and at the workers for the bypass switch.
func (a *Appliance) startModes(*conf.Config) (stop func(), err error) {
	close(a.bypass.begin)
	return background(a.modes.Run), nil
}

// enterMode makes the workers work in a mode.
func (a *Appliance) enterMode(m failopen.Mode) {
	a.inForce.Lock()
	defer a.inForce.Unlock()
	if a.stopping.Load() {
		return
	}
	a.inForce.mode = m
	a.handOver(a.config.Load())
}

// stateLine says for systemctl status what the sink does, while all is well.
func (a *Appliance) stateLine() string {
	m := a.modes.State()
	line := "forwarding"
	if m.Mode != failopen.Full.String() {
		line += ", mode " + m.Mode + ": " + m.Why
	}
	if t := a.control.State.Trial(); t != nil {
		line += ", on trial until " + t.Until.Format(time.RFC3339)
	}
	return line
}

// stuck says which worker has not polled for so long, "" while all have.
func (a *Appliance) stuck(after time.Duration) string {
	now := a.clock()
	for i, w := range a.workers {
		if late := time.Duration(now - w.Beat()); w.Beat() != 0 && late > after {
			return fmt.Sprintf("worker w%d has not polled for %v", i, after)
		}
	}
	return ""
}

// loadMeter reads how loaded the workers are. One goroutine does.
type loadMeter struct {
	a    *Appliance
	at   int64
	last []engine.Pace // of each worker
}

func newLoadMeter(a *Appliance) *loadMeter {
	return &loadMeter{a: a, last: make([]engine.Pace, len(a.workers))}
}

// read is the load since the last call.
func (l *loadMeter) read() failopen.Load {
	now := l.a.clock()
	passed := now - l.at
	var load failopen.Load
	for i, w := range l.a.workers {
		p, last := w.Snapshot().Pace, &l.last[i]
		if l.at != 0 && passed > 0 {
			load.Busy = max(load.Busy, share(p.BusyNs-last.BusyNs, passed))
			if polls := p.Polls[0] + p.Polls[1] - last.Polls[0] - last.Polls[1]; polls > 0 {
				full := p.Bursts[engine.BurstSizes-1] - last.Bursts[engine.BurstSizes-1]
				load.FullBursts = max(load.FullBursts, share(int64(full), int64(polls)))
			}
		}
		load.Gap = max(load.Gap, time.Duration(p.RecentNs))
		*last = p
	}
	l.at = now
	return load
}

// share returns part / whole, at most 1: a worker publishes its polls late, so that one period
// may get those of more than a period.
func share(part, whole int64) float64 { return min(float64(part)/float64(whole), 1) }
