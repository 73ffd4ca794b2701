// Hands over to another program, and takes over from one: package upgrade.

package appliance

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/upgrade"
	"intsink/conf"
	"intsink/dpdk/iface"
)

// Upgrade implements control.Sink. Once the program is ready, nothing is put into force any more, and the sink stops.
func (a *Appliance) Upgrade(who string, q *control.Request) (*control.Result, error) {
	a.inReload.Lock()
	ready := false
	defer func() {
		if !ready { // else no reload is to come between
			a.inReload.Unlock()
		}
	}()
	if err := a.mayHandOver(); err != nil {
		return nil, err
	}
	own, err := upgrade.Own()
	if err != nil {
		return nil, err
	}
	info := control.Trial{Until: time.Now().UTC().Add(time.Duration(q.Confirm)), Limit: q.Limit, Tolerate: q.Tolerate, By: who, Program: a.version}
	s, err := upgrade.Start(upgrade.Next(own), upgrade.Socket(a.config.Load().HTTP.SocketPath(os.Getenv)), &upgrade.Trial{Trial: info, Early: !a.roomForTwo(), Paces: a.problems.Paces()})
	if err != nil {
		return nil, err
	}
	ready = true
	r := a.newResult(who)
	_, good := a.control.State.Last()
	r.OK, r.Generation, r.Time, r.SHA256, r.Trial = true, good.Generation, time.Now().UTC(), good.SHA256, &info
	slog.Warn("upgrade: another program takes over, on trial", "by", who, "new", s.Version, "until", info.Until.Format(time.RFC3339))
	a.successor.Store(s)
	time.AfterFunc(answerPatience, func() { close(a.ends) })
	return r, nil
}

// answerPatience is for the answer to who asked for the upgrade: the stop ends its connection.
const answerPatience = 100 * time.Millisecond

// mayHandOver says what has to be done before another program can take over.
func (a *Appliance) mayHandOver() error {
	a.inForce.Lock()
	defer a.inForce.Unlock()
	_, good := a.control.State.Last()
	note := a.restartNote(good.SHA256)
	switch {
	case a.stopping.Load() || a.successor.Load() != nil:
		return errors.New("stopping")
	case a.inForce.trial != nil:
		return errors.New(a.inForce.trial.busy() + ", and then upgrade")
	case note != "":
		return errors.New(note + " than the one in force: copy that over it (intsink config), or reload, and then upgrade")
	}
	return nil
}

// roomForTwo tells whether another process can have its memory while this one has its own, and nothing but packets stands on the ports:
// a NIC of DPDK is one process's.
func (a *Appliance) roomForTwo() bool {
	c := a.config.Load()
	if slices.ContainsFunc(c.Ports, func(p conf.Port) bool { return p.IsPCI() }) {
		return false
	}
	args, warnings, err := ealArgs(c)
	return err == nil && len(warnings) == 0 && slices.Contains(args, "--no-huge") == !a.hugepages && residentMiB() < AvailableMiB()
}

// awaitTurn waits where another program is to hand over, with what was asked of that until then.
func (a *Appliance) awaitTurn(*conf.Config) (stop func(), err error) {
	if a.turn == nil {
		return nil, nil
	}
	if err := a.turn.Wait(a.version); err != nil {
		return nil, err
	}
	a.state.claim()
	a.state.tell(a.degraded)
	a.begin, err = a.beginAgain()
	a.inForce.mode = a.begin.Mode
	return nil, err
}

// giveTurn lets the successor begin as soon as nothing of this sink polls or writes files any more: ports of the kernel take two
// processes, and closing them takes a while.
func (a *Appliance) giveTurn(c *conf.Config) {
	s := a.successor.Load()
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
	if e := upgrade.WentBack(os.Getenv); e != nil {
		a.control.State.WentBack(e)
		slog.Error("upgrade: undone", "new", e.Tried, "why", e.Why)
	}
	if a.turn == nil {
		return nil, nil
	}
	now := time.Now()
	first := reading{now: now}
	t := &trial{info: a.turn.Trial.Trial, done: make(chan struct{}), mark: a.problems.Mark(now).Before(a.turn.Paces), first: first}
	_, t.of = a.control.State.Last()
	a.inForce.trial = t
	a.control.State.BeginTrial(t.info)
	slog.Warn("upgrade: this program is on trial, the one before it comes back unless intsink confirm comes", "version", a.version, "until", t.info.Until.Format(time.RFC3339), "back", t.info.Program)
	go a.watchTrial(t)
	go func() {
		a.turn.Follow(a.kept)
		a.inForce.Lock()
		defer a.inForce.Unlock()
		if a.inForce.trial == t && !a.stopping.Load() {
			a.leave(t, control.TrialCrashed, "the program before it has gone, which watched over it")
		}
	}()
	return nil, nil
}

// kept ends the trial of this program, which who has confirmed to the one before it. It returns what is worse than before.
func (a *Appliance) kept(who string) (worse []string) {
	a.inForce.Lock()
	defer a.inForce.Unlock()
	if t := a.inForce.trial; t != nil && t.was == nil && !a.stopping.Load() {
		return a.confirmed(t, who).Worse
	}
	return nil
}

// leave ends the trial of this program: it stops, and the one before it comes back. The caller holds a.inForce.
func (a *Appliance) leave(t *trial, end control.TrialEnd, why string) *control.Result {
	slog.Error("upgrade: the trial has ended, the program before this one comes back", "why", why, "back", t.info.Program)
	e := &control.EndedTrial{Trial: t.info, Tried: a.version, End: end, Why: why, Time: time.Now().UTC()}
	a.turn.GoBack(e)
	a.control.State.EndTrial(end, why, e.Time)
	close(a.ends)
	r := a.newResult(endOfTrial + why)
	_, good := a.control.State.Last()
	r.OK, r.Time, r.Generation, r.SHA256 = true, e.Time, good.Generation, good.SHA256
	return r
}
