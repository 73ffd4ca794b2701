// Builds one worker per lcore with its links, outlets, gauges and seeds.

package appliance

import (
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"os"
	"sync"
	"time"

	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/learned"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/engine"
	"intsink/engine/burst"
	"intsink/engine/series"
	"intsink/engine/usual"
)

// makeWorkers builds one worker per lcore, and what all of them share.
func (a *Appliance) makeWorkers(c *conf.Config) (stop func(), err error) {
	loopClock, err := eal.MonotonicOffset()
	if err != nil {
		return nil, err
	}
	common := a.force.Rules(c)
	shared := engine.NewShared(len(c.Links)+len(c.Taps), randomSeed())
	a.env.State, a.env.Instance = statefile.Dir(os.Getenv), instance(os.Getenv, slog.Default())
	ran, last := learned.Keep(a.env.State, a.env.Instance, ofUsual(shared.Usual()), ofHistory(shared.Series()))
	a.stopKeeping = sync.OnceValue(last)
	if isWarm(ran, time.Now()) {
		shared.Warm(a.env.Clock())
	}
	for w := range c.DPDK.Lcores {
		config := a.workerConfig(c, w, shared)
		config.Instance = a.env.Instance
		config.Outlets, config.LoopClock, config.Rules = a.collectors.Outlets(w), loopClock, common
		a.env.Workers = append(a.env.Workers, engine.NewWorker(config))
	}
	a.force.Workers = a.env.Workers
	for _, w := range a.env.Workers {
		w.PassAll(a.force.PassesAll())
	}
	return func() {
		for _, w := range a.env.Workers {
			w.Release()
		}
		if a.stopKeeping() {
			shared.Close()
		}
	}, nil
}

// ofUsual and ofHistory are what is kept of what workers learn.
func ofUsual(u *usual.Usual) learned.File {
	return learned.File{
		Name: "usual", Version: 3, What: "what is usual in the network", Every: 5 * time.Minute, Oldest: 7 * 24 * time.Hour,
		Encode: func(int64) []byte { return u.Encode() }, Decode: u.Decode,
	}
}

func ofHistory(p *series.Places) learned.File {
	return learned.File{
		Name: "history", Version: 1, What: "the history of queues, hops, segments and paths", Every: time.Minute, Oldest: series.Minutes * time.Minute,
		Encode: func(int64) []byte { return p.Encode() }, Decode: p.Decode,
	}
}

// warmWithin is for how long a sink may have written nothing, and still have run a moment ago: it writes each minute, and a
// service that is started again, or a machine, takes its time.
const warmWithin = 3 * time.Minute

// isWarm reports whether a sink that last wrote at ran, and starts now, ran a moment ago. A clock that a reboot has put back
// to when it was last saved is a little behind.
func isWarm(ran, now time.Time) bool { return now.Sub(ran).Abs() < warmWithin }

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
		Clock:      a.env.Clock,
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
			NetworkStation: a.collectors.StationOf(l.Network, stations), HostStation: a.collectors.StationOf(l.Host, stations), Droppable: l.Mitigation,
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
