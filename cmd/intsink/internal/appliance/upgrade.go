// Hands over to another program, and takes over from one: package upgrade.

package appliance

import (
	"log/slog"
	"slices"

	"intsink/conf"
	"intsink/dpdk/iface"
)

// roomForTwo tells whether another process can have its memory while this one has its own, and nothing but packets stands on the ports:
// a NIC of DPDK is one process's.
func (a *Appliance) roomForTwo() bool {
	c := a.force.Config()
	if slices.ContainsFunc(c.Ports, func(p conf.Port) bool { return p.IsPCI() }) {
		return false
	}
	args, warnings, err := ealArgs(c)
	return err == nil && len(warnings) == 0 && slices.Contains(args, "--no-huge") == !a.hugepages && residentMiB() < AvailableMiB()
}

// awaitTurn waits where another program is to hand over, with what was asked of that until then.
func (a *Appliance) awaitTurn(*conf.Config) (stop func(), err error) {
	if a.force.Turn == nil {
		return nil, nil
	}
	if err := a.force.Turn.Wait(a.env.Version); err != nil {
		return nil, err
	}
	a.state.claim()
	a.state.tell(a.env.Degraded)
	mode, err := a.modes.BeginAgain()
	a.force.Begin(mode)
	return nil, err
}

// giveTurn lets the successor begin as soon as nothing of this sink polls or writes files any more: ports of the kernel take two
// processes, and closing them takes a while.
func (a *Appliance) giveTurn(c *conf.Config) {
	s := a.force.Successor()
	if s == nil || slices.ContainsFunc(c.Ports, func(p conf.Port) bool { _, kernel := p.Kernel(); return !kernel }) {
		return
	}
	iface.ReleaseAll()
	a.state.leave()
	s.Go()
}

// stopFor stops the sink for another program, which is to have all that it claims. Packet memory that is missing goes with the process.
func (a *Appliance) stopFor() error {
	err := a.stop()
	if err != nil && err == a.leaked {
		slog.Error("stopped", "err", err)
		err = nil
	}
	iface.ReleaseAll()
	return err
}

// startTrial puts a program that took the place of another on trial.
func (a *Appliance) startTrial(*conf.Config) (stop func(), err error) {
	a.force.StartTrial()
	return nil, nil
}
