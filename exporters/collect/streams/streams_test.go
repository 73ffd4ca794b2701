package streams

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

var key = Key{Exporter: netip.MustParseAddr("192.0.2.1"), Collector: netip.MustParseAddrPort("192.0.2.10:8555"), Node: 3, HwID: 5, Version: 2}

const second = int64(1e9)

// bed feeds packets to one stream and collects its gaps.
type bed struct {
	t    *Table
	now  int64
	gaps []string
}

func newBed() *bed { return &bed{t: New(10, 10), now: second} }

func (b *bed) gap(g Gap) { b.gaps = append(b.gaps, fmt.Sprintf("%d-%d", g.First, g.Last)) }

func (b *bed) see(n uint32) Place {
	b.now += 1000
	h := Header{Node: 3, HwID: 5, Version: 2, Sequence: n}
	times := Times{b.now, b.now}
	return b.t.Find(key, h, times).See(h, times, b.gap)
}

func (b *bed) counts() Counts { return b.t.streams[key].Counts }

// TestStream feeds sequence numbers to a stream (p3s waits three seconds), and compares the
// extended numbers and the counts.
func TestStream(t *testing.T) {
	const wait = 1 << 30 // a silence longer than Patience
	for _, c := range []struct {
		name  string
		in    []uint32
		want  string
		gaps  string
		count Counts
	}{
		{"in order", []uint32{7, 8, 9}, "7 8 9", "", Counts{Received: 3}},
		{"over the wrap", []uint32{4194302, 4194303, 0, 1}, "4194302 4194303 4194304 4194305", "", Counts{Received: 4}},
		{"gap over the wrap", []uint32{4194302, 1}, "4194302 4194305", "4194303-4194304", Counts{Received: 2, Lost: 2}},
		{"two gaps", []uint32{1, 3, 6}, "1 3 6", "2-2 4-5", Counts{Received: 3, Lost: 3}},
		{"reordered", []uint32{1, 4, 3, 2, 5}, "1 4 3 2 5", "", Counts{Received: 5, Reordered: 2}},
		{"in the middle of a gap", []uint32{1, 6, 4}, "1 6 4", "2-3 5-5", Counts{Received: 3, Lost: 3, Reordered: 1}},
		{"reordered over the wrap", []uint32{4194302, 0, 4194303}, "4194302 4194304 4194303", "", Counts{Received: 3, Reordered: 1}},
		{"repeated", []uint32{1, 2, 2, 1}, "1 2 2 1", "", Counts{Received: 4, Repeated: 2}},
		{"before the first", []uint32{5, 4}, "5 4", "", Counts{Received: 2, Late: 1}},
		{"before the first and the wrap", []uint32{0, 4194303}, "0 -4194303", "", Counts{Received: 2, Late: 1}},
		{"late", []uint32{1, 3, wait | 4, 2}, "1 3 4 2", "2-2", Counts{Received: 4, Lost: 1, Late: 1}},
		{"restart of the sink", append([]uint32{100, 101, wait}, again(1, 2, 14)...), "100 101 " + later(0, 16), "", Counts{Received: 18, Restarts: 1}},
		{"restart settles the holes", append([]uint32{100, 103, wait}, again(1, 2, 14)...), "100 103 " + later(0, 16), "101-102", Counts{Received: 18, Lost: 2, Restarts: 1}},
		{"restart of one with high numbers", append([]uint32{3000000, wait | 3}, again(4, 5, 14)...), "3000000 " + later(3, 16), "", Counts{Received: 17, Restarts: 1}},
		{"too few for a restart after a silence", []uint32{100, 101, wait, 1, 102}, "100 101 +0 +1 102", "", Counts{Received: 5, Late: 2}},
		{"late, first after a silence", []uint32{5000, 5001, 5003, 5004, wait | 5002, 5005}, "5000 5001 5003 5004 5002 5005", "5002-5002", Counts{Received: 6, Lost: 1, Late: 1}},
		{"repeated, first after a silence", []uint32{5000, 5001, wait | 5001, 5002}, "5000 5001 +5001 5002", "", Counts{Received: 4, Repeated: 1}},
		{"restart within a second", again(3000000, 0, 17), "3000000 " + later(0, 17), "", Counts{Received: 18, Restarts: 1}},
		{"restart within a second, across what is near 0", again(3000000, 4090, 17), "3000000 " + later(4090, 17), "", Counts{Received: 18, Restarts: 1}},
		{"restart within a second, out of order", []uint32{3000000, 0, 2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14, 13, 15, 17}, "3000000 +0 +2 +1 +3 +5 +4 +6 +8 +7 +9 +11 +10 +12 +14 +13 +15 +17", "16-16", Counts{Received: 18, Lost: 1, Reordered: 5, Restarts: 1}},
		{"too few for a restart within a second", again(3000000, 0, 15), "3000000 " + later(0, 15), "", Counts{Received: 16}},
		{"too few that are behind", again(1000000, 0, 15), "1000000 " + later(0, 15), "", Counts{Received: 16, Late: 15}},
		{"two sinks in turns", []uint32{1000000, 5, 6, 1000001, 7, 8, 1000002, 9}, "1000000 +5 +6 1000001 +7 +8 1000002 +9", "", Counts{Received: 8, Late: 5}},
		{"one old packet", []uint32{1000000, 5, 1000001}, "1000000 +5 1000001", "", Counts{Received: 3, Late: 1}},
		{"every packet twice", []uint32{0, 0, 1, 1, 2, 2, 3, 3}, "0 1 +1 +1 +2 +2 +3 +3", "", Counts{Received: 8, Repeated: 3}},
		{"silence alone is none", []uint32{100, wait | 105}, "100 105", "101-104", Counts{Received: 2, Lost: 4}},
		{"less than half of all numbers missing after a silence", append([]uint32{100, wait | 1800000}, again(1800001, 1800002, 14)...), "100 " + later(1800000, 16), "101-1799999", Counts{Received: 17, Lost: 1799899}},
		{"one packet after a silence that is far ahead", []uint32{100, wait | 1800000, 101}, "100 +1800000 101", "", Counts{Received: 3}},
		{"some thousands at once", []uint32{100, 4100, 4101}, "100 4100 4101", "101-4099", Counts{Received: 3, Lost: 3999}},
		{"more, with packets that go on from there", again(100, 1000000, 16), "100 " + later(1000000, 16), "101-999999", Counts{Received: 17, Lost: 999899}},
		{"one wrong number", []uint32{100, 1000000, 101, 102}, "100 +1000000 101 102", "", Counts{Received: 4}},
		{"few before the wrap lost in a silence", []uint32{4194300, wait | 2}, "4194300 4194306", "4194301-4194305", Counts{Received: 2, Lost: 5}},
		{"unnumbered", []uint32{0, 0, 0, wait}, "0 1 2 3", "", Counts{Received: 4}},
		{"numbered, as a lower number shows", []uint32{5, 4, 5}, "5 4 5", "", Counts{Received: 3, Late: 1, Repeated: 1}},
		{"numbered after all", []uint32{0, 0, 1, 2}, "0 1 +1 +2", "", Counts{Received: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed()
			var got []string
			var start int64
			for i, n := range c.in {
				if n&wait != 0 {
					b.now += 2 * second
					b.t.Expire(b.now, b.gap)
				}
				p := b.see(n &^ wait)
				mark := ""
				if i == 0 {
					start = p.Start
				} else if p.Start > start {
					mark = "+"
				} else if p.Start < start {
					mark = "-"
				}
				got = append(got, fmt.Sprint(mark, p.Sequence))
			}
			b.t.Expire(b.now+2*idle, b.gap)
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("numbers %s, want %s", s, c.want)
			}
			if s := strings.Join(b.gaps, " "); s != c.gaps {
				t.Errorf("gaps %q, want %q", s, c.gaps)
			}
			if b.counts() != c.count {
				t.Errorf("%+v, want %+v", b.counts(), c.count)
			}
		})
	}
}

