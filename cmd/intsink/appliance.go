package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/intsink/internal/observe"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mempool"
	"intsink/engine"
)

// appliance is everything that runs between startAppliance and stop.
type appliance struct {
	ports          []appliancePort
	pool           *mempool.Mempool
	reportPools    []*mempool.Mempool // per worker
	workers        []*engine.Worker
	exporters      []observe.Exporter // per collector
	reportPorts    reportPorts
	linkNames      []string // links, then taps, as the workers index them
	collectorNames []string
	clock          func() int64
	gauges         []*engine.Gauges
	portGauges     []portGauge

	stopping      atomic.Bool
	stopHTTP      func()
	stopGauges    func()
	stopExporters context.CancelFunc
	polling       sync.WaitGroup // workers
	exporting     sync.WaitGroup // exporters
}

type appliancePort struct {
	name string
	eth  ethdev.Port
}

// startAppliance assembles the parts in the order in which they depend on each
// other: EAL, pools, ports, workers, exporters, HTTP. Where ctx ends meanwhile, it
// takes apart what there is.
func startAppliance(ctx context.Context, c *conf.Config) (*appliance, error) {
	if err := startEAL(c); err != nil {
		return nil, err
	}
	if err := keepOff(c.DPDK.Lcores); err != nil {
		return nil, err
	}
	a := &appliance{collectorNames: rules.CollectorNames(c), clock: eal.Nanotime}
	steps := []func(*conf.Config) error{a.openPools, a.openPorts, a.makeWorkers, a.startGauges, a.startWorkers, a.startServing}
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

// keepOff leaves the workers' CPUs to them: exporters, HTTP and garbage collection
// run on the others.
func keepOff(lcores []int) error {
	ok, err := eal.Confine(lcores)
	if err != nil {
		return fmt.Errorf("keep other threads off the CPUs of dpdk.lcores: %w", err)
	}
	if !ok {
		slog.Warn("every CPU has a worker: exporters and HTTP take their time from packets; leave one CPU out of dpdk.lcores")
	}
	return nil
}

// openPools makes one packet pool for all ports and one report pool per worker.
func (a *appliance) openPools(c *conf.Config) (err error) {
	if a.pool, err = mempool.New("packets", c.DPDK.Mbufs, conf.MbufCache, conf.MbufRoom, mempool.AnySocket); err != nil {
		return fmt.Errorf("dpdk.mbufs = %d: %w", c.DPDK.Mbufs, err)
	}
	for w := range c.DPDK.Lcores {
		name := fmt.Sprintf("reports-w%d", w)
		p, err := mempool.New(name, conf.ReportMbufs, 0, rules.ReportRoom(c), mempool.AnySocket)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.reportPools = append(a.reportPools, p)
	}
	return nil
}

// openPorts attaches, configures and starts every port of the configuration.
func (a *appliance) openPorts(c *conf.Config) error {
	for i := range c.Ports {
		p := &c.Ports[i]
		eth, err := ethdev.Attach(p.Device)
		if err != nil {
			return fmt.Errorf("port %q: %w", p.Name, err)
		}
		a.ports = append(a.ports, appliancePort{p.Name, eth})
		queues := uint16(len(c.DPDK.Lcores))
		err = eth.Configure(ethdev.Config{
			RxQueues: queues, TxQueues: queues, RxDesc: p.RxDesc, TxDesc: p.TxDesc, MTU: p.MTU,
			SymmetricRSS: queues > 1, Pools: []*mempool.Mempool{a.pool},
		})
		if err == nil {
			err = eth.Start()
		}
		if err != nil {
			return fmt.Errorf("port %q (%s): %w", p.Name, p.Device, err)
		}
		eth.Promiscuous()
	}
	return nil
}

func (a *appliance) port(name string) ethdev.Port {
	for _, p := range a.ports {
		if p.name == name {
			return p.eth
		}
	}
	return ethdev.Port{} // conf has checked that every name exists
}

// startWorkers runs one polling goroutine per lcore, and waits until each has
// its thread.
func (a *appliance) startWorkers(c *conf.Config) error {
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), len(a.workers)+1))
	started := make(chan error)
	for i, w := range a.workers {
		a.polling.Add(1)
		go a.poll(w, c.DPDK.Lcores[i], c.DPDK.IdleSleep, started)
	}
	var errs []error
	for range a.workers {
		errs = append(errs, <-started)
	}
	return errors.Join(errs...)
}

// poll is the life of a worker's thread: pinned, known to DPDK, and gone with
// the worker.
func (a *appliance) poll(w *engine.Worker, lcore int, idleSleep time.Duration, started chan<- error) {
	defer a.polling.Done()
	runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
	err := errors.Join(eal.PinThread(lcore), eal.RegisterThread())
	started <- err
	if err != nil {
		return
	}
	defer eal.UnregisterThread()
	w.Run(idler(idleSleep))
}

// idler returns what a worker does after empty polls: nothing, or sleep once
// there was nothing to do for a while.
func idler(sleep time.Duration) func(int) {
	if sleep <= 0 {
		return func(int) {}
	}
	return func(empty int) {
		if empty > idlePolls {
			time.Sleep(sleep)
		}
	}
}

// idlePolls empty polls in a row, well under a millisecond, make a worker idle.
const idlePolls = 1000

// stop ends an appliance that was running.
func (a *appliance) stop() error {
	err := a.release()
	if err == nil {
		slog.Info("stopped, all mbufs returned")
	}
	return err
}

// release drains: workers first, so that nothing is added, then exporters, so that
// every sealed report leaves, then ports and pools. Of a start that failed there
// may be any part.
func (a *appliance) release() error {
	a.stopping.Store(true)
	for _, w := range a.workers {
		w.Stop()
	}
	a.polling.Wait()
	if a.stopGauges != nil {
		a.stopGauges()
	}
	if a.stopExporters != nil {
		a.stopExporters()
		a.exporting.Wait()
	}
	if a.stopHTTP != nil {
		a.stopHTTP()
	}
	for _, p := range a.ports {
		p.eth.Stop()
		p.eth.Close()
	}
	err := a.checkPools()
	for _, w := range a.workers {
		w.Release()
	}
	eal.Cleanup()
	return err
}

// checkPools reports mbufs that did not come back: a leak would stop the
// appliance some day.
func (a *appliance) checkPools() error {
	leaked := 0
	if a.pool != nil {
		leaked = a.pool.InUse()
	}
	for _, p := range a.reportPools {
		leaked += p.InUse()
	}
	if leaked != 0 {
		return fmt.Errorf("%d mbufs did not return to their pools", leaked)
	}
	return nil
}
