package engine

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/event"
	"intsink/engine/intgen"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
)

// selects is what Watch promises, watch by watch and attribute by attribute.
func (w *Watch) selects(k *flows.Key, f *facts) bool {
	switch w.Layer {
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
	return prefix(w.Source, src) && prefix(w.Destination, dst) && (len(w.Protocol) == 0 || slices.Contains(w.Protocol, k.Proto())) &&
		port(w.SourcePort, k.SrcPort()) && port(w.DestinationPort, k.DstPort()) && port(w.VLAN, f.vlan) &&
		(len(w.DSCP) == 0 || slices.Contains(w.DSCP, f.dscp)) && (len(w.VNI) == 0 || slices.ContainsFunc(w.VNI, vni)) &&
		(len(w.Device) == 0 || f.hasDevice && slices.Contains(w.Device, f.device))
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

func (d dice) watch() Watch {
	prefix := func() netip.Prefix {
		a := d.addr()
		return netip.PrefixFrom(a, d.IntN(a.BitLen()+1))
	}
	ports := func() PortRange {
		first := uint16(d.IntN(8)) * 9362 // up to 65534
		return PortRange{first, first + uint16(d.IntN(int(65535-first)+1))}
	}
	return Watch{
		Source: some(d, prefix), Destination: some(d, prefix), Protocol: some(d, func() uint8 { return uint8(d.IntN(2)) * 17 }),
		SourcePort: some(d, ports), DestinationPort: some(d, ports), Layer: Layer(d.IntN(3)),
		VLAN: some(d, ports), DSCP: some(d, func() uint8 { return uint8(d.IntN(3)) }),
		VNI:    some(d, func() VNIRange { n := d.Uint32N(4); return VNIRange{n, n + d.Uint32N(3)} }),
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
		r := &Rules{Watches: make([]Watch, d.IntN(MaxWatches+1))}
		for i := range r.Watches {
			r.Watches[i] = d.watch()
		}
		ws := compileWatches(r)
		for range 100 {
			k, inner := d.key(), d.key()
			f := facts{
				vlan: uint16(d.IntN(4096)), dscp: uint8(d.IntN(3)), inside: d.IntN(3) == 0,
				hasVNI: d.IntN(2) == 0, vni: d.Uint32N(6), hasDevice: d.IntN(2) == 0, device: 1 << (d.UintN(3) * 31),
			}
			if f.inside {
				f.inner = &k
			} else if d.IntN(2) == 0 {
				f.inner = &inner
			}
			want := uint8(NoWatch)
			if i := slices.IndexFunc(r.Watches, func(w Watch) bool { return w.selects(&k, &f) }); i >= 0 {
				want = uint8(i)
				matched++
			}
			if got := ws.match(&k, &f); got != want {
				t.Fatalf("%d watches: %d, want %d\nkey %+v, facts %+v", len(r.Watches), got, want, k, f)
			}
		}
	}
	if matched < 5000 {
		t.Errorf("only %d of 20000 matched: the test says little", matched)
	}
}

func TestPrefixesOfAllLengths(t *testing.T) {
	for _, s := range []string{"255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"} {
		a := netip.MustParseAddr(s)
		for n := range a.BitLen() + 1 {
			p := netip.PrefixFrom(a, n).Masked()
			x := newIndex([][]span{prefixSpans([]netip.Prefix{p}, a.Is4())})
			if !x.at(words(p.Addr())).has(0) || !x.at(words(a)).has(0) {
				t.Errorf("%v does not have its ends", p)
			}
			if before := p.Addr().Prev(); before.IsValid() && x.at(words(before)).has(0) {
				t.Errorf("%v has %v", p, before)
			}
		}
	}
}

// TestCollectorsAreNeverWatched, whatever else there is.
func TestCollectorsAreNeverWatched(t *testing.T) {
	ws := compileWatches(&Rules{
		Watches:    []Watch{{}},
		Collectors: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.10:8555"), netip.MustParseAddrPort("[2001:db8::1]:8555")},
	})
	for _, c := range []struct {
		k    flows.Key
		want uint8
	}{
		{key(17, "10.0.0.1", "192.0.2.10", 1, 8555), NoWatch},
		{key(17, "2001:db8::2", "2001:db8::1", 1, 8555), NoWatch},
		{key(6, "10.0.0.1", "192.0.2.10", 1, 8555), 0},
		{key(17, "10.0.0.1", "192.0.2.10", 1, 8556), 0},
		{key(17, "10.0.0.1", "192.0.2.11", 1, 8555), 0},
	} {
		if got := ws.match(&c.k, nil); got != c.want {
			t.Errorf("%+v: %d, want %d", c.k, got, c.want)
		}
	}
}

// TestFactsOfEveryEncapsulation: layers, VNI and VLAN are found around INT and behind
// it.
func TestFactsOfEveryEncapsulation(t *testing.T) {
	to := []netip.Prefix{netip.MustParsePrefix("10.1.0.1/32")}
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		_, marked := e.frames(t, false)
		tunnel := e.original
		if tunnel == nil {
			tunnel = e.around
		}
		vlan := e.source.OuterVLAN
		if !e.source.GREEthernet {
			vlan = 0
		}
		hasVNI := false
		if tunnel != nil {
			vlan = tunnel.VLAN
			hasVNI = tunnel.Encap == intgen.VXLAN || tunnel.Encap == intgen.VXLANGPE || tunnel.Encap == intgen.Geneve
		}
		for _, c := range []struct {
			name  string
			watch Watch
			want  bool
		}{
			{"inner", Watch{Layer: InnerLayer, Destination: to, DestinationPort: []PortRange{{8000, 8000}}, Protocol: []uint8{17}}, tunnel != nil},
			{"inner, another", Watch{Layer: InnerLayer, DestinationPort: []PortRange{{8001, 8001}}}, false},
			{"inner, no list", Watch{Layer: InnerLayer}, tunnel != nil},
			{"outer", Watch{Layer: OuterLayer}, e.around == nil},
			{"own", Watch{Destination: to}, e.original == nil},
			{"VNI", Watch{VNI: []VNIRange{{7, 7}}}, hasVNI},
			{"another VNI", Watch{VNI: []VNIRange{{0, 6}, {8, 1<<24 - 1}}}, false},
			{"VLAN", Watch{VLAN: []PortRange{{vlan, vlan}}}, true},
			{"another VLAN", Watch{VLAN: []PortRange{{vlan + 1, 4095}}}, false},
			{"DSCP", Watch{DSCP: []uint8{0}}, true},
			{"device", Watch{Device: []uint64{5, 102}}, true},
			{"another device", Watch{Device: []uint64{100}}, false},
		} {
			b := e.bed(t)
			c.watch.Collectors = 1
			b.Reload(&Rules{INT: b.rules.INT, Watches: []Watch{c.watch}, Policies: b.rules.Policies, Report: b.rules.Report})
			b.step(2e6)
			b.network.rx = [][]byte{marked}
			b.Poll()
			if got := b.counters.Reported[event.Sample] == 1; got != c.want {
				t.Errorf("%s: watched %v, want %v", c.name, got, c.want)
			}
			b.balance()
		}
	})
}

