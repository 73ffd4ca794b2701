package watch

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// selects is what Match promises, watch by watch and attribute by attribute.
func (m *Match) selects(k *flows.Key, f *Facts) bool {
	switch m.Layer {
	case OuterLayer:
		if f.inside {
			return false
		}
	case InnerLayer:
		if k = f.inner; k == nil {
			return false
		}
	}
	src, dst := k.SrcAddr(), k.DstAddr()
	port := func(list []PortRange, n uint16) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(r PortRange) bool { return r.First <= n && n <= r.Last })
	}
	prefix := func(list []netip.Prefix, a netip.Addr) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	vni := func(r VNIRange) bool { return f.hasVNI && r.First <= f.vni && f.vni <= r.Last }
	return prefix(m.Source, src) && prefix(m.Destination, dst) && (len(m.Protocol) == 0 || slices.Contains(m.Protocol, k.Proto())) &&
		port(m.SourcePort, k.SrcPort()) && port(m.DestinationPort, k.DstPort()) && port(m.VLAN, f.vlan) &&
		(len(m.DSCP) == 0 || slices.Contains(m.DSCP, f.dscp)) && (len(m.VNI) == 0 || slices.ContainsFunc(m.VNI, vni)) &&
		(len(m.Device) == 0 || f.hasDevice && slices.Contains(m.Device, f.device))
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
	if d.IntN(2) == 0 {
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
		SourcePort: some(d, ports), DestinationPort: some(d, ports), Layer: Layer(d.IntN(3)),
		VLAN: some(d, ports), DSCP: some(d, func() uint8 { return uint8(d.IntN(3)) }),
		VNI:    some(d, func() VNIRange { n := d.Uint32N(4); return VNIRange{First: n, Last: n + d.Uint32N(3)} }),
		Device: some(d, func() uint64 { return 1 << (d.UintN(3) * 31) }),
	}
}

func (d dice) key() (k flows.Key) {
	src, dst := d.addr(), d.addr()
	for src.Is4() != dst.Is4() {
		dst = d.addr()
	}
	k.SetAddrs(src, dst)
	k.SetPorts(version(src), uint8(d.IntN(2))*17, uint16(d.Uint32()), uint16(d.Uint32()))
	return k
}

// TestCompiledWatchesSelectTheSame as they do one by one, attribute by attribute.
func TestCompiledWatchesSelectTheSame(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(1, 2))}
	matched := 0
	for range 200 {
		c := &Config{INT: &inthdr.Config{}, Matches: make([]*Match, d.IntN(Max+1))}
		for i := range c.Matches {
			m := d.match()
			c.Matches[i] = &m
		}
		ws := Compile(c)
		for range 100 {
			k, inner := d.key(), d.key()
			f := Facts{
				vlan: uint16(d.IntN(4096)), dscp: uint8(d.IntN(3)), inside: d.IntN(3) == 0,
				hasVNI: d.IntN(2) == 0, vni: d.Uint32N(6), hasDevice: d.IntN(2) == 0, device: 1 << (d.UintN(3) * 31),
			}
			if f.inside {
				f.inner = &k
			} else if d.IntN(2) == 0 {
				f.inner = &inner
			}
			want := uint8(None)
			if i := slices.IndexFunc(c.Matches, func(m *Match) bool { return m.selects(&k, &f) }); i >= 0 {
				want = uint8(i)
				matched++
			}
			if got := ws.First(&k, &f); got != want {
				t.Fatalf("%d watches: %d, want %d\nkey %+v, facts %+v", len(c.Matches), got, want, k, f)
			}
		}
	}
	if matched < 5000 {
		t.Errorf("only %d of 20000 matched: the test says little", matched)
	}
}

func key(proto uint8, src, dst string, srcPort, dstPort uint16) (k flows.Key) {
	a := netip.MustParseAddr(src)
	k.SetAddrs(a, netip.MustParseAddr(dst))
	k.SetPorts(version(a), proto, srcPort, dstPort)
	return k
}

// TestCollectorsAreNeverWatched, whatever else there is.
func TestCollectorsAreNeverWatched(t *testing.T) {
	ws := Compile(&Config{
		INT:        &inthdr.Config{},
		Matches:    []*Match{{}},
		Collectors: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.10:8555"), netip.MustParseAddrPort("[2001:db8::1]:8555")},
	})
	for _, c := range []struct {
		k    flows.Key
		want uint8
	}{
		{key(17, "10.0.0.1", "192.0.2.10", 1, 8555), None},
		{key(17, "2001:db8::2", "2001:db8::1", 1, 8555), None},
		{key(6, "10.0.0.1", "192.0.2.10", 1, 8555), 0},
		{key(17, "10.0.0.1", "192.0.2.10", 1, 8556), 0},
		{key(17, "10.0.0.1", "192.0.2.11", 1, 8555), 0},
	} {
		if got := ws.First(&c.k, nil); got != c.want {
			t.Errorf("%+v: %d, want %d", c.k, got, c.want)
		}
	}
}
