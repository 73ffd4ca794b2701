// Makes the Controller of modes, gives it the load of the workers, and puts its mode in force in workers.

package appliance

import (
	"os"
	"time"

	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/events"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/conf"
)

// makeModes makes what decides how much is done with packets.
func (a *Appliance) makeModes(*conf.Config) (stop func(), err error) {
	a.live = events.NewLive(a.workers)
	a.bypass.Announce = func(x failopen.SwitchChange) { a.live.Announce("bypass", x) }
	c := &failopen.Controller{
		Config: a.force.Config, Load: failopen.NewMeter(a.workers, a.clock).Read, Apply: a.force.EnterMode, Watchdog: &a.bypass.Watchdog, Wall: time.Now,
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