// watching is a bed whose watches sample everything.
func watching(t *testing.T, watches ...Watch) *bed {
	return newBed(t, func(r *Rules) {
		r.INT.Version1, r.INT.Version0 = true, true
		r.INT.DSCP = &inthdr.DSCP{Value: 23, Mask: 63}
		r.INT.Domains = []inthdr.Domain{{ID: 0x5453}}
		r.INT.Domains[0].Bits[0].Length, r.INT.Domains[0].Bits[0].SourceOnly = 8, true
		r.INT.Geneve = &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}
		r.Devices = []DeviceField{{Domain: 0x5453, Bit: 0}}
		r.Watches = watches
		r.Policies = slices.Repeat([]event.Policy{{Sample: 1}}, len(watches))
	})
}

// watchOfPacket is the watch of the flow of one packet.
func (b *bed) watchOfPacket(frame []byte) uint8 {
	b.t.Helper()
	b.network.rx = [][]byte{frame}
	b.Poll()
	if b.burst.nINT != 1 || b.burst.flow[0] == nil {
		b.t.Fatal("no INT packet with a flow")
	}
	return b.burst.flow[0].Watch
}

func flowOf(vlans []uint16, dscp uint8) []byte {
	f := intgen.Flow{
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"),
		Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000, DSCP: dscp,
	}
	if n := len(vlans); n > 0 {
		f.VLANs, f.VLAN = vlans[:n-1], vlans[n-1]
	}
	return f.Frame(20, 1)
}

