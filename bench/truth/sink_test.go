package truth

import (
	"net/netip"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/exporters/record"
	"intsink/exporters/record/recordtest"
	"intsink/flows"
)

// thresholds returns the thresholds of p as the engine has them.
func thresholds(p *Policy) event.Thresholds {
	return event.Thresholds{
		NewFlowRate: int(p.NewFlowRate),
		Paths:       p.Paths, PathMemory: int64(p.PathMemory), PathRate: int(p.PathRate), ReportKnown: p.ReportECMP,
		Latency: band(&p.HopLatency), EndToEnd: band(&p.EndToEnd), LinkLatency: band(&p.LinkLatency),
		PTP: p.PTP, ClockOffset: int64(p.ClockOffset),
		CongestionRaise: uint32(p.CongestionRaise), CongestionClear: uint32(p.CongestionClear),
		CongestionLatency: uint32(p.CongestionRaiseLatency),
		CongestionQuota:   p.CongestionQuota, CongestionTimeout: int64(p.CongestionTimeout),
		TxRaise: uint32(p.TxRaise), TxClear: uint32(p.TxClear), TxHold: int64(p.TxHold),
		LossWindow: p.LossWindow, LossTimeout: int64(p.LossTimeout), LossInterval: int64(p.LossInterval),
		DropInterval:  int64(p.DropInterval),
		HopLimitRearm: int64(p.HopLimitRearm), MTURearm: int64(p.MTURearm),
		RefreshEvery: int64(p.RefreshEvery), RefreshJitter: p.RefreshJitter, RefreshMost: int64(p.RefreshMost),
	}
}

func band(l *Latency) event.Deadband {
	return event.Deadband{Absolute: uint32(l.Absolute), Relative: l.Relative, K: l.K, N: l.N, Interval: int64(l.Interval)}
}

// intConfig returns which packets carry INT, and which word of the domain's metadata is a sequence
// number.
func intConfig() inthdr.Config {
	port := uint16(INTPort)
	d := inthdr.Domain{ID: SequenceDomain}
	d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = SequenceBytes, true, inthdr.Sequence
	return inthdr.Config{UDPPort: &port, Version2: true, Domains: []inthdr.Domain{d}}
}

// unknownTo returns the model's events that the engine does not have.
func unknownTo() (names []string) {
	for _, name := range Classes {
		if _, ok := event.Named(name); !ok {
			names = append(names, name)
		}
	}
	return names
}

func policy(p *Policy) event.Policy {
	out := event.Policy{Sample: uint32(p.Sample), SampleByFlow: p.SampleByFlow, Thresholds: thresholds(p)}
	for _, name := range p.Events {
		if e, ok := event.Named(name); ok && name != Sample {
			out.Events |= e.Set()
		}
	}
	return out
}

// port is a port in memory: it delivers the next frames, and takes every packet or none.
type port struct {
	pool    *mbuf.Arena
	next    [][]byte
	refuses bool
}

func (q *port) RxBurst(v *mbuf.Vec) int {
	n := len(q.next)
	if n == 0 || !q.pool.AllocBulk(v, n) {
		return 0
	}
	for i, frame := range q.next {
		copy(v[i].SetLen(len(frame)), frame)
	}
	q.next = nil
	return n
}

func (q *port) TxBurst(v *mbuf.Vec, n int) int {
	if q.refuses {
		return 0
	}
	q.pool.FreeBulk(v, n)
	return n
}

func (q *port) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), q.RxBurst(rx)
}

// bed is a worker with a virtual clock. Each report leaves at once in a packet of
// its own.
type bed struct {
	t             *testing.T
	worker        *engine.Worker
	pool, reports *mbuf.Arena
	network, host *port
	ring          *ring.Ring
	vec           *mbuf.Vec
	now           int64
	often         func()
	packets       int
}

