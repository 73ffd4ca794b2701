// Builds one worker per lcore with its links, outlets, gauges and seeds.

package appliance

import (
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"os"
	"sync"
	"time"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/engine"
	"intsink/engine/burst"
)

// makeWorkers builds one worker per lcore, and what all of them share.
func (a *Appliance) makeWorkers(c *conf.Config) (stop func(), err error) {
	loopClock, err := eal.MonotonicOffset()
	if err != nil {
		return nil, err
	}
	common := a.force.Rules(c)
	shared := engine.NewShared(len(c.Links)+len(c.Taps), randomSeed())
	number := instance(os.Getenv, slog.Default())
	ran, last := keepLearned(os.Getenv, number, learnedUsual(shared.Usual()), learnedHistory(shared.Series()))
	a.stopKeeping = sync.OnceValue(last)
	if isWarm(ran, time.Now()) {
		shared.Warm(a.clock())
	}
	for w := range c.DPDK.Lcores {
		config := a.workerConfig(c, w, shared)
		config.Instance = number
		config.Outlets, config.LoopClock, config.Rules = a.collectors.Outlets(w), loopClock, common
		a.workers = append(a.workers, engine.NewWorker(config))
	}
	a.force.Workers = a.workers
	for _, w := range a.workers {
		w.PassAll(a.force.PassesAll())
	}
	return func() {
		for _, w := range a.workers {
			w.Release()
		}
		if a.stopKeeping() {
			shared.Close()
		}
	}, nil
}

// keepWhilePolling has what workers learned written a last time while packets still pass: a disk takes its time.
func (a *Appliance) keepWhilePolling(*conf.Config) (stop func(), err error) {
	return func() { a.stopKeeping() }, nil
}

// workerConfig is what worker w is made of, but for what all workers have from outside.
func (a *Appliance) workerConfig(c *conf.Config, w int, shared *engine.Shared) engine.WorkerConfig {
	seed, stations := randomSeed(), a.collectors.Stations(w)
	return engine.WorkerConfig{
		Links:      a.linksOf(c, w, stations),
		Shared:     shared,
		Stations:   stations,
		PacketPool: a.pool,
		ReportPool: a.reportPools[w],
		NodeID:     c.Node.ID,
		HwID:       rules.HwID(c, w),
		QueueID:    uint8(w),
		Flows:      rules.Flows(c, seed),
		Seed:       seed,
		Recorder:   int(c.Recorder.Memory),
		Clock:      a.clock,
		WallClock:  a.wallClock.Offset,
	}
}

// linksOf returns worker w's queues of every link, then of every tap.
func (a *Appliance) linksOf(c *conf.Config, w int, stations []burst.Station) []burst.Link {
	var links []burst.Link
	queue := func(port string) burst.Queue { return a.ports.Named(port).Queue(w) }
	for _, l := range c.Links {
		links = append(links, burst.Link{
			Name: l.Name, Network: queue(l.Network), Host: queue(l.Host),
			NetworkID: rules.PortID(c, l.Network), HostID: rules.PortID(c, l.Host), Gauges: a.ports.Gauges(l.Network, l.Host, w),
			NetworkStation: a.collectors.StationOf(l.Network, stations), HostStation: a.collectors.StationOf(l.Host, stations), Mitigation: l.Mitigation,
		})
	}
	for _, t := range c.Taps {
		links = append(links, burst.Link{Name: t.Name, Network: queue(t.Port), NetworkID: rules.PortID(c, t.Port), Gauges: a.ports.Gauges(t.Port, "", w)})
	}
	return links
}

// randomSeed keys a worker's hashes, so that nobody outside can aim at its
// buckets.
func randomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return binary.NativeEndian.Uint64(b[:])
}
