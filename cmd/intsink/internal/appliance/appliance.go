// Appliance: Start makes everything that run consists of, in the order of dependencies;
// Stop drains it and takes it apart.

package appliance

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/hook"
	"intsink/cmd/internal/notify"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/mitigation"
	"intsink/cmd/intsink/internal/observe"
	"intsink/cmd/intsink/internal/problem"
	"intsink/cmd/intsink/internal/statefile"
	"intsink/cmd/intsink/internal/webhook"
	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/dpdk/mempool"
	"intsink/engine"
	"intsink/engine/reporting"
)

// Appliance is everything that runs between startAppliance and stop.
type Appliance struct {
	version     string
	ports       []*appliancePort
	pool        *mempool.Mempool
	reportPools []*mempool.Mempool // per worker
	workers     []*engine.Worker
	shared      *engine.Shared // by all workers
	usual       *usualKeeper   // nil: there is no state folder
	collectors  atomic.Pointer[[]*collector]
	reportPorts reportPorts
	linkNames   []string // links, then taps, as the workers index them
	clock       func() int64
	wallClock   *eal.WallClock
	gauges      []*reporting.Gauges
	portGauges  []portGauge

	path       string                      // of the configuration
	config     atomic.Pointer[conf.Config] // in force
	control    *control.Server
	mitigation *mitigation.Server
	modes      *failopen.Server
	live       *observe.Live
	problems   *problem.List
	hooks      *webhook.Hooks
	history    *confighistory.History
	source     *observe.Source
	servers    *observe.Servers
	degraded   *degraded.Parts
	names      *names        // of collectors
	inReload   sync.Mutex    // held during a reload, whose files may be on a disk that hangs; only reloads wait for it
	reloading  sync.Mutex    // held while a configuration or mode is put into force, and while stopping begins
	mode       failopen.Mode // that the workers work in; guarded by reloading
	trial      *trial        // of the configuration in force; guarded by reloading
	adopted    reading       // when the configuration in force came into it; guarded by reloading

	stopping         atomic.Bool
	bypass           bypass
	stopModes        func()
	modesRunning     sync.WaitGroup
	stopGauges       func()
	stopProblems     func()
	notifier         *notify.Notifier
	stopNotifying    func()
	readyTold        atomic.Bool // to notifier
	stopExporters    context.CancelFunc
	exportersContext context.Context // ends with stopExporters
	late             late
	retired          []*collector   // whose exporters may still be handed something
	polling          sync.WaitGroup // workers
	exporting        sync.WaitGroup // exporters
}

// newAppliance makes an appliance that start starts. Reloads read path again, whose SHA-256 was sum when c was
// read. The workers begin in mode.
func newAppliance(c *conf.Config, path, sum, version string, mode failopen.Mode) *Appliance {
	a := &Appliance{version: version, degraded: degraded.New(time.Now, slog.Default), mode: mode, notifier: notify.New(os.Getenv), adopted: reading{now: time.Now()}, path: path, clock: eal.Nanotime}
	a.config.Store(c)
	a.control = &control.Server{Sink: a, State: control.NewState(path, sum, time.Now()), Writes: control.NewWrites(slog.Default)}
	a.history = confighistory.Open(statefile.Dir(os.Getenv), slog.Default)
	a.rememberStart()
	a.hooks = webhook.New(a.sink, a.degraded, slog.Default)
	a.problems = problem.New(slog.Default, a.tellProblem)
	a.bypass.watch(a, hook.Run)
	return a
}

// start assembles the parts in the order in which they depend on each
// other: EAL, pools, ports, workers, exporters, HTTP. Where ctx ends meanwhile, it
// takes apart what there is.
func (a *Appliance) start(ctx context.Context) (*Appliance, error) {
	c := a.config.Load()
	if err := startEAL(c); err != nil {
		return nil, err
	}
	if err := keepOff(c.DPDK.Lcores); err != nil {
		return nil, err
	}
	a.wallClock = eal.NewWallClock(nil)
	steps := []func(*conf.Config) error{a.openPools, a.openPorts, a.makeWorkers, a.makeMitigation, a.makeModes, a.startGauges, a.startWorkers, a.startServing, a.startNames, a.startLate, a.startModes, a.startProblems, a.startNotifying}
	for _, step := range steps {
		err := ctx.Err()
		if err == nil {
			err = step(c)
		}
		if err != nil {
			return nil, errors.Join(err, a.release())
		}
	}
	return a, nil
}

// Stop ends an appliance that was running.
func (a *Appliance) Stop() error {
	err := a.release()
	if err == nil {
		slog.Info("stopped, all mbufs returned")
	}
	return err
}

// lockPatience is how long a stop waits until a configuration or mode that is being put into force is.
var lockPatience = 4 * time.Second

// release turns the bypass switch, so that packets go around the sink while it stops, whatever hangs then. It
// drains: workers first, so that nothing is added, then exporters, so that
// every sealed report leaves, then ports and pools. Of a start that failed there
// may be any part.
func (a *Appliance) release() error {
	a.stopping.Store(true)
	a.bypass.turn(a)
	if !lockWithin(&a.reloading, lockPatience) {
		return errors.New("a reload hangs: reports that had not left are lost")
	}
	a.reloading.Unlock() // who takes it now sees that a stops
	if a.late.retrier != nil {
		a.late.retrier.Stop()
	}
	if !lockWithin(&a.late.opening, lockPatience) {
		return errors.New("the opening of a port hangs: reports that had not left are lost")
	}
	a.late.opening.Unlock()
	if a.stopNotifying != nil {
		a.stopNotifying()
	}
	if a.stopModes != nil {
		a.stopModes()
	}
	a.notifier.Send("STOPPING=1", notify.Status("sending what is open"))
	for _, w := range a.workers {
		w.Stop()
	}
	a.polling.Wait()
	if a.mitigation != nil {
		a.mitigation.Store.Close()
	}
	if a.stopProblems != nil {
		a.stopProblems()
	}
	if a.stopGauges != nil {
		a.stopGauges()
	}
	if a.stopExporters != nil {
		a.stopExporters()
		a.exporting.Wait()
	}
	if a.names != nil {
		a.names.retrier.Stop()
	}
	if a.servers != nil {
		a.servers.Stop()
	}
	for _, p := range a.ports { // all, before any is closed: see eal.SettleInterrupts
		p.device.stop()
	}
	for _, p := range a.ports {
		p.device.close()
	}
	err := a.checkPools()
	for _, w := range a.workers {
		w.Release()
	}
	a.closeShared()
	eal.Cleanup()
	return err
}