func arena(t *testing.T, n int) *mbuf.Arena {
	a, err := mbuf.NewArena(n, 2304)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func newBed(t *testing.T, policies []Policy, capacity int, dropUnsound bool) *bed {
	r := &engine.Rules{
		INT:           intConfig(),
		DropMalformed: dropUnsound,
		DropInterval:  int64(policies[0].DropInterval),
		Collectors:    []reporting.Collector{{Address: netip.MustParseAddrPort("192.0.2.10:8555"), MaxPayload: 1358}},
		Report: reporting.Rules{
			MdBits: report.MdInterfaces | report.MdIngressTimestamp, Fragment: 400, Explain: true,
			MaxReports: 1,
		},
	}
	for i := range policies {
		r.Watches = append(r.Watches, watch.Watch{Name: policies[i].Name, Match: watch.Match{Destination: DestinationPrefixes(i)}, Policy: policy(&policies[i]), Collectors: 1})
	}
	return newBedOf(t, r, nil, 5, capacity)
}

// newBedOf returns a bed with a worker that shares with others of the sink; shared is nil: it is alone.
func newBedOf(t *testing.T, r *engine.Rules, shared *engine.Shared, hwID uint8, capacity int) *bed {
	b := &bed{
		t: t, pool: arena(t, 256), reports: arena(t, 1<<14), ring: ring.New(1 << 14), vec: mbuf.NewVec(),
		now: Epoch,
	}
	b.network, b.host = &port{pool: b.pool}, &port{pool: b.pool}
	b.worker = engine.NewWorker(engine.WorkerConfig{
		Links:   []burst.Link{{Name: "edge", Network: b.network, Host: b.host, NetworkID: 1, HostID: 2}},
		Outlets: []reporting.Outlet{{Ring: b.ring}}, Shared: shared, PacketPool: b.pool, ReportPool: b.reports,
		NodeID: 3, HwID: hwID, Seed: 7, Rules: r,
		Flows: flows.Config{Capacity: capacity, Seed: 7, IdleTimeout: int64(IdleTimeout)},
		Clock: func() int64 { return b.now },
	})
	t.Cleanup(b.worker.Release)
	return b
}

// Advance implements Sink.
func (b *bed) Advance(now int64) []Report {
	b.now = now
	b.worker.Tick(now)
	return b.take()
}

// Packet implements Sink.
func (b *bed) Packet(k *Packet, frame []byte) []Report {
	b.now = k.Time
	if b.packets++; b.packets%(1<<18) == 0 {
		b.often()
	}
	b.host.refuses = k.Refused
	if k.FromHost {
		b.host.next = [][]byte{frame}
	} else {
		b.network.next = [][]byte{frame}
	}
	if n := b.worker.Poll(); n != 1 {
		b.t.Fatalf("the worker took %d packets of 1", n)
	}
	return b.take()
}

// take returns the reports that the worker has sent.
func (b *bed) take() []Report {
	var out []Report
	for n := b.ring.Pop(b.vec, mbuf.MaxBurst); n > 0; n = b.ring.Pop(b.vec, mbuf.MaxBurst) {
		for _, m := range b.vec[:n] {
			_, payload := report.TakeHandoff(m.Bytes())
			out = append(out, b.decode(payload))
		}
		b.reports.FreeBulk(b.vec, n)
	}
	return out
}

func (b *bed) decode(payload []byte) Report {
	m := recordtest.Decode(b.t, payload)
	if len(m.Reports) != 1 || !m.Reports[0].Has(record.KnownPorts|record.KnownExplanation) {
		b.t.Fatalf("report %x", payload)
	}
	x := &m.Reports[0]
	return Report{
		Key: KeyOf(x.Source.String(), x.SourcePort), Time: int64(x.Raw.Own.IngressTime), Events: x.Names(),
		Congested: x.Congested, Dropped: x.Dropped, Tracked: x.Tracked, Drops: x.Drops,
	}
}

// close checks that the worker has freed every mbuf and has evicted no flow.
func (b *bed) close() {
	b.worker.Close()
	b.take()
	c := b.worker.Snapshot()
	if n := b.pool.InUse() + b.reports.InUse(); n != 0 {
		b.t.Errorf("%d mbufs did not come home", n)
	}
	if c.Evictions != 0 {
		b.t.Errorf("%d flows were evicted: the table is too small for this trace", c.Evictions)
	}
	for reason, n := range c.Links[0].Malformed {
		if r := inthdr.Reason(reason); n > 0 && r != inthdr.ReasonType && r != inthdr.ReasonUnknownDomain {
			b.t.Errorf("%d packets are malformed: %v", n, r)
		}
	}
	if x := &c.Collectors[0]; x.Dropped != [reporting.NumDropReasons]uint64{} {
		b.t.Errorf("reports lost by reason: %v", x.Dropped)
	}
}
