package mitigate

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"intsink/flows"
)

// selects is what Match promises, attribute by attribute.
func (m *Match) selects(p *Packet) bool {
	port := func(list []PortRange, n uint16) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(r PortRange) bool { return r.First <= n && n <= r.Last })
	}
	prefix := func(list []netip.Prefix, a netip.Addr) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	if len(m.Device) > 0 && !(p.HasDevice && slices.Contains(m.Device, p.Device)) || len(m.SourceMAC) > 0 && !slices.Contains(m.SourceMAC, p.SourceMAC) {
		return false
	}
	k := p.Key
	if k == nil {
		return len(m.Source)+len(m.Destination)+len(m.Protocol)+len(m.SourcePort)+len(m.DestinationPort) == 0
	}
	return prefix(m.Source, k.SrcAddr()) && prefix(m.Destination, k.DstAddr()) && (len(m.Protocol) == 0 || slices.Contains(m.Protocol, k.Proto())) &&
		port(m.SourcePort, k.SrcPort()) && port(m.DestinationPort, k.DstPort())
}

// dice draws from few values, so that much of it matches.
type dice struct{ *rand.Rand }

func (d dice) addr() netip.Addr {
	if d.IntN(2) == 0 {
		return netip.AddrFrom4([4]byte{byte(d.IntN(2)) * 255, byte(d.IntN(3)), 0, byte(d.IntN(4))})
	}
	var b [16]byte
	b[0], b[7], b[8], b[15] = byte(d.IntN(2))*255, byte(d.IntN(3)), byte(d.IntN(2)), byte(d.IntN(4))
	return netip.AddrFrom16(b)
}

func some[T any](d dice, f func() T) (out []T) {
	if d.IntN(3) == 0 {
		for range 1 + d.IntN(3) {
			out = append(out, f())
		}
	}
	return out
}

func (d dice) match() Match {
	prefix := func() netip.Prefix {
		a := d.addr()
		return netip.PrefixFrom(a, d.IntN(a.BitLen()+1))
	}
	ports := func() PortRange {
		first := uint16(d.IntN(8)) * 9362 // up to 65534
		return PortRange{First: first, Last: first + uint16(d.IntN(int(65535-first)+1))}
	}
	return Match{
		Source: some(d, prefix), Destination: some(d, prefix), Protocol: some(d, func() uint8 { return uint8(d.IntN(2)) * 17 }),
		SourcePort: some(d, ports), DestinationPort: some(d, ports),
		Device:    some(d, func() uint64 { return 1 << (d.UintN(3) * 31) }),
		SourceMAC: some(d, func() uint64 { return d.Uint64N(3) << 40 }),
	}
}

func (d dice) packet() *Packet {
	p := &Packet{SourceMAC: d.Uint64N(3) << 40, HasDevice: d.IntN(2) == 0, Device: 1 << (d.UintN(3) * 31)}
	if d.IntN(8) == 0 {
		return p
	}
	src, dst := d.addr(), d.addr()
	for src.Is4() != dst.Is4() {
		dst = d.addr()
	}
	version := uint8(6)
	if src.Is4() {
		version = 4
	}
	p.Key = new(flows.Key)
	p.Key.SetAddrs(src, dst)
	p.Key.SetPorts(version, uint8(d.IntN(2))*17, uint16(d.Uint32()), uint16(d.Uint32()))
	return p
}

// TestFind finds the rule that a look at one after the other finds, up to as many rules as
// there may be; rules that have ended are stepped over.
func TestFind(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 200, MaxRules} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := dice{rand.New(rand.NewPCG(1, uint64(n)))}
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
			table, d := New(rules), dice{rand.New(rand.NewPCG(1, 2))}
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