// TestAFlowFollowsItsPackets: where a packet has another VLAN, DSCP or way, its flow
// belongs to the watch that this packet fits.
func TestAFlowFollowsItsPackets(t *testing.T) {
	voice := Watch{VLAN: []PortRange{{100, 100}, {200, 300}}, DSCP: []uint8{46}}
	through := Watch{Device: []uint64{102}}
	b := watching(t, voice, through, Watch{VLAN: []PortRange{{0, 0}}})
	by := func(node uint32, vlan []uint16, dscp uint8, marking intgen.Marking) []byte {
		return withINT(t, flowOf(vlan, dscp), func(s *intgen.Source, hops []intgen.Hop) {
			s.Marking, s.DSCP, s.Mask = marking, 23, 63
			hops[1].NodeID = node
		})
	}
	b.network.room = unlimited
	for i, c := range []struct {
		frame []byte
		want  uint8
	}{
		{by(102, []uint16{100}, 46, intgen.ByPort), 0},
		{by(102, []uint16{100}, 0, intgen.ByPort), 1},
		{by(102, []uint16{250}, 46, intgen.ByDSCP), 0}, // its own, restored; not 23
		{by(7, []uint16{250}, 46, intgen.ByDSCP), 0},
		{by(7, []uint16{301}, 46, intgen.ByDSCP), NoWatch},
		{by(102, []uint16{301}, 46, intgen.ByDSCP), 1},
		{by(7, nil, 46, intgen.ByDSCP), 2},
		{by(7, []uint16{100, 5}, 46, intgen.ByPort), 0}, // QinQ: the outermost
		{by(7, []uint16{5, 100}, 46, intgen.ByPort), NoWatch},
	} {
		for range 2 { // the second is no news
			if got := b.watchOfPacket(c.frame); got != c.want {
				t.Errorf("packet %d: watch %d, want %d", i, got, c.want)
			}
		}
	}
	if b.table.Len() != 1 {
		t.Errorf("%d flows, want one", b.table.Len())
	}
	b.balance()
}

// TestPlainPacketsBesideOthers: what is known of a packet without its being parsed is
// not mixed up with the packet that was in its place before.
func TestPlainPacketsBesideOthers(t *testing.T) {
	b := watching(t, Watch{VLAN: []PortRange{{100, 100}}}, Watch{})
	untagged, tagged := withINT(t, flowOf(nil, 0), nil), withINT(t, flowOf([]uint16{100}, 0), nil)
	plain := 0
	for i := range 8 {
		frame, want := untagged, uint8(1)
		if i%3 == 2 {
			frame, want = tagged, 0
		}
		if got := b.watchOfPacket(frame); got != want {
			t.Errorf("packet %d: watch %d, want %d", i, got, want)
		}
		if b.burst.info[0].UDPv4 {
			plain++
		}
	}
	if plain < 3 {
		t.Errorf("only %d packets were plain: the test says little", plain)
	}
	b.balance()
}

// TestATunnelFollowsWhatItCarries: one outer flow, packets of several inner flows and
// networks.
func TestATunnelFollowsWhatItCarries(t *testing.T) {
	from := func(s string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(s)} }
	watches := []Watch{{Layer: InnerLayer, Source: from("10.0.0.1/32")}, {VNI: []VNIRange{{8, 9}}}, {Source: from("172.16.0.1/32")}}
	for encap, marking := range map[intgen.Encap]intgen.Marking{intgen.Geneve: intgen.ByGeneve, intgen.VXLAN: intgen.ByPort} {
		b := watching(t, watches...)
		for i, c := range []struct {
			inner int
			vni   uint32
			want  uint8
		}{{1, 7, 0}, {2, 7, 2}, {2, 8, 1}, {1, 8, 0}, {3, 7, 2}} {
			outer, err := tunnel(encap, true, func(t *intgen.Tunnel) { t.VNI = c.vni }).Wrap(plain(c.inner))
			if err != nil {
				t.Fatal(err)
			}
			marked := withINT(t, outer, func(s *intgen.Source, _ []intgen.Hop) { s.Marking = marking })
			if got := b.watchOfPacket(marked); got != c.want {
				t.Errorf("encapsulation %d, packet %d: watch %d, want %d", encap, i, got, c.want)
			}
		}
		if b.table.Len() != 1 {
			t.Errorf("encapsulation %d: %d flows, want one", encap, b.table.Len())
		}
		b.balance()
	}
}

