// Appliance: everything that run consists of, in parts: start starts them in the order of their list, Stop
// stops them in reverse.

package appliance

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/hook"
	"intsink/cmd/internal/notify"
	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/collectors"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/events"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/inforce"
	"intsink/cmd/intsink/internal/observe"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/ports"
	"intsink/cmd/intsink/internal/upgrade"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/dpdk/mempool"
	"intsink/engine"
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
		a.startFeatures,
		a.makeModes,
		a.startPolling, // stops: reports that are open are handed to the exporters
		a.keepWhilePolling,
		a.startServing, // what is served may take a while to read: packets pass meanwhile
		a.startGauges,
		a.startNames,
		a.startSlots,
		a.startModes,
		a.startProblems,
		a.startNotifying, // stops: systemd knows that the sink stops
		a.startTrial,
	)
}

// start starts a part. stop ends it, or after an error what there is of it; nil: nothing is to be done.
type start func(*conf.Config) (stop func(), err error)

// Appliance is everything that runs between startAppliance and stop.
type Appliance struct {
	version   string
	force     *inforce.Sink
	clock     func() int64
	wallClock *eal.WallClock

	pool        *mempool.Mempool
	reportPools []*mempool.Mempool // per worker
	ports       *ports.Ports
	collectors  *collectors.Collectors
	workers     []*engine.Worker
	stopKeeping func() bool // ends the writing of what workers learned, as keepLearned says

	control  *control.Server
	features []part.Part
	modes    *failopen.Server
	live     *events.Live
	problems *problem.List
	hooks    *webhook.Hooks
	vitals   *vitals.Server
	watch    func(done <-chan struct{}) // looks each second at what is wrong
	servers  *observe.Servers
	degraded *degraded.Parts
	service  service

	begin      failopen.Asked                 // the mode that the sink begins in
	hugepages  bool                           // DPDK uses them
	beginAgain func() (failopen.Asked, error) // begin, as it is when another program hands over
	bypass     bypass
	state      *stateFolder

	stops  []func() // of the parts that have started
	leaked error    // mbufs that are missing
}

// newAppliance makes an appliance that start starts. Reloads read path again, whose SHA-256 was sum when c was
// read. The workers begin in the mode of begin. turn is that of a program that took the place of another.
func newAppliance(c *conf.Config, path, sum, version string, begin failopen.Asked, turn *upgrade.Turn) *Appliance {
	a := &Appliance{version: version, force: inforce.New(c, path, begin.Mode), degraded: degraded.New(time.Now, slog.Default), service: service{to: notify.New(os.Getenv)}, clock: eal.Nanotime, begin: begin}
	a.control = &control.Server{Sink: a.force, State: control.NewState(path, sum, time.Now()), Writes: control.NewWrites(slog.Default)}
	a.hooks = webhook.New(a.sink, a.degraded, slog.Default)
	a.problems = problem.New(slog.Default, a.tellProblem)
	f := a.force
	f.Version, f.State, f.Problems, f.Degraded, f.Turn, f.RoomForTwo, f.Tell = version, a.control.State, a.problems, a.degraded, turn, a.roomForTwo, a.service.tellReload
	f.History = confighistory.Open(statefile.Dir(os.Getenv), slog.Default)
	f.RememberStart()
	a.bypass.watch(f.Config, func(after time.Duration) string { return failopen.Stuck(a.workers, a.clock(), after) }, hook.Run)
	return a
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
	a.bypass.turn()
	hangs := func(what string) error { return errors.New(what + " hangs: reports that had not left are lost") }
	if !a.force.Settle(lockPatience) {
		return hangs("a reload")
	}
	if a.ports != nil && !a.ports.Settle(lockPatience) {
		return hangs("the opening of a port")
	}
	for _, stop := range slices.Backward(a.stops) {
		stop()
	}
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
