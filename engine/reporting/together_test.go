package reporting

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/flows"

	"github.com/google/go-cmp/cmp"
)

// side is a Reporter to two collectors; the second may have a budget. sent has the report packets
// that it sealed.
type side struct {
	*Reporter
	rings [2]*ring.Ring
	pool  *mbuf.Arena
	count Counters
	flows [mbuf.MaxBurst]*flows.Flow
	sent  [2][][]byte // whole mbufs: with their report.Handoff
}

func newSide(t *testing.T, rules Rules, mbufs int, payload int, budget Budget) *side {
	t.Helper()
	pool, err := mbuf.NewArena(mbufs, 2304)
	if err != nil {
		t.Fatal(err)
	}
	s := &side{pool: pool, rings: [2]*ring.Ring{ring.New(256), ring.New(256)}, count: Counters{Collectors: make([]CollectorCounters, 2)}}
	to := []Collector{{Name: "a", MaxPayload: payload}, {Name: "b", MaxPayload: payload, Budget: budget}}
	s.Reporter = New(&Config{Outlets: []Outlet{{Ring: s.rings[0]}, {Ring: s.rings[1]}}, Pool: pool, NodeID: 3, HwID: 5, Counters: &s.count}, &rules, to)
	s.provided = report.MdInterfaces | report.MdHopLatency
	for j := range s.flows {
		s.flows[j] = &flows.Flow{}
		for range j % 3 {
			s.flows[j].Count(100)
		}
		if j%4 == 3 {
			s.flows[j].Cold().Suppressed = uint32(j)
		}
	}
	return s
}

// drain copies sealed report packets into sent, and gives their mbufs back.
func (s *side) drain() {
	v := mbuf.NewVec()
	for c, r := range s.rings {
		for n := r.Pop(v, mbuf.MaxBurst); n > 0; n = r.Pop(v, mbuf.MaxBurst) {
			for _, m := range v[:n] {
				s.sent[c] = append(s.sent[c], append([]byte(nil), m.Bytes()...))
			}
			s.pool.FreeBulk(v, n)
		}
	}
}

// TestTogetherIsOneByOne: a run reported together gives the same report packets, byte by byte, and the
// same counters as each of its reports alone; within budgets, with too few mbufs, and where a packet does not fit.
func TestTogetherIsOneByOne(t *testing.T) {
	md := uint16(report.MdInterfaces | report.MdHopLatency)
	for _, c := range []struct {
		name    string
		rules   Rules
		mbufs   int
		payload int
		budget  Budget
	}{
		{"no budget", Rules{MdBits: md, MaxDelay: 1e6}, 256, 1358, Budget{}},
		{"explained", Rules{MdBits: md, MaxDelay: 1e6, Explain: true}, 256, 1358, Budget{}},
		{"three to a packet", Rules{MdBits: md, MaxDelay: 1e6, MaxReports: 3}, 256, 1358, Budget{}},
		{"format 1.0", Rules{Format: report.Format10, MdBits: md, MaxDelay: 1e6}, 256, 1358, Budget{}},
		{"fragments are cut", Rules{MdBits: md, MaxDelay: 1e6}, 256, 120, Budget{}},
		{"fragments are cut under a budget", Rules{MdBits: md, MaxDelay: 1e6}, 256, 120, Budget{Packets: 400, Burst: 50e6, Headers: testHeaders}},
		{"fragments are cut under a budget of bits", Rules{MdBits: md, MaxDelay: 1e6}, 256, 120, Budget{Bits: 1e6, Burst: 50e6, Headers: testHeaders}},
		{"packets", Rules{MdBits: md, MaxDelay: 1e6}, 256, 1358, Budget{Packets: 100, Burst: 50e6, Headers: testHeaders}},
		{"bits", Rules{MdBits: md, MaxDelay: 1e6, Explain: true}, 256, 1358, Budget{Bits: 2e6, Burst: 10e6, Headers: testHeaders}},
		{"bits, large burst", Rules{MdBits: md, MaxDelay: 1e6}, 256, 1358, Budget{Bits: 1e6, Burst: 200e6, Headers: testHeaders}},
		{"few mbufs", Rules{MdBits: md, MaxDelay: 1e6, MaxReports: 1}, 40, 1358, Budget{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			together := newSide(t, c.rules, c.mbufs, c.payload, c.budget)
			alone := newSide(t, c.rules, c.mbufs, c.payload, c.budget)
			alone.WithoutTemplates()
			r := rand.New(rand.NewPCG(5, 6))
			sets := []event.Set{event.NewFlow.Set(), event.Refresh.Set(), event.Congestion.Set() | event.HopLatency.Set(), event.Refresh.Set() | event.Sample.Set()}
			now := int64(1e9)
			for range 60 {
				p := randomRun(r, sets[r.IntN(len(sets))])
				one := *p
				p.Flows, one.Flows = &together.flows, &alone.flows
				if c.mbufs < 64 { // with two collectors, another report of a run finds no mbuf where they take turns
					p.Collectors, one.Collectors = 1, 1
				}
				if alone.Together(&one, now) || !together.Together(p, now) {
					t.Fatal("a template where there is to be none, or none")
				}
				for k := range p.N {
					j := p.Number[k]
					alone.Report(&Subject{
						Set: p.Set, Priority: p.Priority, Collectors: p.Collectors, Flow: alone.flows[j], Entropy: uint16(p.Hashes[j]),
						Info: p.Info, InType: p.InType, Inner: p.Inner[k], Trigger: p.Triggers[j],
					}, now)
				}
				if now += r.Int64N(3e6); r.IntN(2) == 0 {
					together.Expire(now)
					alone.Expire(now)
				}
				if c.mbufs > 64 || r.IntN(2) == 0 {
					together.drain()
					alone.drain()
				}
			}
			for _, s := range []*side{together, alone} {
				s.Close(now)
				if s.drain(); s.pool.InUse() != 0 {
					t.Errorf("%d mbufs did not come home", s.pool.InUse())
				}
			}
			if len(alone.sent[0]) == 0 || len(alone.sent[1]) == 0 && c.mbufs > 64 {
				t.Fatal("nothing was sent")
			}
			for n := range alone.sent {
				if !slices.EqualFunc(alone.sent[n], together.sent[n], bytes.Equal) {
					t.Errorf("collector %d gets %d report packets one by one, %d together, or other bytes", n, len(alone.sent[n]), len(together.sent[n]))
				}
			}
			same := func(what string, want, got any) {
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s (-one by one, +together):\n%.2000s", what, d)
				}
			}
			same("counters", alone.count, together.count)
			same("refreshes", [2]uint32{alone.refreshes.sent, alone.refreshes.shed}, [2]uint32{together.refreshes.sent, together.refreshes.shed})
			for j := range alone.flows {
				same(fmt.Sprint("shed of flow ", j), alone.flows[j].Cold().Shed, together.flows[j].Cold().Shed)
			}
		})
	}
}

