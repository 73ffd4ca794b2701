package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/exporters/udp"
)

// exportRing is how many sealed report packets one worker can be ahead of one
// exporter. A power of two.
const exportRing = 1024

// makeWorkers builds one worker per lcore, one exporter per collector, and
// between each pair a ring, or a sender where reports leave by a port.
func (a *appliance) makeWorkers(c *conf.Config) error {
	if err := a.makeReportPorts(c); err != nil {
		return err
	}
	common := rules.Of(c)
	rings := make([][]*ring.Ring, len(c.Collectors)) // [collector][worker]
	buckets := make([]*engine.Bucket, len(c.Collectors))
	for i := range buckets {
		buckets[i] = engine.NewBucket()
	}
	for w := range c.DPDK.Lcores {
		var mine []*ring.Ring
		for col := range c.Collectors {
			r := ring.New(exportRing)
			rings[col] = append(rings[col], r)
			mine = append(mine, r)
		}
		seed, stations := randomSeed(), a.stations(w)
		a.workers = append(a.workers, engine.NewWorker(engine.WorkerConfig{
			Links:      a.linksOf(c, w, stations),
			Collectors: mine,
			Buckets:    buckets,
			Senders:    a.senders(c, w),
			Stations:   stations,
			PacketPool: a.pool,
			ReportPool: a.reportPools[w],
			NodeID:     c.Node.ID,
			HwID:       rules.HwID(c, w),
			QueueID:    uint8(w),
			Flows:      rules.Flows(c, seed),
			Seed:       seed,
			Clock:      a.clock,
			Rules:      common,
		}))
	}
	a.startExporters(c, rings)
	return nil
}

// linksOf returns worker w's queues of every link, then of every tap.
func (a *appliance) linksOf(c *conf.Config, w int, stations []engine.Station) []engine.Link {
	var links []engine.Link
	a.linkNames = nil
	queue := func(port string) engine.Queue { return a.port(port).Queue(uint16(w)) }
	for _, l := range c.Links {
		links = append(links, engine.Link{
			Name: l.Name, Network: queue(l.Network), Host: queue(l.Host),
			NetworkID: rules.PortID(c, l.Network), HostID: rules.PortID(c, l.Host), Gauges: a.makeGauges(l.Network, l.Host, w),
			NetworkStation: a.stationOf(l.Network, stations), HostStation: a.stationOf(l.Host, stations),
		})
		a.linkNames = append(a.linkNames, l.Name)
	}
	for _, t := range c.Taps {
		links = append(links, engine.Link{Name: t.Name, Network: queue(t.Port), NetworkID: rules.PortID(c, t.Port), Gauges: a.makeGauges(t.Port, "", w)})
		a.linkNames = append(a.linkNames, t.Name)
	}
	return links
}

func (a *appliance) startExporters(c *conf.Config, rings [][]*ring.Ring) {
	ctx, cancel := context.WithCancel(context.Background())
	a.stopExporters = cancel
	modes := map[string]udp.PortMode{"any": udp.PortAny, "fixed": udp.PortFixed, "hash": udp.PortHash}
	for i := range c.Collectors {
		col := &c.Collectors[i]
		if e := a.reportPorts.exporters[i]; e != nil {
			a.exporters = append(a.exporters, e)
			continue
		}
		e := udp.New(udp.Config{
			Collector: col.Address, Source: col.Source,
			PortMode: modes[col.SourcePortMode], SourcePort: col.SourcePort,
			Rings: rings[i], Pool: a.pool,
		})
		a.exporters = append(a.exporters, e)
		a.exporting.Add(1)
		go func() {
			defer a.exporting.Done()
			e.Run(ctx)
		}()
	}
}

// randomSeed keys a worker's hashes, so that nobody outside can aim at its
// buckets.
func randomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return binary.NativeEndian.Uint64(b[:])
}
