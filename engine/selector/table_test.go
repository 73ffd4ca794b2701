package selector

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
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

func ruleOf(m Match, expires int64) *Rule {
	r := &Rule{Match: m}
	r.Extend(expires)
	return r
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
				rules[i] = ruleOf(d.match(), int64(50+d.IntN(100)))
			}
			table := New(rules)
			for range 3000 {
				p := d.packet()
				want := None
				for i, r := range rules {
					if r.Match.selects(p) && 100 < r.Expires() {
						want = i
						found++
						break
					}
				}
				if got := table.Find(p, 100); got != want {
					t.Fatalf("%+v: %d, want %d", p, got, want)
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
		rules[i] = ruleOf(Match{SourceMAC: []uint64{uint64(i)}}, 1)
	}
	table := New(rules)
	if table.Find(&Packet{SourceMAC: MaxRules}, 0) != None || table.Find(&Packet{SourceMAC: MaxRules - 1}, 0) != MaxRules-1 {
		t.Error("other rules than the first 1024 are in force")
	}
}

// BenchmarkFind says what a packet costs while there are rules.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{1, 64, MaxRules} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			rules := make([]*Rule, n)
			for i := range rules {
				rules[i] = ruleOf(Match{
					Destination: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1}), 32)}, DestinationPort: []PortRange{{First: 80, Last: 80}},
				}, 1<<62)
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
