package truth

import (
	"net/netip"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/flows"
)

// thresholds are p's in the engine's words. To be completed when the engine gets
// another event: its fields here are all that it takes to score it.
func thresholds(p *Policy) event.Thresholds {
	return event.Thresholds{
		NewFlowRate: int(p.NewFlowRate),
		Paths:       p.Paths, PathMemory: int64(p.PathMemory), PathRate: int(p.PathRate), ReportKnown: p.ReportECMP,
		LatencyAbsolute: uint32(p.HopLatency.Absolute), LatencyRelative: p.HopLatency.Relative,
		LatencyK: p.HopLatency.K, LatencyN: p.HopLatency.N, LatencyInterval: int64(p.HopLatency.Interval),
		RefreshEvery: int64(p.RefreshEvery), RefreshJitter: p.RefreshJitter,
	}
}

// intConfig says which packets carry INT. The domain's bit gets its role
// (sequence) here once the engine knows roles.
func intConfig() inthdr.Config {
	port := uint16(INTPort)
	d := inthdr.Domain{ID: SequenceDomain}
	d.Bits[0].Length, d.Bits[0].SourceOnly = SequenceBytes, true
	return inthdr.Config{UDPPort: &port, Version2: true, Domains: []inthdr.Domain{d}}
}

// known are the events that the engine has.
func known() (names []string) {
	for _, name := range Classes {
		if _, ok := event.Named(name); ok {
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

// queue is a port in memory: it delivers one frame and takes everything.
type port struct {
	pool *mbuf.Arena
	next []byte
}

func (q *port) RxBurst(v *mbuf.Vec) int {
	if q.next == nil || !q.pool.AllocBulk(v, 1) {
		return 0
	}
	copy(v[0].SetLen(len(q.next)), q.next)
	q.next = nil
	return 1
}

func (q *port) TxBurst(v *mbuf.Vec, n int) int {
	q.pool.FreeBulk(v, n)
	return n
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
	decoder       report.Decoder
	counted       [event.NumEvents]uint64 // Reported, when it was last looked at
}

func arena(t *testing.T, n int) *mbuf.Arena {
	a, err := mbuf.NewArena(n, 2304)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func newBed(t *testing.T, policies []Policy, capacity int) *bed {
	b := &bed{
		t: t, pool: arena(t, 64), reports: arena(t, 1<<14), ring: ring.New(1 << 14), vec: mbuf.NewVec(),
		now: Epoch, decoder: report.Decoder{INTPorts: []uint16{INTPort}},
	}
	b.network, b.host = &port{pool: b.pool}, &port{pool: b.pool}
	r := &engine.Rules{
		INT:        intConfig(),
		Collectors: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.10:8555")},
		Report: engine.ReportRules{
			MdBits: report.MdInterfaces | report.MdIngressTimestamp, Fragment: 512,
			MaxPayload: []int{1358}, MaxReports: 1,
		},
	}
	for i := range policies {
		r.Watches = append(r.Watches, engine.Watch{Name: policies[i].Name, Destination: DestinationPrefixes(i), Collectors: 1})
		r.Policies = append(r.Policies, policy(&policies[i]))
	}
	b.worker = engine.NewWorker(engine.WorkerConfig{
		Links:      []engine.Link{{Name: "edge", Network: b.network, Host: b.host, NetworkID: 1, HostID: 2}},
		Collectors: []*ring.Ring{b.ring}, PacketPool: b.pool, ReportPool: b.reports,
		NodeID: 3, HwID: 5, Seed: 7, Rules: r,
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
func (b *bed) Packet(now int64, frame []byte) []Report {
	b.now = now
	b.network.next = frame
	if n := b.worker.Poll(); n != 1 {
		b.t.Fatalf("the worker took %d packets of 1", n)
	}
	return b.take()
}

// take returns the reports that left. Which events a report is for is not in it
// without `explain`: they are those that the worker's counters tell since the last
// time, which is one report's except where a timer found several flows.
func (b *bed) take() []Report {
	var out []Report
	for n := b.ring.Pop(b.vec, mbuf.MaxBurst); n > 0; n = b.ring.Pop(b.vec, mbuf.MaxBurst) {
		for _, m := range b.vec[:n] {
			_, payload := report.TakeHandoff(m.Bytes())
			out = append(out, b.decode(payload))
		}
		b.reports.FreeBulk(b.vec, n)
	}
	if len(out) > 0 {
		b.worker.Close() // publishes the counters; the worker may go on
		b.events(out)
	}
	return out
}

func (b *bed) decode(payload []byte) Report {
	m, err := b.decoder.Decode(payload)
	if err != nil || len(m.Reports) != 1 || m.Reports[0].Inner.Flow == nil || m.Reports[0].Inner.Flow.SourcePort == nil {
		b.t.Fatalf("report %x: %v", payload, err)
	}
	x := m.Reports[0]
	at, _ := x.Metadata.Get("ingress_timestamp")
	return Report{Key: KeyOf(x.Inner.Flow.Source, *x.Inner.Flow.SourcePort), Time: int64(at), Congested: x.CongestedQueue}
}

// events gives the reports their events. Of several reports each has one: what the
// counters tell, in any order, which is exact as long as all are of one kind.
func (b *bed) events(reports []Report) {
	now := b.worker.Snapshot().Reported
	var names []string
	for e := range event.NumEvents {
		for range now[e] - b.counted[e] {
			names = append(names, event.Event(e).String())
		}
	}
	b.counted = now
	if len(reports) == 1 {
		reports[0].Events = names
		return
	}
	for i := range reports {
		if i < len(names) {
			reports[i].Events = names[i : i+1]
		}
	}
}

// close checks that the worker kept nothing and evicted nobody.
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
	if x := &c.Links[0]; x.Malformed != [inthdr.NumReasons]uint64{} {
		b.t.Errorf("malformed packets by reason: %v", x.Malformed)
	}
	if x := &c.Collectors[0]; x.Dropped != [engine.NumReportDropReasons]uint64{} {
		b.t.Errorf("reports lost by reason: %v", x.Dropped)
	}
}
