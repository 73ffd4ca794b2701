//go:build linux && amd64

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"runtime"

	"intsink/bench/internal/traffic"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/aside/capture"
	"intsink/engine/aside/inspect"
	"intsink/engine/aside/mitigate"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/flows"
)

const (
	warmBursts = 500  // all flows are known after 16
	calmBursts = 4000 // have more samples than a median needs, usual.Few
	burstNs    = 6400

	recorderBytes = 1 << 20 // so little that reported packets have had their share before they are counted
)

// memPort delivers the packets that fill prepared, and keeps what is sent.
type memPort struct {
	mbufs     *mbuf.Vec
	frames    [][]byte
	originals [][]byte
	next      int
}

// make makes the frames.
func (p *memPort) make(t traffic.Spec) error {
	m, err := traffic.New(t)
	if err != nil {
		return err
	}
	p.originals, p.frames, p.next = nil, nil, 0
	for i := range t.Frames {
		original, frame, err := m.Frame(i)
		if err != nil {
			return err
		}
		p.originals, p.frames = append(p.originals, original), append(p.frames, frame)
	}
	return nil
}

// fill puts the next frames into the mbufs.
func (p *memPort) fill() {
	for i, m := range p.mbufs {
		f := p.frames[(p.next+i)%len(p.frames)]
		m.Reset(128)
		copy(m.SetLen(len(f)), f)
	}
	p.next += len(p.mbufs)
}

func (p *memPort) RxBurst(v *mbuf.Vec) int {
	*v = *p.mbufs
	return len(v)
}

func (p *memPort) TxBurst(_ *mbuf.Vec, n int) int { return n }

func (p *memPort) Exchange(_ *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return n, p.RxBurst(rx)
}

// verify compares what the worker left in the mbufs with the originals.
func (p *memPort) verify(stripped bool) error {
	for i, m := range p.mbufs {
		n := (p.next - len(p.mbufs) + i) % len(p.frames)
		want := p.frames[n]
		if stripped {
			want = p.originals[n]
		}
		if !bytes.Equal(m.Bytes(), want) {
			return fmt.Errorf("frame %d leaves the worker as\n%x, want\n%x", n, m.Bytes(), want)
		}
	}
	return nil
}

// lasting is a pool whose packets are never taken back: the port uses them again.
type lasting struct{ *mbuf.Arena }

func (lasting) FreeBulk(*mbuf.Vec, int) {}

// quiet is a port that receives no packets.
type quiet struct{ *memPort }

func (quiet) RxBurst(*mbuf.Vec) int { return 0 }

func (quiet) Exchange(_ *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) { return n, 0 }

// marker is where the parent counts from and to: an int3, always the same.
//
//go:noinline
func marker() { runtime.Breakpoint() }

// runChild is the process that is counted. It ends by being killed.
func runChild(name string) error {
	picked, err := rowsNamed(name)
	if err != nil {
		return err
	}
	s, err := newScene(&picked[0])
	if err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	s.now += s.row.pause
	marker() // from here on no other thread runs
	for range cmp.Or(s.row.warm, warmBursts) {
		s.burst(false)
	}
	s.passSample()
	for range picked[0].counted() {
		s.burst(true)
	}
	return errors.New("nobody counts: -child is for this program itself")
}

// passSample runs until a packet was taken as a sample of the network, where that ever happens: there is none in the next 50 us.
// Whether one falls into so few bursts is chance, and it costs as much as 20 packets.
func (s *scene) passSample() {
	samples := func() uint64 {
		s.worker.Publish()
		c := s.worker.Snapshot()
		return c.Detector.HopLatencies.Sum
	}
	for before, n := samples(), 0; n < mostBetween && samples() == before; n++ {
		s.burst(false)
	}
	for range 3 { // what comes behind it is known again
		s.burst(false)
	}
}

// mostBetween is within how many bursts there is a sample that tells a latency, if ever: they are at most 150 us apart. With the
// three behind it that is 32: one packet in 1024, in 16 bursts, has its checksum verified, and it is not one of those counted.
const mostBetween = 29

// scene is a worker between two ports in memory.
type scene struct {
	row     *row
	worker  *engine.Worker
	port    *memPort
	reports *mbuf.Arena
	ring    *ring.Ring
	popped  *mbuf.Vec
	now     int64
	notices []inspect.Notice // of the feed, where a page is open
	capture *capture.Capture // nil: none runs
	taken   int              // packets that were read from it
}

func newScene(r *row) (*scene, error) {
	s := &scene{row: r, ring: ring.New(1024), popped: mbuf.NewVec(), now: 1e9, port: &memPort{mbufs: mbuf.NewVec()}}
	packets, err := mbuf.NewArena(mbuf.MaxBurst, 128+max(2048, r.traffic.Size))
	if err != nil {
		return nil, err
	}
	if s.reports, err = mbuf.NewArena(2048, 128+2048); err != nil {
		return nil, err
	}
	if !packets.AllocBulk(s.port.mbufs, mbuf.MaxBurst) {
		return nil, errors.New("no mbufs")
	}
	if err := s.port.make(r.traffic); err != nil {
		return nil, err
	}
	rules := referenceRules()
	if r.rules != nil {
		r.rules(rules)
	}
	links := []burst.Link{{Name: "edge", Network: s.port, Host: quiet{s.port}, NetworkID: 1, HostID: 2, Droppable: r.mitigations != nil}}
	for i := 1; i < r.links; i++ {
		links = append(links, burst.Link{Name: fmt.Sprint("quiet", i), Network: quiet{s.port}, Host: quiet{s.port}, NetworkID: uint16(2*i + 1), HostID: uint16(2*i + 2)})
	}
	s.worker = engine.NewWorker(engine.WorkerConfig{
		Links:   links,
		Outlets: []reporting.Outlet{{Ring: s.ring}}, PacketPool: lasting{packets}, ReportPool: s.reports,
		NodeID: 1, Seed: 7, Rules: rules, Clock: func() int64 { return s.now }, Recorder: cmp.Or(r.recorder, recorderBytes),
		Flows: flows.Config{Capacity: cmp.Or(r.places, 65536), Seed: 7, IdleTimeout: 30e9},
	})
	if r.parse {
		s.worker.ParseAll()
	}
	if s.worker.Questions.Feed.Want(0); r.page {
		s.worker.Questions.Feed.Want(event.AllEvents)
	}
	s.begin()
	return s, nil
}

