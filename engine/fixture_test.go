package engine

import (
	"net/netip"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/enginetest"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// memQueue is short for a port in memory.
type memQueue = enginetest.Port

// bed is a worker between two ports in memory, with a clock that the test sets.
type bed struct {
	*Worker
	t             *testing.T
	pool, reports *mbuf.Arena
	network, host *memQueue
	ring          *ring.Ring
	now           int64
	config        WorkerConfig
	wall          int64 // by how much the wall clock has stepped
}

const unlimited = enginetest.Unlimited

func arena(t *testing.T, n int) *mbuf.Arena {
	a, err := mbuf.NewArena(n, 2304)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// allEvents are the thresholds of the documented defaults.
func allEvents() event.Policy {
	var p event.Policy
	for e := range event.NumEvents {
		switch event.Event(e) {
		case event.Sample, event.LinkLatency, event.TxUtilization, event.Congestion: // off by default
		default:
			p.Events |= event.Event(e).Set()
		}
	}
	p.Thresholds = event.Thresholds{
		NewFlowRate: 20000, Paths: 4, PathMemory: 60e9, PathRate: 10,
		Latency:      event.Deadband{Absolute: 10_000, Relative: 0.5, K: 2, N: 4, Interval: 100e6},
		EndToEnd:     event.Deadband{Absolute: 50_000, Relative: 0.5, K: 2, N: 4, Interval: 100e6},
		RefreshEvery: 2e9, RefreshJitter: 0.2,
	}
	return p
}

func newBed(t *testing.T, change func(*Rules)) *bed { return newSharedBed(t, nil, change) }

// newSharedBed is a bed whose worker shares episodes and limits with others.
func newSharedBed(t *testing.T, s *Shared, change func(*Rules)) *bed {
	b := &bed{t: t, pool: arena(t, 512), reports: arena(t, 256), ring: ring.New(64), now: 1_000_000_000}
	b.network = &memQueue{Pool: b.pool, Room: unlimited}
	b.host = &memQueue{Pool: b.pool, Room: unlimited}
	port := uint16(5000)
	r := &Rules{
		INT:        inthdr.Config{UDPPort: &port, Version2: true},
		Watches:    []watch.Watch{{Name: "all", Policy: allEvents(), Collectors: 1}},
		Collectors: []reporting.Collector{{Address: netip.MustParseAddrPort("192.0.2.10:8555"), MaxPayload: 1358}},
		Report: reporting.Rules{
			MdBits: report.MdInterfaces | report.MdHopLatency, Fragment: 128,
			MaxDelay: 1e6,
		},
	}
	if change != nil {
		change(r)
	}
	b.config = WorkerConfig{
		Links:   []burst.Link{{Name: "edge", Network: b.network, Host: b.host, NetworkID: 1, HostID: 2}},
		Outlets: []reporting.Outlet{{Ring: b.ring}}, PacketPool: b.pool, ReportPool: b.reports,
		NodeID: 3, HwID: 5, Seed: 7, Rules: r, Shared: s,
		Flows: flows.Config{Capacity: 1024, Seed: 7, IdleTimeout: 30e9},
		Clock: func() int64 { return b.now }, WallClock: func() int64 { return b.wall },
	}
	b.Worker = NewWorker(b.config)
	return b
}

// remake makes the worker anew, with another configuration.
func (b *bed) remake(change func(*WorkerConfig)) {
	b.Worker.Close()
	b.Worker.Release()
	change(&b.config)
	b.Worker = NewWorker(b.config)
}

// reload has the worker adopt its rules as change changes them.
func (b *bed) reload(change func(*Rules)) {
	r := *b.rules
	r.Watches = slices.Clone(r.Watches)
	change(&r)
	b.Reload(&r)
	b.takeOver()
}

// setBudgets gives the first collectors these budgets.
func (r *Rules) setBudgets(budgets ...reporting.Budget) {
	r.Collectors = slices.Clone(r.Collectors)
	for i := range budgets {
		r.Collectors[i].Budget = budgets[i]
	}
}

// setPayloads gives the first collectors report packets of these sizes.
func (r *Rules) setPayloads(bytes ...int) {
	for i := range bytes {
		r.Collectors[i].MaxPayload = bytes[i]
	}
}

// outlets hand over to rings.
func outlets(rings []*ring.Ring) (all []reporting.Outlet) {
	for _, r := range rings {
		all = append(all, reporting.Outlet{Ring: r})
	}
	return all
}

// step lets time pass and everything that is due happen.
func (b *bed) step(ns int64) {
	b.now += ns
	b.Tick(b.now)
}

// sealed returns the payloads of the report packets that left, and frees them.
func (b *bed) sealed() [][]byte { return enginetest.Sealed(b.ring, b.reports) }

// balance checks that counters add up and that every mbuf came home.
func (b *bed) balance() {
	b.t.Helper()
	b.Close()
	b.sealed()
	for _, l := range b.Snapshot().Links {
		for d, x := range l.Direction {
			sum := x.Forwarded
			for _, n := range x.Dropped {
				sum += n
			}
			if x.Received != sum {
				b.t.Errorf("%v: received %d, forwarded and dropped %d", burst.Direction(d), x.Received, sum)
			}
		}
	}
	if n := b.pool.InUse() + b.reports.InUse(); n != 0 {
		b.t.Errorf("%d mbufs did not come home", n)
	}
}

// Packets of package bursttest, by shorter names.
var (
	plain, withINT, byDSCP     = bursttest.Plain, bursttest.WithINT, bursttest.ByDSCP
	flowWith, sixTCP           = bursttest.FlowWith, bursttest.SixTCP
	tunnel, overIPv6, nestings = bursttest.Tunnel, bursttest.OverIPv6, bursttest.Nestings
	unhex, ipv4, udp, setECN   = bursttest.Unhex, bursttest.IPv4, bursttest.UDP, bursttest.SetECN
)
