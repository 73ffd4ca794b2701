// Appliance: everything that run consists of, in parts: start starts them in the order of their list, Stop
// stops them in reverse.

package appliance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/hook"
	"intsink/cmd/internal/notify"
	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/collectors"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/inforce"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/ports"
	"intsink/cmd/intsink/internal/upgrade"
	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/dpdk/mempool"
)

// parts are what a sink is made of, in the order in which they start: each may use those before it.
// They stop in reverse, so that all leaves that came: no packet comes any more when the exporters end,
// and nobody uses ports and memory when they go.
func (a *Appliance) parts() []start {
	first := []start{a.startDPDK, a.openPools, a.awaitTurn} // pools stop: no mbuf is missing
	if a.force.Turn != nil && a.force.Turn.Early {
		first = []start{a.awaitTurn, a.startDPDK, a.openPools}
	}
	return append(first,
		a.openPorts,
		a.startCollectors, // stops: they send what they were handed
		a.makeWorkers,
		a.startEarly,
		a.startPolling, // stops: reports that are open are handed to the exporters
		a.keepWhilePolling,
		a.startLate,
		a.startGauges,
		a.startNames,
		a.startSlots,
		a.runAll,
		a.startTrial,
	)
}

// start starts a part. stop ends it, or after an error what there is of it; nil: nothing is to be done.
type start func(*conf.Config) (stop func(), err error)

// Appliance is everything that runs between startAppliance and stop.
type Appliance struct {
	env   *part.Env // of the parts that stand by themselves
	force *inforce.Sink
	modes *failopen.Server

	wallClock   *eal.WallClock
	hugepages   bool // DPDK uses them
	pool        *mempool.Mempool
	reportPools []*mempool.Mempool // per worker
	ports       *ports.Ports
	collectors  *collectors.Collectors
	stopKeeping func() bool // ends the writing of what workers learned, as learned.Keep says
	service     service
	state       *stateFolder

	stops  []func() // of the parts that have started
	leaked error    // mbufs that are missing
}

// newAppliance makes an appliance that start starts. Reloads read path again, whose SHA-256 was sum when c was
// read. The workers begin in the mode that asks returns. turn is that of a program that took the place of another.
func newAppliance(c *conf.Config, path, sum, version string, asks func() (failopen.Asked, error), turn *upgrade.Turn) (*Appliance, error) {
	f := inforce.New(c, path)
	e := &part.Env{Version: version, Config: f.Config, Clock: eal.Nanotime, Degraded: degraded.New(time.Now, slog.Default), Announce: func(string, any) {}}
	e.Control = &control.Server{Sink: f, State: control.NewState(path, sum, time.Now()), Writes: control.NewWrites(slog.Default)}
	e.Problems = problem.New(slog.Default, func(event string, p *problem.Problem) {
		for _, x := range part.All[part.Heeds](e) {
			x.Heed(problem.Change{Event: event, Problem: p})
		}
	})
	modes, err := failopen.New(f.Config, asks, f.EnterMode, hook.Run)
	if err != nil {
		return nil, fmt.Errorf("--mode: %w", err)
	}
	f.Begin(modes.Mode())
	a := &Appliance{env: e, force: f, modes: modes, service: service{to: notify.New(os.Getenv), handsOver: func() bool { return f.Successor() != nil }}}
	f.Version, f.State, f.Problems, f.Degraded, f.Turn, f.RoomForTwo, f.Tell, f.Parts = version, e.Control.State, e.Problems, e.Degraded, turn, a.roomForTwo, a.service.tellReload, e
	f.History = confighistory.Open(statefile.Dir(os.Getenv), slog.Default)
	f.RememberStart()
	return a, nil
}

// start starts all parts. Where one fails, or ctx ends meanwhile, it stops what there is.
func (a *Appliance) start(ctx context.Context) (*Appliance, error) {
	if err := a.startParts(ctx, a.parts()); err != nil {
		return nil, errors.Join(err, a.stop())
	}
	return a, nil
}

// startParts holds what is in force: what a part asks for by then waits until the workers poll.
func (a *Appliance) startParts(ctx context.Context, parts []start) error {
	defer a.force.Hold()()
	c := a.force.Config()
	for _, begin := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		stop, err := begin(c)
		if stop != nil {
			a.stops = append(a.stops, stop)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stop ends an appliance that was running.
func (a *Appliance) Stop() error {
	err := a.stop()
	if err == nil {
		slog.Info("stopped, all mbufs returned; the process ends once the kernel has its memory back")
	}
	return err
}

// lockPatience is how long a stop waits until a configuration or mode that is being put into force is.
var lockPatience = 4 * time.Second

// stop turns the bypass switch, so that packets go around the sink while it stops, whatever hangs then. Once
// nobody changes the appliance any more, it stops the parts.
func (a *Appliance) stop() error {
	a.force.Stop()
	a.modes.Leave()
	hangs := func(what string) error { return errors.New(what + " hangs: reports that had not left are lost") }
	if !a.force.Settle(lockPatience) {
		return hangs("a reload")
	}
	if a.ports != nil && !a.ports.Settle(lockPatience) {
		return hangs("the opening of a port")
	}
	stopAll(a.stops)
	return a.leaked
}

// repeat calls do at once and then each period, on a goroutine of its own.
func repeat(period time.Duration, do func(now time.Time)) (stop func()) {
	return background(func(done <-chan struct{}) {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			do(time.Now())
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
}

// background runs do on a goroutine of its own until done is closed; stop waits for its end.
func background(do func(done <-chan struct{})) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		do(done)
	}()
	return func() { close(done); <-ended }
}