// begin has the worker begin what an operator has asked for.
func (s *scene) begin() {
	r := s.row
	if r.mitigations == nil && r.capture == nil {
		return
	}
	if r.mitigations != nil {
		engine.AsideOf[*mitigate.Aside](s.worker).Mitigate(mitigate.New(r.mitigations))
	}
	if r.capture != nil {
		s.capture = capture.New(*r.capture, math.MaxInt64, 1e9, 4<<20)
		s.worker.Captures.Capture(s.capture)
	}
	s.worker.Tick(s.now + 1e6)
}

// referenceRules returns the documented defaults with INT on a UDP port.
func referenceRules() *engine.Rules {
	port := uint16(traffic.UDPPort)
	p := event.Policy{Thresholds: event.Thresholds{
		NewFlowRate: 20000, Paths: 4, PathMemory: 60e9, PathRate: 10,
		Latency:          event.Deadband{Absolute: 10_000, Relative: 0.5, K: 2, N: 4, Interval: 100e6},
		EndToEnd:         event.Deadband{Absolute: 50_000, Relative: 0.5, K: 2, N: 4, Interval: 100e6},
		CongestionFactor: 8, CongestionLatency: 100_000, CongestionQuota: 32, CongestionTimeout: 1e9,
		RefreshEvery: 2e9, RefreshJitter: 0.2,
	}}
	for e := range event.NumEvents {
		switch event.Event(e) {
		case event.Sample, event.LinkLatency, event.TxUtilization: // off
		default:
			p.Events |= event.Event(e).Set()
		}
	}
	return &engine.Rules{
		INT:        inthdr.Config{UDPPort: &port, Version2: true},
		Watches:    []watch.Watch{{Name: "all", Policy: p, Collectors: 1}},
		Collectors: []reporting.Collector{{Address: netip.MustParseAddrPort("192.0.2.10:8555"), MaxPayload: 1358}},
		Report: reporting.Rules{
			MdBits:   report.MdInterfaces | report.MdHopLatency | report.MdIngressTimestamp | report.MdEgressTimestamp,
			Fragment: 128, MaxDelay: 1e6,
		},
	}
}

// check takes one round of the frames through the worker: a worker that leaves
// INT in, or reports nothing where it should, is not counted.
func (s *scene) check() error {
	if s.row.traffic.Full {
		if err := s.calm(); err != nil {
			return err
		}
	}
	for range (len(s.port.frames) + mbuf.MaxBurst - 1) / mbuf.MaxBurst {
		s.burst(false)
		if err := s.port.verify(!s.row.plain && !s.row.drops); err != nil {
			return err
		}
	}
	s.now += 1e7
	s.worker.Tick(s.now) // publishes
	s.drain()
	reports := s.worker.Snapshot().Collectors[0].Reports
	if (s.row.plain || s.row.silent) != (reports == 0) { // at least one of each new flow
		return fmt.Errorf("%d reports", reports)
	}
	if open := s.worker.Episodes().Totals().Open; s.row.traffic.Full != (open > 0) {
		return fmt.Errorf("%d episodes of queues", open)
	}
	if wanted := s.row.name == "capture1"; wanted != (s.taken > 0) {
		return fmt.Errorf("%d packets were captured", s.taken)
	}
	return nil
}

// calm has the worker learn what is usual before a queue is full: nothing is slow where nobody knows that. It takes a minute,
// and samples of it.
func (s *scene) calm() error {
	calm := s.row.traffic
	calm.Full = false
	if err := s.port.make(calm); err != nil {
		return err
	}
	for i := range 2 * calmBursts {
		if i == calmBursts {
			s.now += 60e9
		}
		s.burst(false)
	}
	return s.port.make(s.row.traffic)
}

// burst takes one burst through the worker, between two markers if counted.
func (s *scene) burst(counted bool) {
	s.port.fill()
	s.now += burstNs
	if counted {
		marker()
	}
	s.worker.Poll()
	s.worker.Tick(s.now)
	if counted {
		marker()
	}
	s.drain()
}

// drain is the exporter, which takes report packets and frees them, and the reader of the
// page's events and of the capture.
func (s *scene) drain() {
	if s.capture != nil {
		for r := (capture.Record{}); s.capture.Next(&r); s.taken++ {
			s.capture.Done()
		}
	}
	s.notices, _ = s.worker.Questions.Feed.Take(s.notices[:0], 2*mbuf.MaxBurst)
	for {
		n := s.ring.Pop(s.popped, mbuf.MaxBurst)
		if n == 0 {
			return
		}
		s.reports.FreeBulk(s.popped, n)
	}
}