// again is a number, and behind it n from another one on.
func again(number, from uint32, n int) []uint32 {
	all := []uint32{number}
	for range n {
		all, from = append(all, from), from+1
	}
	return all
}

// later are n numbers of a stream that began later than the first one.
func later(from, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("+", from+i))
	}
	return strings.Join(all, " ")
}

// TestRandomLoss: with loss, copies and reordering while the numbers wrap, each number that
// came gets an extended number of its own, and Lost counts exactly those that never came.
func TestRandomLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := newBed()
	const from, n = 4194304 - 30000, 100000
	var queue []uint64
	came := map[uint64]bool{}
	send := func(x uint64) {
		p := b.see(uint32(x) & 0x3fffff)
		if p.Sequence != x {
			t.Fatalf("number %d taken for %d", x, p.Sequence)
		}
		came[x] = true
	}
	send(from)
	for i := uint64(1); i < n; i++ {
		if r.IntN(50) == 0 {
			continue
		}
		queue = append(queue, from+i)
		if r.IntN(100) == 0 {
			queue = append(queue, from+i)
		}
		for len(queue) > 40 || len(queue) > 0 && i == n-1 {
			at := r.IntN(min(20, len(queue)))
			send(queue[at])
			queue = append(queue[:at], queue[at+1:]...)
		}
		if i%1000 == 0 {
			b.t.Expire(b.now, b.gap)
		}
	}
	send(from + n)
	b.t.Expire(b.now+2*second, b.gap)
	c := b.counts()
	if want := uint64(n + 1 - len(came)); c.Lost != want || c.Late != 0 || c.Restarts != 0 || c.Received != uint64(len(came))+c.Repeated {
		t.Errorf("%+v, want %d lost", c, want)
	}
}

