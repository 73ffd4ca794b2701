package watch

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"intsink/engine/classify/classifytest"
	"intsink/engine/wire/inthdr"
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
	vni := func(r VNIRange) bool { return f.hasVNI && r.Has(f.vni) }
	return classifytest.InPrefix(m.Source, src) && classifytest.InPrefix(m.Destination, dst) && classifytest.InList(m.Protocol, k.Proto()) &&
		classifytest.InRange(m.SourcePort, k.SrcPort()) && classifytest.InRange(m.DestinationPort, k.DstPort()) && classifytest.InRange(m.VLAN, f.vlan) &&
		classifytest.InList(m.DSCP, f.dscp) && (len(m.VNI) == 0 || slices.ContainsFunc(m.VNI, vni)) &&
		(len(m.Device) == 0 || f.hasDevice && slices.Contains(m.Device, f.device)) && m.Takes(f.ingress)
}

// dice draws watches and flows.
type dice struct{ classifytest.Dice }

func newDice(seed1, seed2 uint64) dice {
	return dice{classifytest.Dice{Rand: rand.New(rand.NewPCG(seed1, seed2))}}
}

func (d dice) match() Match {
	return Match{
		Source: classifytest.Some(d.Dice, 2, d.Prefix), Destination: classifytest.Some(d.Dice, 2, d.Prefix),
		Protocol:   classifytest.Some(d.Dice, 2, d.Protocol),
		SourcePort: classifytest.Some(d.Dice, 2, d.Ports), DestinationPort: classifytest.Some(d.Dice, 2, d.Ports), Layer: Layer(d.IntN(3)),
		VLAN: classifytest.Some(d.Dice, 2, d.Ports), DSCP: classifytest.Some(d.Dice, 2, func() uint8 { return uint8(d.IntN(3)) }),
		VNI:    classifytest.Some(d.Dice, 2, func() VNIRange { n := d.Uint32N(4); return VNIRange{First: n, Last: n + d.Uint32N(3)} }),
		Device: classifytest.Some(d.Dice, 2, d.Device), Ingress: classifytest.Some(d.Dice, 2, func() uint16 { return uint16(d.IntN(4)) }),
	}
}

// TestCompiledWatchesSelectTheSame as they do one by one, attribute by attribute.
func TestCompiledWatchesSelectTheSame(t *testing.T) {
	d := newDice(1, 2)
	matched := 0
	for range 200 {
		c := &Config{INT: &inthdr.Config{}, Matches: make([]*Match, d.IntN(Max+1))}
		for i := range c.Matches {
			m := d.match()
			c.Matches[i] = &m
		}
		ws := Compile(c)
		for range 100 {
			k, inner := d.Key(), d.Key()
			f := Facts{
				vlan: uint16(d.IntN(4096)), dscp: uint8(d.IntN(3)), inside: d.IntN(3) == 0,
				hasVNI: d.IntN(2) == 0, vni: d.Uint32N(6), hasDevice: d.IntN(2) == 0, device: 1 << (d.UintN(3) * 31), ingress: uint16(d.IntN(4)),
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