// TestCountOfARun: a report that no collector got counts as shed, in its flow, too. A refresh that
// one of two collectors did not get counts as shed.
func TestCountOfARun(t *testing.T) {
	for _, c := range []struct {
		name       string
		sent, shed uint64
		lost       [3]uint32 // of the flows of packets 0 to 2
		refreshes  [2]uint32 // sent, shed
	}{
		{"all sent", 7, 0, [3]uint32{}, [2]uint32{3, 0}},
		{"the first shed", 6, 1, [3]uint32{1, 0, 0}, [2]uint32{2, 1}},
		{"all but the first shed", 1, 6, [3]uint32{0, 1, 1}, [2]uint32{1, 2}},
		{"shed of one collector alone", 7, 5, [3]uint32{}, [2]uint32{1, 2}},
		{"dropped, not shed", 3, 0, [3]uint32{}, [2]uint32{3, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSide(t, Rules{}, 64, 1358, Budget{})
			p := &Run{Set: event.Refresh.Set() | event.Sample.Set(), N: 3, Number: [mbuf.MaxBurst]uint8{0, 12, 8}, Flows: &s.flows}
			s.Reporter.count(p, c.sent, c.shed)
			shed := uint64(c.lost[0] + c.lost[1] + c.lost[2])
			for e := range event.NumEvents {
				reported, lost := uint64(0), uint64(0)
				if p.Set.Has(e) {
					reported, lost = uint64(bits.OnesCount64(c.sent)), shed
				}
				if s.counters.Reported[e] != reported || s.counters.Shed[e] != lost {
					t.Errorf("%v: %d reported, %d shed; want %d, %d", e, s.counters.Reported[e], s.counters.Shed[e], reported, lost)
				}
			}
			for k, want := range c.lost {
				if got := s.flows[p.Number[k]].Cold().Shed; got != want {
					t.Errorf("flow of packet %d: %d shed, want %d", k, got, want)
				}
			}
			if got := [2]uint32{s.refreshes.sent, s.refreshes.shed}; got != c.refreshes {
				t.Errorf("refreshes %d, want %d", got, c.refreshes)
			}
		})
	}
}

// TestShortestOfARun: of its own packets only, not of those that an earlier run has left behind them.
func TestShortestOfARun(t *testing.T) {
	p := &Run{}
	for k, n := range []int{60, 40, 50, 20} {
		p.Inner[k] = make([]byte, n)
	}
	for n, want := range []int{1: 60, 2: 40, 3: 40, 4: 20} {
		if p.N = n; n > 0 && p.shortest() != want {
			t.Errorf("of %d packets: %d, want %d", n, p.shortest(), want)
		}
	}
}

// randomRun returns a run of packets. Their reports show 40 to 128 bytes of each.
func randomRun(r *rand.Rand, set event.Set) *Run {
	p := &Run{Set: set, Priority: event.Priority(r.IntN(int(event.NumPriorities))), Collectors: uint64(1 + r.IntN(3)), Info: &inthdr.Info{DomainID: uint16(r.IntN(2))}, InType: report.IPv4}
	p.Hashes, p.Triggers = new([mbuf.MaxBurst]uint64), new([mbuf.MaxBurst]event.Trigger)
	for j := range p.Hashes {
		p.Hashes[j], p.Triggers[j] = r.Uint64(), event.Trigger{NodeID: uint32(j), Reference: 1, Value: 2}
	}
	p.N = 1 + r.IntN(mbuf.MaxBurst)
	size := 40 + r.IntN(89)
	for k, j := range r.Perm(mbuf.MaxBurst)[:p.N] {
		if r.IntN(4) == 0 {
			size = 40 + r.IntN(89)
		}
		p.Inner[k], p.Number[k] = make([]byte, size), uint8(j)
		for i := range p.Inner[k] {
			p.Inner[k][i] = byte(r.Uint32())
		}
	}
	return p
}