// TestClockSteps: a late packet is not taken for a restart of the sink because the wall clock
// was set, or because the collector stood still.
func TestClockSteps(t *testing.T) {
	for name, step := range map[string]Times{
		"wall clock set forward": {3600 * second, 2000},
		"wall clock set back":    {-3600 * second, 2000},
		"the reader stood still": {2000, 30 * second},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed()
			b.see(10)
			b.see(12)
			h := Header{Node: 3, HwID: 5, Version: 2, Sequence: 11}
			p := b.t.Find(key, h, Times{}).See(h, Times{b.now + step.Arrived, b.now + step.Monotonic}, b.gap)
			if p.Sequence != 11 || b.counts().Restarts != 0 || b.counts().Reordered != 1 {
				t.Errorf("%+v %+v", p, b.counts())
			}
		})
	}
}

// TestHolesAreBounded: beyond maxHoles the oldest hole is counted as lost before its time.
func TestHolesAreBounded(t *testing.T) {
	b := newBed()
	for i := range uint32(3 * maxHoles) {
		b.see(2 * i)
	}
	s := b.t.streams[key]
	if len(s.holes) > maxHoles || s.Lost != 2*maxHoles-1 {
		t.Errorf("%d holes, %d lost", len(s.holes), s.Lost)
	}
	for i := range uint32(5) { // all other holes are outside the window now
		b.see(6*maxHoles - 1 + (i+1)*far)
	}
	if want := uint64(3*maxHoles - 1 + far); s.Lost != want || len(s.holes) != 4 {
		t.Errorf("%d holes, %d lost", len(s.holes), s.Lost)
	}
	if p := b.see(6001); p.Sequence != 6001 || s.Late != 1 {
		t.Errorf("%+v %+v", p, s.Counts)
	}
}