// TestNoEvidenceOfTheWay leaves the watch of a flow as it is.
func TestNoEvidenceOfTheWay(t *testing.T) {
	b := watching(t, Watch{Device: []uint64{102}}, Watch{})
	good := withINT(t, plain(1), nil)
	if got := b.watchOfPacket(good); got != 0 {
		t.Fatalf("watch %d, want 0", got)
	}
	for name, change := range map[string]func(*intgen.Source, []intgen.Hop){
		"M":            func(s *intgen.Source, h []intgen.Hop) { s.MTUExceeded, h[1].NodeID = true, 7 },
		"unknown node": func(_ *intgen.Source, h []intgen.Hop) { h[1].NodeID = 0xffffffff },
	} {
		if got := b.watchOfPacket(withINT(t, plain(1), change)); got != 0 {
			t.Errorf("%s: watch %d, want 0", name, got)
		}
	}
	if got := b.watchOfPacket(withINT(t, plain(1), func(_ *intgen.Source, h []intgen.Hop) { h[1].NodeID = 7 })); got != 1 {
		t.Errorf("another way: watch %d, want 1", got)
	}
	b.balance()
}

// TestDevicesOfAllFormats: node ids of 1.0 and 2016, and of a domain.
func TestDevicesOfAllFormats(t *testing.T) {
	const mac = 0x020000000001
	b := watching(t, Watch{Device: []uint64{mac}}, Watch{Device: []uint64{103}}, Watch{})
	n := 0
	next := func(change func(*intgen.Source, []intgen.Hop)) []byte {
		n++
		return withINT(t, plain(n), change)
	}
	inDomain := func(id []byte) func(*intgen.Source, []intgen.Hop) {
		return func(s *intgen.Source, h []intgen.Hop) {
			s.DomainID, s.DSInstruction, s.SourceOnly = 0x5453, 0x8000, id
			h[0].NodeID = 9
		}
	}
	for i, c := range []struct {
		frame []byte
		want  uint8
	}{
		{next(nil), 1},
		{next(func(s *intgen.Source, _ []intgen.Hop) {
			s.Format, s.Marking, s.DSCP, s.Mask = intgen.Format1, intgen.ByDSCP, 23, 63
		}), 1},
		{format2016(t, 103), 1},
		{format2016(t, 104), 2},
		{next(func(_ *intgen.Source, h []intgen.Hop) { h[0].NodeID = 104 }), 2},
		{next(inDomain([]byte{0, 0, 2, 0, 0, 0, 0, 1})), 0},
		{next(inDomain([]byte{0, 0, 2, 0, 0, 0, 0, 2})), 2},
		{next(inDomain([]byte{255, 255, 255, 255, 255, 255, 255, 255})), 2},
	} {
		if got := b.watchOfPacket(c.frame); got != c.want {
			t.Errorf("packet %d: watch %d, want %d", i, got, c.want)
		}
	}
	b.balance()
}

// format2016 is a packet of the June 2016 format, over Geneve, through one node.
func format2016(t *testing.T, node uint32) []byte {
	outer, err := tunnel(intgen.Geneve, true, nil).Wrap(plain(1))
	if err != nil {
		t.Fatal(err)
	}
	return withINT(t, outer, func(s *intgen.Source, h []intgen.Hop) {
		s.Format, s.Marking = intgen.Format2016, intgen.ByGeneve
		for i := range h {
			h[i].NodeID = node
		}
	})
}

// TestReloadOfWatchesThatAsk: a flow that ends before its next packet is told of where
// its watch needs no packet.
func TestReloadOfWatchesThatAsk(t *testing.T) {
	for name, c := range map[string]struct {
		watch Watch
		want  uint64
	}{
		"asks for nothing": {Watch{Collectors: 1}, 1},
		"asks for a VLAN":  {Watch{VLAN: []PortRange{{0, 0}}, Collectors: 1}, 0},
		"inner":            {Watch{Layer: InnerLayer, Collectors: 1}, 0},
	} {
		b := newBed(t, nil)
		b.watchOfPacket(withINT(t, plain(1), nil))
		r := *b.rules
		r.Watches = []Watch{c.watch}
		b.Reload(&r)
		for range 50 {
			b.step(1e9)
		}
		if got := b.counters.Reported[event.FlowEnd]; got != c.want {
			t.Errorf("%s: %d ends reported, want %d", name, got, c.want)
		}
		b.balance()
	}
}

