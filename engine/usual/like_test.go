package usual

import (
	"math/rand/v2"
	"testing"
)

// fabric is a network of three leafs, so many spines and two last nodes, each of which its packets pass.
type fabric struct {
	t      *testing.T
	u      *Usual
	r      *rand.Rand
	now    int64
	spines uint32
	ns     func(node uint32, egress uint16) uint32 // how long a packet is in a node
	full   func(node uint32, egress uint16) bool   // its queue is full
}

func newFabric(t *testing.T, ns func(node uint32, egress uint16) uint32) *fabric {
	return &fabric{t: t, u: newTest(t), r: rand.New(rand.NewPCG(1, 2)), now: 1000 * minute, spines: 4, ns: ns, full: func(uint32, uint16) bool { return false }}
}

// always the same for all nodes.
func all(ns uint32) func(uint32, uint16) uint32 { return func(uint32, uint16) uint32 { return ns } }

// but one node.
func but(ns, node, other uint32) func(uint32, uint16) uint32 {
	return func(n uint32, _ uint16) uint32 {
		if n == node {
			return other
		}
		return ns
	}
}

// pass lets so many seconds pass, with a hundred samples each.
func (f *fabric) pass(seconds int) {
	for range seconds {
		for range 100 {
			f.now += 10_000_000
			leaf, spine, last := 101+f.r.Uint32N(3), 201+f.r.Uint32N(f.spines), 301+f.r.Uint32N(2)
			f.packet([3]uint32{leaf, spine, last}, [3]uint16{uint16(spine), uint16(last), uint16(10 + f.r.UintN(6))})
		}
		f.u.Slow(f.now)
	}
}

func (f *fabric) packet(way [3]uint32, egress [3]uint16) {
	var readings []Reading
	for i, node := range way {
		before, after := uint32(unknown), uint32(unknown)
		ingress := uint16(1)
		if i > 0 {
			before, ingress = way[i-1], uint16(way[i-1])
		}
		if i < 2 {
			after = way[i+1]
		}
		ns, occupancy := f.ns(node, egress[i]), 30+f.r.Uint32N(30)
		ns += f.r.Uint32N(ns/2 + 1)
		if f.full(node, egress[i]) {
			ns, occupancy = 1_500_000+f.r.Uint32N(500_000), 8500+f.r.Uint32N(2000)
		}
		readings = append(readings, Reading{Place: Place{Queue, [2]uint64{uint64(node)<<32 | uint64(egress[i]), 0}}, Latency: ns, Occupancy: occupancy},
			Reading{Place: Place{Hop, HopKey(node, ingress, egress[i])}, Latency: ns, Occupancy: unknown, Role: RoleOf(before, after)})
	}
	f.u.Learn(f.now, readings)
}

// slowNodes are the nodes with a slow hop.
func (f *fabric) slowNodes() map[uint32]bool {
	nodes := map[uint32]bool{}
	for _, s := range f.u.Slow(f.now) {
		nodes[nodeOf(s.Place)] = true
	}
	return nodes
}

func (f *fabric) want(when string, nodes ...uint32) {
	f.t.Helper()
	got := f.slowNodes()
	for _, n := range nodes {
		if !got[n] {
			f.t.Errorf("%s: node %d is not slow", when, n)
		}
		delete(got, n)
	}
	if len(got) > 0 {
		f.t.Errorf("%s: %v are slow", when, got)
	}
}

