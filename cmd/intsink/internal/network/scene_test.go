package network_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/events"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/incident"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/aside/inspect"
	"intsink/engine/burst"
	"intsink/engine/enginetest"
	"intsink/engine/reporting"
	"intsink/engine/series"
	"intsink/engine/wire/intgen"
)

// scene is a network of 3 leaves, 4 spines and 2 leaves, whose 60 flows pass a sink without any threshold configured, on a
// clock that the test sets: 1650 packets a second, latencies and queues with 30 % of jitter.
type scene struct {
	t       *testing.T
	now     atomic.Int64
	random  *rand.Rand
	bitmap  uint16
	workers []*engine.Worker
	ports   []*enginetest.Port // network, of each worker
	rings   []*ring.Ring
	reports *mbuf.Arena
	network *network.Watcher
	live    *events.Live
	api     *flowapi.API
	mux     *http.ServeMux
	told    []string // begins, turns and ends of problems
	last    map[string]*problem.Problem
	sources [61]*intgen.Flow

	slow, fill, move bool
	absent           func(flow int) bool          // has not begun yet; nil: none
	cut              int                          // flow whose INT is cut; 0: none
	drift            float64                      // of all latencies, times
	line             func(from, to uint32) uint32 // what a packet takes longer between two nodes, ns; nil: nothing
}

const perSecond = 1650

// sceneConfig has no threshold.
const sceneConfig = `
node { id = 7 }
dpdk { lcores = "1" }
port "a" { device = "net_null0" }
port "b" { device = "net_null1" }
link "edge" {
  network = "a"
  host    = "b"
}
int { udp_port = 5000 }
watch "all" {}
collector "c" { address = "192.0.2.10:8555" }
flows { capacity = 16384 } # hours pass here: each second costs a round over the table
`

func newScene(t *testing.T, workers int, bitmap uint16) *scene {
	t.Helper()
	c, d := conf.Parse("scene.hcl", []byte(sceneConfig))
	if c == nil {
		t.Fatal(d.Err())
	}
	s := &scene{t: t, bitmap: bitmap, random: rand.New(rand.NewPCG(1, uint64(bitmap))), last: map[string]*problem.Problem{}, drift: 1}
	s.now.Store(time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC).UnixNano())
	pool, err := mbuf.NewArena(512, 2304)
	if err != nil {
		t.Fatal(err)
	}
	if s.reports, err = mbuf.NewArena(512, 2304); err != nil {
		t.Fatal(err)
	}
	shared := engine.NewShared(1, 9)
	for range workers {
		port, r := enginetest.NewPort(pool), ring.New(256)
		w := engine.NewWorker(engine.WorkerConfig{
			Links:   []burst.Link{{Name: "edge", Network: port, Host: enginetest.NewPort(pool), NetworkID: 1, HostID: 2}},
			Outlets: []reporting.Outlet{{Ring: r}}, PacketPool: pool, ReportPool: s.reports, NodeID: 7, Seed: 9, Shared: shared,
			Rules: rules.Of(c), Flows: rules.Flows(c, 9), Clock: s.now.Load,
		})
		s.workers, s.ports, s.rings = append(s.workers, w), append(s.ports, port), append(s.rings, r)
	}
	t.Cleanup(func() {
		for _, w := range s.workers {
			w.Release()
		}
		shared.Close()
	})
	list := problem.New(func() *slog.Logger { return slog.New(slog.DiscardHandler) }, s.tell)
	s.live, s.api, s.mux = events.NewLive(s.workers), flowapi.New(s.workers, s.now.Load), http.NewServeMux()
	s.network = &network.Watcher{Network: network.New(), Workers: s.workers, Clock: s.now.Load, Problems: list}
	s.live.Observe(network.Wanted, s.network.Observe)
	s.api.Counts, s.api.Problems = series.NewCounts(), list.All
	s.api.Seen, s.api.Changes, s.api.Silent = s.network.Seen, s.network.EachChange, s.network.EachSilent
	s.api.Page = func(x *flowapi.Incident, format string) string { return incident.Page(x, format, nil) }
	s.api.RegisterShared(s.mux)
	return s
}

func (s *scene) tell(event string, p *problem.Problem) {
	s.told = append(s.told, fmt.Sprintf("%s %s %s", event, p.Kind, p.Where()))
	s.last[string(p.Kind)] = p
}

func (s *scene) jitter(x float64) uint32 { return uint32(x * (0.7 + 0.6*s.random.Float64())) }