// TestEndOfTheWindow: of numbers as far back as the window is known whether they came, and no
// further.
func TestEndOfTheWindow(t *testing.T) {
	b := newBed()
	b.see(1)
	b.see(3)
	b.t.Expire(b.now+2*second, b.gap)
	for n := uint32(4); n < 2+window; n++ {
		b.see(n)
	}
	for i, c := range []struct {
		number         uint32
		late, repeated uint64
	}{{1, 1, 0}, {2, 2, 0}, {2, 2, 1}, {3, 2, 2}, {1, 3, 2}} {
		if b.see(c.number); b.counts().Late != c.late || b.counts().Repeated != c.repeated {
			t.Errorf("%d: number %d: %+v, want %d late, %d repeated", i, c.number, b.counts(), c.late, c.repeated)
		}
	}
	if got := (Gap{First: 5, Last: 7}).Count(); got != 3 || strings.Join(b.gaps, " ") != "2-2" {
		t.Errorf("5 to 7 are %d, gaps %q", got, b.gaps)
	}
}

func TestTableIsBounded(t *testing.T) {
	tab := New(2, 2)
	at := func(node uint32, now int64) *Stream {
		k := key
		k.Node = node
		return tab.Find(k, Header{Node: node, Version: 2}, Times{now, now})
	}
	if at(1, 0) == nil || at(2, 1) == nil || at(3, 2) != nil || tab.Len() != 2 {
		t.Error("a third stream found room")
	}
	if at(3, single+3) == nil || tab.Len() != 1 {
		t.Error("the streams of one packet did not make room")
	}
	for now := range int64(3) {
		at(3, single+4+now).See(Header{Node: 3, Version: 2, Sequence: uint32(now)}, Times{single + 4 + now, single + 4 + now}, nil)
		at(4, single+4+now).See(Header{Node: 4, Version: 2, Sequence: uint32(now)}, Times{single + 4 + now, single + 4 + now}, nil)
	}
	at(4, single+8).See(Header{Node: 4, Version: 2, Sequence: 3}, Times{single + 8, single + 8}, nil)
	if at(5, silent+single) != nil {
		t.Error("streams that were not silent for long made room")
	}
	if at(5, silent+single+10) != nil || at(5, silent+single+searchEvery+10) == nil || tab.Len() != 2 || tab.streams[key.with(3)] != nil {
		t.Error("the silent stream with the fewest packets did not make room, searched for once a second") // silent since single+6
	}
	if tab.Gone.Received != 3 {
		t.Errorf("%+v of streams that are gone", tab.Gone)
	}
	resumed := New(1, 1)
	if resumed.Resume(tab.States(), true, Times{}); resumed.Len() != 1 {
		t.Errorf("%d streams resumed where there is room for one", resumed.Len())
	}
}

func (k Key) with(node uint32) Key {
	k.Node = node
	return k
}

func TestResume(t *testing.T) {
	for _, exact := range []bool{true, false} {
		t.Run(fmt.Sprint("exact ", exact), func(t *testing.T) {
			b := newBed()
			first := b.see(4194300)
			b.see(4194303)
			states := b.t.States()
			b.t = New(10, 10)
			b.gaps = nil
			b.t.Resume(states, exact, Times{b.now, b.now})
			p := b.see(5)
			b.see(6)
			b.t.Expire(b.now+2*second, b.gap)
			if p.Start != first.Start || p.Sequence != 4194309 {
				t.Errorf("goes on at %+v after %+v", p, first)
			}
			if lost := b.counts().Lost; exact && lost != 5 || !exact && lost != 0 {
				t.Errorf("%d lost", lost)
			}
		})
	}
}

func TestReadHeader(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		want Header
		ok   bool
	}{
		{"2.0", []byte{0x21, 0x40, 0, 7, 0, 0, 0, 3}, Header{Node: 3, Sequence: 7, HwID: 5, Version: 2}, true},
		{"1.0", []byte{0x14, 0, 0, 5, 0, 0, 0, 3, 1, 0, 0, 7, 15: 0}, Header{Node: 3, Sequence: 1<<24 + 7, HwID: 5, Version: 1}, true},
		{"0.5", []byte{0x00, 0, 0, 5, 1, 0, 0, 7, 11: 0}, Header{Node: 0, Sequence: 1<<24 + 7, HwID: 5, Version: 0}, true},
		{"0.5 that says its node", []byte{0x02, 0, 0, 5, 1, 0, 0, 7, 15: 9, 27: 0}, Header{Node: 0, Sequence: 1<<24 + 7, HwID: 5, Version: 0}, true},
		{"short", []byte{0x21, 0x40, 0, 7, 0, 0, 0}, Header{}, false},
		{"1.0 short", []byte{0x14, 0, 0, 5, 0, 0, 0, 3, 1, 0, 0, 7, 14: 0}, Header{}, false},
		{"0.5 short", []byte{0x02, 0, 0, 5, 1, 0, 0, 7, 26: 0}, Header{}, false},
		{"version 6", []byte("hello, collector"), Header{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ok := ReadHeader(c.in)
			printed := h.Print != 0
			h.Print, h.Reports = 0, 0
			if ok != c.ok || printed != ok || h != c.want {
				t.Errorf("%+v, %v", h, ok)
			}
		})
	}
}