// TestSlowBeforeAnythingIsKnown: a node that is slow from the begin is slow beside those in the same place within seconds, and
// stays so; what is usual there is what it does once the fault is over.
func TestSlowBeforeAnythingIsKnown(t *testing.T) {
	f := newFabric(t, but(3000, 202, 400_000))
	f.full = func(node uint32, egress uint16) bool { return node == 302 && egress == 12 }
	for _, seconds := range []int{3, 150, 600} {
		f.pass(seconds)
		f.want("a fault that is older", 202, 302)
	}
	for _, s := range f.u.Slow(f.now) {
		if s.Usual.Known && nodeOf(s.Place) == 202 {
			t.Errorf("%+v: it is not known what is usual", s)
		}
		if l := s.Like.Latency; nodeOf(s.Place) == 202 && (l.Median < 2000 || l.Median > 5000 || s.Like.Nodes != 4) {
			t.Errorf("like %+v", s.Like)
		}
	}
	q := Place{Queue, [2]uint64{302<<32 | 12, 0}}
	v, _ := f.u.Of(q)
	if _, held := v.Held(); v.State == Doubtful || !held.IsFuller(8500) || held.IsFuller(100) {
		t.Errorf("the full queue: %+v", v)
	}
	if latency, occupancy := f.u.Limits().Of(q.Key); latency == 0 || latency > 10_000 || occupancy == 0 || occupancy > 500 {
		t.Errorf("limits %d, %d", latency, occupancy)
	}
	f.ns, f.full = all(3000), func(uint32, uint16) bool { return false }
	f.pass(90)
	f.want("the fault is over")
	f.ns = but(3000, 202, 400_000)
	f.pass(3)
	f.want("it comes again", 202)
	for _, s := range f.u.Slow(f.now) {
		if !s.Usual.Known || s.Usual.Median > 5000 {
			t.Errorf("%+v: usual is what it did in the calm", s.Usual)
		}
	}
}

// TestSlowByNature: where all nodes that are alike take long, none is slow at any time; what is usual is known within two minutes,
// and a fault is one from then on.
func TestSlowByNature(t *testing.T) {
	for _, ns := range []uint32{150_000, 500_000} {
		f := newFabric(t, func(node uint32, _ uint16) uint32 {
			if node/100 == 2 {
				return ns
			}
			return ns / 3
		})
		for range 120 {
			f.pass(1)
			f.want("calm")
		}
		if v, _ := f.u.Of(Place{Hop, HopKey(202, 101, 301)}); v.State != Known {
			t.Errorf("%+v", v)
		}
		if latency, _ := f.u.Limits().Of([2]uint64{202<<32 | 301, 0}); latency < ns {
			t.Errorf("limit %d", latency)
		}
		f.ns = but(ns/2, 203, 20*ns)
		f.pass(3)
		f.want("a fault", 203)
	}
}

// TestAWayBorrows: a way with too few packets to be known is held against its node, and one that begins while its node is slow, too.
func TestAWayBorrows(t *testing.T) {
	f := newFabric(t, all(3000))
	f.spines = 3 // nobody takes 204 yet
	f.pass(60)
	rare := func(n int) {
		for range n {
			f.now += 1e9
			f.packet([3]uint32{104, 202, 301}, [3]uint16{202, 301, 10})
			f.u.Slow(f.now)
		}
	}
	rare(5)
	f.want("calm")
	f.ns = but(3000, 202, 1_000_000)
	rare(4)
	f.want("a fault for a way with few packets", 202)
	for _, s := range f.u.Slow(f.now) {
		if s.Usual.Median < 2000 || s.Usual.Median > 5000 {
			t.Errorf("usual is that of the node: %+v", s.Usual)
		}
	}
	f.spines, f.ns = 4, but(3000, 204, 1_000_000)
	f.pass(3)
	if !f.slowNodes()[204] {
		t.Error("a node that is slow when it is met first is as usual")
	}
}

// TestNothingToHoldAgainst: a node alone on its way that takes long is not slow, and doubtful for an hour; if it becomes fast in that
// time, that is what is usual.
func TestNothingToHoldAgainst(t *testing.T) {
	for minutes, want := range map[int64]State{10: Doubtful, 70: Known} {
		u, next := newTest(t), int64(1000)
		for next < 1000+minutes {
			if next = learnFor(u, aHop, next, 1, always(300_000, unknown)); len(u.Slow(next*minute-1)) > 0 {
				t.Fatal("it is slow")
			}
		}
		if v, _ := u.Of(aHop); v.State != want || v.Latency.Median < 250_000 {
			t.Errorf("after %d minutes: %+v, want %v", minutes, v, want)
		}
		if learnFor(u, aHop, next, 3, always(3000, unknown)); want == Doubtful {
			if v, _ := u.Of(aHop); v.Latency.P99 > 5000 || v.State != Known {
				t.Errorf("once it is fast: %+v", v)
			}
		}
	}
}

