// Runs one polling goroutine per lcore: locks and pins its thread, registers it with DPDK,
// polls, sleeps where idle.

package appliance

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/dpdk/iface"
	"intsink/engine"
)

// startPolling runs one polling goroutine per lcore, and waits until each has
// its thread.
func (a *Appliance) startPolling(c *conf.Config) (stop func(), err error) {
	claimCPUs(c.DPDK.Lcores)
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), len(a.env.Workers)+othersAtOnce))
	started := make(chan error)
	var polling sync.WaitGroup
	for i, w := range a.env.Workers {
		polling.Go(func() { poll(w, c.DPDK.Lcores[i], c.DPDK.IdleSleep, started) })
	}
	var errs []error
	for range a.env.Workers {
		errs = append(errs, <-started)
	}
	return func() {
		for _, w := range a.env.Workers {
			w.Stop()
		}
		polling.Wait()
	}, errors.Join(errs...)
}

// othersAtOnce is how many goroutines besides the workers may run at the same time, whatever the number of CPUs.
// While a worker is in C the Go scheduler may let another goroutine run in its place (sysmon in package
// runtime), and when the worker comes back to Go it needs a place again: it stops polling until one is
// free. With 1, clients of the API that do not read their answers brought 100 gaps of 100 us a second; with 16
// they bring some 15, with 64 as many.
const othersAtOnce = 16

// poll is the life of a worker's thread: pinned, known to DPDK, and gone with
// the worker.
func poll(w *engine.Worker, lcore int, idleSleep time.Duration, started chan<- error) {
	runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
	err := errors.Join(eal.PinThread(lcore), eal.SharpenSleep(), eal.RegisterThread())
	started <- err
	if err != nil {
		return
	}
	defer eal.UnregisterThread()
	w.Run(idler(idleSleep))
}

// idler returns what a worker does when there was nothing to do for a while: nothing, or sleep.
func idler(sleep time.Duration) engine.Idle {
	if sleep <= 0 {
		return engine.Idle{}
	}
	return engine.Idle{After: idlePolls, Sleep: func() { eal.Sleep(sleep) }}
}

// idlePolls empty polls in a row, well under a millisecond, make a worker idle.
const idlePolls = 1000

// keepOff leaves the workers' CPUs to them: exporters, HTTP and garbage collection
// run on the others. There they go before other processes where that is allowed: a worker
// waits for them now and then (eal.Hasten).
func keepOff(lcores []int) error {
	ok, err := eal.Confine(lcores)
	if err != nil {
		return fmt.Errorf("keep other threads off the CPUs of dpdk.lcores: %w", err)
	}
	if !ok {
		slog.Warn("every CPU has a worker: exporters and HTTP take their time from packets; leave one CPU out of dpdk.lcores")
	}
	if _, err := eal.Hasten(); err != nil {
		return fmt.Errorf("set the nice value of the sink's threads: %w", err)
	}
	return nil
}

// claimCPUs tells of a CPU that another sink polls on, which halves both: their default is the same. A
// claim ends with the process.
func claimCPUs(lcores []int) {
	for _, cpu := range lcores {
		_, holder, err := iface.Claim(fmt.Sprintf("cpu/%d", cpu))
		switch {
		case err != nil:
			slog.Warn("whether another sink polls on a CPU is not known", "cpu", cpu, "err", err)
		case holder != "":
			slog.Warn("another sink polls on this CPU: each gets half of it, and both lose packets; give them different dpdk.lcores", "cpu", cpu, "sink", holder)
		}
	}
}