// packet is one of a flow: from its leaf by a spine to the other leaf, and there through one of ten queues. Flow 60 is the
// one that fills a queue.
func (s *scene) packet(flow int) []byte {
	leaf, spine, last := uint32(101+flow%3), uint32(201+flow/3%4), uint32(301+flow%2)
	egress, queue := uint16(11+flow/2%5), uint8(flow/10%2+1)
	if flow == 60 {
		leaf, spine, last, egress, queue = 101, 201, 302, 15, 2
	}
	if s.move && spine == 203 {
		spine = 204
	}
	hops := []intgen.Hop{ // newest first
		{NodeID: last, Ingress: uint16(spine % 100), Egress: egress, QueueID: queue, LatencyNs: s.jitter(1800 * s.drift), QueueOccupancy: s.jitter(85)},
		{NodeID: spine, Ingress: uint16(leaf % 100), Egress: uint16(last % 100), QueueID: 0, LatencyNs: s.jitter(5000 * s.drift), QueueOccupancy: s.jitter(20)},
		{NodeID: leaf, Ingress: uint16(10 + flow), Egress: uint16(spine % 100), QueueID: 0, LatencyNs: s.jitter(1700 * s.drift), QueueOccupancy: s.jitter(20)},
	}
	if s.slow && spine == 202 {
		hops[1].LatencyNs += 300_000
	}
	if s.fill && last == 302 && egress == 15 && queue == 2 {
		hops[0].LatencyNs += 1_700_000
		hops[0].QueueOccupancy = s.jitter(10_000)
	}
	at := uint64(s.now.Load()) - 3_000_000
	for i := len(hops) - 1; i >= 0; i-- {
		hops[i].IngressTimestamp = at
		at += uint64(hops[i].LatencyNs)
		hops[i].EgressTimestamp = at
		if at += uint64(s.jitter(700)); i > 0 && s.line != nil {
			at += uint64(s.line(hops[i].NodeID, hops[i-1].NodeID))
		}
	}
	f := s.sources[flow]
	if f == nil {
		f = &intgen.Flow{Src: netip.AddrFrom4([4]byte{10, byte(flow % 3), 0, byte(flow + 1)}), Dst: netip.AddrFrom4([4]byte{10, 9, byte(flow % 2), byte(flow + 1)}), Proto: intgen.UDP, SrcPort: uint16(1000 + flow), DstPort: 80}
		s.sources[flow] = f
	}
	size := 100
	if flow == 60 {
		size = 1400
	}
	frame, err := (&intgen.Source{UDPPort: 5000, Bitmap: s.bitmap, MaxHops: 8, MTUExceeded: flow != 0 && flow == s.cut}).Insert(f.Frame(size, 1), hops)
	if err != nil {
		s.t.Fatal(err)
	}
	return frame
}

// pass lets so many seconds pass, with a share of the packets, and looks each second at what is wrong; each fifth where it
// is long.
func (s *scene) pass(seconds int, share float64) {
	s.t.Helper()
	const step = 10_000_000
	due, every := 0.0, 100
	if seconds > 10 {
		every = 500
	}
	for i := range seconds * 100 {
		s.now.Add(step)
		for due += perSecond * share / 100; due >= 1; due-- {
			if flow := s.random.IntN(60); s.absent == nil || !s.absent(flow) {
				s.deliver(flow)
			}
			if s.fill {
				s.deliver(60)
			}
		}
		s.poll()
		if i%every == every-1 {
			s.look()
		}
	}
}

func (s *scene) deliver(flow int) {
	p := s.ports[flow%len(s.ports)]
	p.RX = append(p.RX, s.packet(flow))
}

func (s *scene) poll() {
	for i, w := range s.workers {
		for len(s.ports[i].RX) > 0 {
			w.Poll()
		}
		w.Tick(s.now.Load())
		enginetest.Sealed(s.rings[i], s.reports)
	}
}

// look is what the sink does each second, while its workers answer.
func (s *scene) look() {
	s.live.Sweep()
	known := s.network.Known()
	var questions []*inspect.PendingQuery
	for _, w := range s.workers {
		q := &inspect.PendingQuery{Query: inspect.New(network.What, 0)}
		for w.Questions.Ask(q); !q.Done(); w.Tick(s.now.Add(1_000_000)) {
		}
		questions = append(questions, q)
	}
	s.network.Judge(questions, known)
}

// quiet fails where anything was told since the last call.
func (s *scene) quiet(when string) {
	s.t.Helper()
	if len(s.told) > 0 {
		s.t.Errorf("%s: %q", when, s.told)
	}
	s.told = nil
}

// onlyTold fails where something else was told since the last call.
func (s *scene) onlyTold(when string, want ...string) {
	s.t.Helper()
	if !slices.Equal(s.told, want) {
		s.t.Errorf("%s: %q, want %q", when, s.told, want)
	}
	s.told = nil
}