// TestFewPacketsFromTheBegin: with two packets a second in all, a node that is slow from the begin is slow beside the other one in its
// place within a minute, and is not learned in half an hour.
func TestFewPacketsFromTheBegin(t *testing.T) {
	f, told := newFabric(t, but(3000, 202, 50_000_000)), 0
	for second := range 1800 {
		for range 2 {
			f.now += 500_000_000
			leaf, spine := 101+f.r.Uint32N(3), 201+f.r.Uint32N(4)
			last := 301 + spine%2
			f.packet([3]uint32{leaf, spine, last}, [3]uint16{uint16(spine), uint16(last), uint16(10 + f.r.UintN(10))})
		}
		for node := range f.slowNodes() {
			if node != 202 {
				t.Fatalf("after %d s node %d is slow", second, node)
			}
			told++
		}
	}
	if v, _ := f.u.Of(Place{Hop, HopKey(202, 101, 301)}); told < 1500 || v.State != Learning {
		t.Errorf("slow for %d s; %+v", told, v)
	}
}

// TestWhatCreepsIsNotLearned: what grows on and on, in steps that are small enough, is slow once it is eight times what was; a
// day's swing of five times is not.
func TestWhatCreepsIsNotLearned(t *testing.T) {
	u := newTest(t)
	next := learnFor(u, aHop, 1000, 30, always(6000, unknown))
	told := int64(0)
	for ns := uint32(24_000); ns <= 24_000_000 && told == 0; ns *= 4 {
		if next = learnFor(u, aHop, next, 1, always(ns, unknown)); len(u.Slow(next*minute-1)) > 0 {
			told = int64(ns)
		}
	}
	if told == 0 || told > 400_000 {
		t.Errorf("told at %d ns", told)
	}
	u = newTest(t)
	for next, m := int64(1000), int64(0); m < 3*24*60; m++ {
		part := min(m%1440, 1440-m%1440) // from night to noon and back
		next = learnFor(u, aHop, next, 1, always(uint32(100_000+400_000*part/720), unknown))
		if len(u.Slow(next*minute-1)) > 0 {
			t.Fatalf("slow after %d minutes", m)
		}
	}
}

// TestAFaultAtTheBegin: what a node that is like none did in its first seconds, and no more, is forgotten, however little of a minute
// it was; the same fault is odd when it comes again, and its queue full. That there was one is known. A tail is no fault.
func TestAFaultAtTheBegin(t *testing.T) {
	for _, seconds := range []int{8, 20, 60, 150} {
		f := newFabric(t, all(3000))
		f.spines = 1
		fault := func(node uint32, _ uint16) bool { return node == 201 }
		f.full = fault
		f.pass(seconds)
		f.full = func(uint32, uint16) bool { return false }
		if f.pass(180); f.u.Believed(Hop).Began == 0 {
			t.Errorf("%d s: %+v", seconds, f.u.Believed(Hop))
		}
		f.want("it is over")
		v, _ := f.u.Of(Place{Queue, [2]uint64{201<<32 | 301, 0}})
		if v.Latency.P99 > 10_000 || v.Occupancy.P99 > 200 {
			t.Errorf("%d s: %+v", seconds, v)
		}
		f.full = fault
		f.pass(3)
		f.want("it comes again", 201)
	}
	f := newFabric(t, nil)
	f.ns = func(uint32, uint16) uint32 {
		if f.r.UintN(100) < 3 {
			return 400_000
		}
		return 3000
	}
	f.pass(600)
	f.want("a tail")
	if b := f.u.Believed(Hop); b.Began != 0 {
		t.Errorf("a tail: %+v", b)
	}
}