// TestSampleAndCollectorsPerWatch: each watch has a sample of its own, per packet or
// per flow, and sends to its own collectors.
func TestSampleAndCollectorsPerWatch(t *testing.T) {
	const n, packets = 400, 4
	b := newBed(t, func(r *Rules) {
		lower := func(s string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(s)} }
		r.Watches = []Watch{
			{Name: "by packet", Source: lower("10.0.0.0/25"), Collectors: 1},
			{Name: "by flow", Source: lower("10.0.0.0/16"), Collectors: 2},
		}
		r.Policies = []event.Policy{{Sample: 8}, {Sample: 8, SampleByFlow: true}}
		r.Collectors = append(r.Collectors, netip.MustParseAddrPort("192.0.2.11:8555"))
		r.Report.MaxPayload = []int{1358, 1358}
	})
	rings := []*ring.Ring{ring.New(1024), ring.New(1024)}
	b.Worker = NewWorker(WorkerConfig{
		Links:      []Link{{Name: "edge", Network: b.network, Host: b.host}},
		Collectors: rings, PacketPool: b.pool, ReportPool: b.reports, Seed: 7, Rules: b.rules,
		Flows: flows.Config{Capacity: 1024, Seed: 7, IdleTimeout: 30e9}, Clock: func() int64 { return b.now },
	})
	free := mbuf.NewVec()
	for range packets {
		for i := range n {
			b.network.rx = append(b.network.rx, withINT(t, plain(i), nil))
		}
		for len(b.network.rx) > 0 {
			b.Poll()
			b.step(2e6)
			for _, r := range rings {
				b.reports.FreeBulk(free, r.Pop(free, mbuf.MaxBurst))
			}
		}
	}
	b.Close()
	c := b.Snapshot()
	first, second := c.Collectors[0].Reports, c.Collectors[1].Reports
	if want := uint64(128 * packets / 8); first != want {
		t.Errorf("by packet: %d reports, want %d", first, want)
	}
	if second%packets != 0 || second < (n-128)*packets/16 || second > (n-128)*packets/4 {
		t.Errorf("by flow: %d reports, want all %d packets of about one flow in 8 of %d", second, packets, n-128)
	}
	if first+second != c.Reported[event.Sample] {
		t.Errorf("%d and %d reports, %d samples", first, second, c.Reported[event.Sample])
	}
}

// TestTunnelsCutShort: facts are never read beyond the frame.
func TestTunnelsCutShort(t *testing.T) {
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		_, marked := e.frames(t, false)
		b := watching(t, Watch{Layer: InnerLayer}, Watch{VNI: []VNIRange{{0, 6}}}, Watch{Device: []uint64{1}})
		b.Reload(&Rules{INT: e.int, Watches: b.rules.Watches, Policies: b.rules.Policies, Report: b.rules.Report})
		b.step(2e6)
		for i := range marked {
			cut := slices.Clip(slices.Clone(marked[:i]))
			b.network.rx = append(b.network.rx, cut)
			for bit := range 8 {
				flipped := slices.Clone(marked)
				flipped[i] ^= 1 << bit
				b.network.rx = append(b.network.rx, flipped)
			}
		}
		for len(b.network.rx) > 0 {
			b.Poll()
			b.step(2e6)
			b.sealed()
		}
		b.balance()
	})
}

// TestTunnelHeadersThatLie about what follows: nothing beyond the frame is read.
func TestTunnelHeadersThatLie(t *testing.T) {
	ports := packet.DefaultTunnelPorts
	frame := make([]byte, 64)
	for _, port := range []uint16{packet.PortVXLAN, packet.PortVXLANGPE, packet.PortGeneve, 1} {
		for first := range 256 {
			for at := range 70 {
				frame[8], frame[11] = byte(first), byte(first)
				var f facts
				h := originalHeaders{proto: packet.ProtoUDP, port: port, at: at, end: 60}
				if in := openTunnel(&ports, frame, &h, &f); in.at != 0 && in.at < at {
					t.Fatalf("port %d, %#x at %d: inside at %d", port, first, at, in.at)
				}
				h.proto = packet.ProtoGRE
				openTunnel(&ports, frame, &h, &f)
			}
		}
	}
}