// TestScene: after five calm minutes, a spine that gets slow, a queue that fills and a spine that dies are each one problem
// within 2 s, of the right kind, at the right place, with the right culprit; they last as long as the fault, and end with it.
func TestScene(t *testing.T) {
	for _, c := range []struct {
		workers int
		bitmap  uint16
	}{{1, 0xfd00}, {2, 0x9000}} {
		t.Run(fmt.Sprintf("%d workers, bitmap %04x", c.workers, c.bitmap), func(t *testing.T) {
			s := newScene(t, c.workers, c.bitmap)
			s.pass(295, 0.1)
			s.pass(5, 1)
			s.quiet("calm")
			s.testSlow()
			s.testFill()
			s.testMove()
			s.pass(60, 0.1)
			s.quiet("calm again")
		})
	}
}

func (s *scene) testSlow() {
	s.t.Helper()
	s.slow = true
	s.pass(2, 1)
	if s.bitmap&0x2000 == 0 { // nobody tells latencies
		s.pass(60, 0.1)
		s.quiet("slow, without latencies")
		s.slow = false
		return
	}
	s.onlyTold("slow", "begin slow_hop node 202")
	p := s.last["slow_hop"]
	if p == nil || *p.Value < 280_000 || *p.Value > 330_000 || p.Usual == nil || *p.Usual < 4000 || *p.Usual > 6000 || len(p.Evidence.Flows) == 0 || !strings.Contains(p.Amount(), " x its usual ") {
		s.t.Errorf("slow: %+v", p)
	}
	s.pass(600, 0.05)
	s.quiet("slow for ten minutes")
	s.slow = false
	s.pass(8, 1)
	s.onlyTold("slow no longer", "end slow_hop node 202")
	s.pass(60, 0.1)
	s.quiet("after slow")
}

func (s *scene) testFill() {
	s.t.Helper()
	place := "node 302, egress 15, queue 2"
	if s.bitmap&0x4000 == 0 {
		place = "node 302, queue 2"
	}
	s.fill = true
	s.pass(2, 1)
	s.onlyTold("fill", "begin queue_congested "+place)
	p := s.last["queue_congested"]
	if p == nil || p.Usual == nil || len(p.Evidence.Culprits) == 0 || p.Evidence.Culprits[0].Flow != "udp:10.0.0.61:1060-10.9.0.61:80" || p.Evidence.Episode == 0 {
		s.t.Errorf("fill: %+v", p)
	} else if s.bitmap&0x2000 != 0 && len(p.Evidence.Victims) == 0 {
		s.t.Errorf("fill: nobody waits")
	}
	s.pass(600, 0.05)
	s.quiet("fill for ten minutes")
	s.fill = false
	s.pass(8, 1)
	s.onlyTold("fill no longer", "end queue_congested "+place)
	s.pass(60, 0.1)
	s.quiet("after fill")
}

func (s *scene) testMove() {
	s.t.Helper()
	s.move = true
	s.pass(2, 1)
	s.onlyTold("move", "begin path_changed node 203")
	s.pass(600, 0.05)
	s.onlyTold("move for ten minutes", "turn node_gone node 203")
	s.move = false
	s.pass(8, 1)
	s.onlyTold("move no longer", "end node_gone node 203")
	s.pass(60, 0.1)
	s.quiet("after move")
}

// TestCalm: an hour of traffic with jitter, whose latencies become three times as long and go back, is no problem.
func TestCalm(t *testing.T) {
	s := newScene(t, 1, 0xfd00)
	for m := range 60 {
		s.drift = 2 - float64(abs(m-30))/30
		s.drift = 1 + 2*(s.drift-1)
		s.pass(60, 0.1)
	}
	s.quiet("an hour")
}

func abs(x int) int { return max(x, -x) }

// TestLineThatFlaps: a line that is slow for some seconds again and again is one problem, and so are the lines of a node.
func TestLineThatFlaps(t *testing.T) {
	for _, c := range []struct {
		slow, well int
		is         func(from, to uint32) bool
		place      string
	}{
		{3, 2, func(from, to uint32) bool { return from == 101 && to == 202 }, "between node 101 and node 202"},
		{4, 10, func(from, to uint32) bool { return from == 101 && to == 202 }, "between node 101 and node 202"},
		{4, 3, func(from, to uint32) bool { return from == 202 || to == 202 }, "node 202"},
	} {
		s := newScene(t, 1, 0xfd00)
		s.pass(120, 0.5)
		s.quiet("calm")
		for range 6 {
			s.line = func(from, to uint32) uint32 {
				if !c.is(from, to) {
					return 0
				}
				return 400_000
			}
			s.pass(c.slow, 1)
			s.line = nil
			s.pass(c.well, 1)
		}
		s.pass(10, 1)
		begins := 1
		if c.well > 5 {
			begins = 6
		}
		var want []string
		for range begins {
			want = append(want, "begin slow_segment "+c.place, "end slow_segment "+c.place)
		}
		if s.onlyTold(c.place, want...); begins > 1 && (s.last["slow_segment"] == nil || s.last["slow_segment"].Times != begins) {
			t.Errorf("%+v", s.last["slow_segment"])
		}
	}
}