func TestSeeDoesNotAllocate(t *testing.T) {
	b := newBed()
	n := uint32(0)
	b.see(n)
	gap := func(Gap) {}
	if allocs := testing.AllocsPerRun(1000, func() {
		n += 1 + n&1
		h := Header{Node: 3, HwID: 5, Version: 2, Sequence: n}
		b.now += 1000
		b.t.Find(key, h, Times{b.now, b.now}).See(h, Times{b.now, b.now}, gap)
	}); allocs > 0.1 {
		t.Errorf("%v allocations a packet", allocs)
	}
}

// TestRestartWhileTheCollectorIsAway: a sink that begins anew while a collector is away that does not know what came last is told
// from late packets of before, and no report of it has the place of an earlier one.
func TestRestartWhileTheCollectorIsAway(t *testing.T) {
	b := newBed()
	start := b.see(1000000).Start
	b.see(1000001)
	states := b.t.States()
	b.t = New(10, 10)
	b.now += 5 * second
	b.t.Resume(states, false, Times{b.now, b.now})
	for n := range uint32(Enough) {
		if p := b.see(n); p.Start <= start || p.Sequence != uint64(n) {
			t.Errorf("packet %d is at %+v", n, p)
		}
	}
	if c := b.counts(); c.Restarts != 1 || c.Lost+c.Late+c.Repeated != 0 {
		t.Errorf("%+v", c)
	}
}

// TestStatesOfTwoSources: the later start of a stream counts, and the higher number of one start, but a few packets in a log are no
// later start where more is known of an earlier one.
func TestStatesOfTwoSources(t *testing.T) {
	known := State{Start: 100, Next: 5000}
	for _, c := range []struct {
		st   State
		want bool
	}{
		{State{Start: 100, Next: 5001}, true},
		{State{Start: 100, Next: 5001, Few: true}, true},
		{State{Start: 100, Next: 4999}, false},
		{State{Start: 200, Next: 20}, true},
		{State{Start: 90, Next: 6000}, false},
		{State{Start: 200, Next: 4990, Few: true}, false},
	} {
		if got := c.st.Replaces(&known); got != c.want {
			t.Errorf("%+v: %v", c.st, got)
		}
	}
	if few := (State{Start: 200, Next: 3, Few: true}); !known.Replaces(&few) {
		t.Error("what is known replaces a few packets")
	}
}

// TestRepeatedFirstPacketOfAResumedStream is a copy, as any other, and no sign that the sink does not number its packets.
func TestRepeatedFirstPacketOfAResumedStream(t *testing.T) {
	b := newBed()
	start := b.see(1000).Start
	b.see(1001)
	states := b.t.States()
	b.t = New(10, 10)
	b.t.Resume(states, true, Times{b.now, b.now})
	for _, n := range []uint32{1002, 1002, 1003} {
		if p := b.see(n); p.Start != start || p.Sequence != uint64(n) {
			t.Errorf("packet %d is at %+v", n, p)
		}
	}
	if c := b.counts(); c.Repeated != 1 || c.Received != 3 {
		t.Errorf("%+v", c)
	}
	b.t = New(10, 10)
	b.see(0)
	if states := b.t.States(); len(states) != 0 {
		t.Errorf("one packet does not tell whether they are numbered: %+v", states)
	}
}
