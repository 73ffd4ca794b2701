package mitigate

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"intsink/engine/classify/classifytest"
)

// selects is what Match promises, attribute by attribute.
func (m *Match) selects(p *Packet) bool {
	if len(m.Device) > 0 && !(p.HasDevice && slices.Contains(m.Device, p.Device)) || !classifytest.InList(m.SourceMAC, p.SourceMAC) {
		return false
	}
	k := p.Key
	if k == nil {
		return len(m.Source)+len(m.Destination)+len(m.Protocol)+len(m.SourcePort)+len(m.DestinationPort) == 0
	}
	return classifytest.InPrefix(m.Source, k.SrcAddr()) && classifytest.InPrefix(m.Destination, k.DstAddr()) && classifytest.InList(m.Protocol, k.Proto()) &&
		classifytest.InRange(m.SourcePort, k.SrcPort()) && classifytest.InRange(m.DestinationPort, k.DstPort())
}

// dice draws rules and packets.
type dice struct{ classifytest.Dice }

func newDice(seed1, seed2 uint64) dice {
	return dice{classifytest.Dice{Rand: rand.New(rand.NewPCG(seed1, seed2))}}
}

func (d dice) mac() uint64 { return d.Uint64N(3) << 40 }

func (d dice) match() Match {
	return Match{
		Source: classifytest.Some(d.Dice, 3, d.Prefix), Destination: classifytest.Some(d.Dice, 3, d.Prefix),
		Protocol:   classifytest.Some(d.Dice, 3, d.Protocol),
		SourcePort: classifytest.Some(d.Dice, 3, d.Ports), DestinationPort: classifytest.Some(d.Dice, 3, d.Ports),
		Device: classifytest.Some(d.Dice, 3, d.Device), SourceMAC: classifytest.Some(d.Dice, 3, d.mac),
	}
}

func (d dice) packet() *Packet {
	p := &Packet{SourceMAC: d.mac(), HasDevice: d.IntN(2) == 0, Device: d.Device()}
	if d.IntN(8) > 0 {
		k := d.Key()
		p.Key = &k
	}
	return p
}

// TestFind finds the rule that a look at one after the other finds, up to as many rules as
// there may be; rules that have ended are stepped over.
func TestFind(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 200, MaxRules} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := newDice(1, uint64(n))
			rules, found := make([]*Rule, n), 0
			for i := range rules {
				rules[i] = NewRule(uint64(i), d.match(), Drop, 0, 0, int64(50+d.IntN(100)), 1)
			}
			table := New(rules)
			for range 3000 {
				p := d.packet()
				var want *Rule
				for _, r := range rules {
					if r.Match.selects(p) && 100 < r.Expires() {
						want = r
						found++
						break
					}
				}
				if got := table.Find(p, 100); got != want {
					t.Fatalf("%+v: %+v, want %+v", p, got, want)
				}
			}
			if n > 2 && found < 300 {
				t.Errorf("only %d of 3000 are selected: the test says little", found)
			}
		})
	}
}

// TestNoRules make no table, and too many make one of as many as there may be.
func TestNoRules(t *testing.T) {
	if New(nil) != nil {
		t.Error("a table without rules")
	}
	rules := make([]*Rule, MaxRules+1)
	for i := range rules {
		rules[i] = NewRule(uint64(i), Match{SourceMAC: []uint64{uint64(i)}}, Drop, 0, 0, 1, 1)
	}
	table := New(rules)
	if table.Find(&Packet{SourceMAC: MaxRules}, 0) != nil || table.Find(&Packet{SourceMAC: MaxRules - 1}, 0) != rules[MaxRules-1] {
		t.Error("other rules than the first 1024 are in force")
	}
}

// TestPoliceIsShared: what several workers let pass together is the rate and its burst.
func TestPoliceIsShared(t *testing.T) {
	const bits, packet, workers = 8e6, 1000, 4 // a packet takes 1 ms
	r := NewRule(1, Match{}, Police, bits, 5, 1e18, workers)
	var now, passed atomic.Int64
	now.Store(5)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for range 25_000 {
				if !r.Apply(w, now.Add(10_000), packet) {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait() // 1 s, 1000 packets, and 100 of the burst
	if n := passed.Load(); n < 1095 || n > 1102 {
		t.Errorf("%d packets passed, want 1000 and a burst of 100", n)
	}
	if c := r.Counters(); c.Packets != 100_000 || c.Bytes != 100_000*packet {
		t.Errorf("counted %+v", c)
	}
}

// TestPoliceAtItsBounds: rates that are as low and as high as they may be, frames as long,
// and times as late.
func TestPoliceAtItsBounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		bits   uint64
		bytes  int
		gap    int64
		passed int // of 1000 packets, one per gap
	}{
		{"lowest rate, longest frame", MinRate, 65535, 1e9, 2}, // 524 s each
		{"lowest rate, shortest frame", MinRate, 60, 480e6, 1000},
		{"highest rate", MaxRate, 64, 2, 1000},
		{"half of a rate", 1e9, 1250, 5000, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p police
			p.init(c.bits, 7)
			passed := 0
			for i := range int64(1000) {
				if p.take(int64(MaxLife)-1000*c.gap+i*c.gap, c.bytes) {
					passed++
				}
			}
			if passed != c.passed {
				t.Errorf("%d passed, want %d", passed, c.passed)
			}
		})
	}
	var none police
	if none.take(1, 1) {
		t.Error("without a rate something passes")
	}
}

// BenchmarkFind says what a packet costs while there are rules.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{1, 64, MaxRules} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			rules := make([]*Rule, n)
			for i := range rules {
				rules[i] = NewRule(uint64(i), Match{
					Destination: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1}), 32)}, DestinationPort: []PortRange{{First: 80, Last: 80}},
				}, Drop, 0, 0, 1<<62, 1)
			}
			table, d := New(rules), newDice(1, 2)
			packets := make([]*Packet, 4096)
			for i := range packets {
				packets[i] = d.packet()
			}
			for i := 0; b.Loop(); i++ {
				table.Find(packets[i&4095], 1)
			}
		})
	}
}
