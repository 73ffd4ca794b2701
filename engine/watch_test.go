package engine

import (
	"net/netip"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

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
			watch watch.Watch
			want  bool
		}{
			{"inner", watch.Watch{Match: watch.Match{Layer: watch.InnerLayer, Destination: to, DestinationPort: []watch.PortRange{{First: 8000, Last: 8000}}, Protocol: []uint8{17}}}, tunnel != nil},
			{"inner, another", watch.Watch{Match: watch.Match{Layer: watch.InnerLayer, DestinationPort: []watch.PortRange{{First: 8001, Last: 8001}}}}, false},
			{"inner, no list", watch.Watch{Match: watch.Match{Layer: watch.InnerLayer}}, tunnel != nil},
			{"outer", watch.Watch{Match: watch.Match{Layer: watch.OuterLayer}}, e.around == nil},
			{"own", watch.Watch{Match: watch.Match{Destination: to}}, e.original == nil},
			{"VNI", watch.Watch{Match: watch.Match{VNI: []watch.VNIRange{{First: 7, Last: 7}}}}, hasVNI},
			{"another VNI", watch.Watch{Match: watch.Match{VNI: []watch.VNIRange{{First: 0, Last: 6}, {First: 8, Last: 1<<24 - 1}}}}, false},
			{"VLAN", watch.Watch{Match: watch.Match{VLAN: []watch.PortRange{{First: vlan, Last: vlan}}}}, true},
			{"another VLAN", watch.Watch{Match: watch.Match{VLAN: []watch.PortRange{{First: vlan + 1, Last: 4095}}}}, false},
			{"DSCP", watch.Watch{Match: watch.Match{DSCP: []uint8{0}}}, true},
			{"device", watch.Watch{Match: watch.Match{Device: []uint64{5, 102}}}, true},
			{"another device", watch.Watch{Match: watch.Match{Device: []uint64{100}}}, false},
		} {
			b := e.bed(t)
			c.watch.Collectors, c.watch.Policy = 1, b.rules.Watches[0].Policy
			b.Reload(&Rules{INT: b.rules.INT, Watches: []watch.Watch{c.watch}, Collectors: b.rules.Collectors, Report: b.rules.Report})
			b.step(2e6)
			b.network.RX = [][]byte{marked}
			b.Poll()
			if got := b.counters.Reported[event.Sample] == 1; got != c.want {
				t.Errorf("%s: watched %v, want %v", c.name, got, c.want)
			}
			b.balance()
		}
	})
}

// watching is a bed whose watches sample everything.
func watching(t *testing.T, watches ...watch.Watch) *bed {
	return newBed(t, func(r *Rules) {
		r.INT.Version1, r.INT.Version0 = true, true
		r.INT.DSCP = []inthdr.DSCP{{Value: 23, Mask: 63}}
		r.INT.Domains = []inthdr.Domain{{ID: 0x5453}}
		r.INT.Domains[0].Bits[0].Length, r.INT.Domains[0].Bits[0].SourceOnly = 8, true
		r.INT.Geneve = &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}
		r.Devices = []watch.DeviceField{{Domain: 0x5453, Bit: 0}}
		r.Watches = slices.Clone(watches)
		for i := range r.Watches {
			r.Watches[i].Policy.Sample = 1
		}
	})
}

// watchOfPacket is the watch of the flow of one packet.
func (b *bed) watchOfPacket(frame []byte) uint8 {
	b.t.Helper()
	b.network.RX = [][]byte{frame}
	b.Poll()
	if b.burst.Fast.Len() != 1 || b.burst.Fast.Flows[0] == nil {
		b.t.Fatal("no INT packet with a flow")
	}
	return b.burst.Fast.Flows[0].Watch
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
	voice := watch.Watch{Match: watch.Match{VLAN: []watch.PortRange{{First: 100, Last: 100}, {First: 200, Last: 300}}, DSCP: []uint8{46}}}
	through := watch.Watch{Match: watch.Match{Device: []uint64{102}}}
	b := watching(t, voice, through, watch.Watch{Match: watch.Match{VLAN: []watch.PortRange{{First: 0, Last: 0}}}})
	by := func(node uint32, vlan []uint16, dscp uint8, marking intgen.Marking) []byte {
		return withINT(t, flowOf(vlan, dscp), func(s *intgen.Source, hops []intgen.Hop) {
			s.Marking, s.DSCP, s.Mask = marking, 23, 63
			hops[1].NodeID = node
		})
	}
	b.network.Room = unlimited
	for i, c := range []struct {
		frame []byte
		want  uint8
	}{
		{by(102, []uint16{100}, 46, intgen.ByPort), 0},
		{by(102, []uint16{100}, 0, intgen.ByPort), 1},
		{by(102, []uint16{250}, 46, intgen.ByDSCP), 0}, // its own, restored; not 23
		{by(7, []uint16{250}, 46, intgen.ByDSCP), 0},
		{by(7, []uint16{301}, 46, intgen.ByDSCP), watch.None},
		{by(102, []uint16{301}, 46, intgen.ByDSCP), 1},
		{by(7, nil, 46, intgen.ByDSCP), 2},
		{by(7, []uint16{100, 5}, 46, intgen.ByPort), 0}, // QinQ: the outermost
		{by(7, []uint16{5, 100}, 46, intgen.ByPort), watch.None},
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
	b := watching(t, watch.Watch{Match: watch.Match{VLAN: []watch.PortRange{{First: 100, Last: 100}}}}, watch.Watch{})
	untagged, tagged := withINT(t, flowOf(nil, 0), nil), withINT(t, flowOf([]uint16{100}, 0), nil)
	known := 0
	for i := range 8 {
		frame, want := untagged, uint8(1)
		if i%3 == 2 {
			frame, want = tagged, 0
		}
		if got := b.watchOfPacket(frame); got != want {
			t.Errorf("packet %d: watch %d, want %d", i, got, want)
		}
		if b.burst.Fast.Unknown == 0 {
			known++
		}
	}
	if known < 3 {
		t.Errorf("only %d packets had a template: the test says little", known)
	}
	b.balance()
}

// TestATunnelFollowsWhatItCarries: one outer flow, packets of several inner flows and
// networks.
func TestATunnelFollowsWhatItCarries(t *testing.T) {
	from := func(s string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(s)} }
	watches := []watch.Watch{{Match: watch.Match{Layer: watch.InnerLayer, Source: from("10.0.0.1/32")}}, {Match: watch.Match{VNI: []watch.VNIRange{{First: 8, Last: 9}}}}, {Match: watch.Match{Source: from("172.16.0.1/32")}}}
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
	b := watching(t, watch.Watch{Match: watch.Match{Device: []uint64{102}}}, watch.Watch{})
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
	b := watching(t, watch.Watch{Match: watch.Match{Device: []uint64{mac}}}, watch.Watch{Match: watch.Match{Device: []uint64{103}}}, watch.Watch{})
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

// TestReloadOfWatchesThatAsk: after a reload, the end of a flow without further packets is
// reported only if its watch matches by the key alone.
func TestReloadOfWatchesThatAsk(t *testing.T) {
	for name, c := range map[string]struct {
		watch watch.Watch
		want  uint64
	}{
		"asks for nothing": {watch.Watch{Collectors: 1}, 1},
		"asks for a VLAN":  {watch.Watch{Match: watch.Match{VLAN: []watch.PortRange{{First: 0, Last: 0}}}, Collectors: 1}, 0},
		"inner":            {watch.Watch{Match: watch.Match{Layer: watch.InnerLayer}, Collectors: 1}, 0},
	} {
		b := newBed(t, nil)
		b.watchOfPacket(withINT(t, plain(1), nil))
		r := *b.rules
		c.watch.Policy = r.Watches[0].Policy
		r.Watches = []watch.Watch{c.watch}
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
		r.Watches = []watch.Watch{
			{Name: "by packet", Match: watch.Match{Source: lower("10.0.0.0/25")}, Policy: event.Policy{Sample: 8}, Collectors: 1},
			{Name: "by flow", Match: watch.Match{Source: lower("10.0.0.0/16")}, Policy: event.Policy{Sample: 8, SampleByFlow: true}, Collectors: 2},
		}
		r.Collectors = append(r.Collectors, reporting.Collector{Address: netip.MustParseAddrPort("192.0.2.11:8555")})
		r.setPayloads(1358, 1358)
	})
	rings := []*ring.Ring{ring.New(1024), ring.New(1024)}
	b.remake(func(c *WorkerConfig) { c.Outlets = outlets(rings) })
	free := mbuf.NewVec()
	for range packets {
		for i := range n {
			b.network.RX = append(b.network.RX, withINT(t, plain(i), nil))
		}
		for len(b.network.RX) > 0 {
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
	if want := uint64(128 * packets / 8); first < want*3/4 || first > want*5/4 {
		t.Errorf("by packet: %d reports, want about %d", first, want)
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
		b := watching(t, watch.Watch{Match: watch.Match{Layer: watch.InnerLayer}}, watch.Watch{Match: watch.Match{VNI: []watch.VNIRange{{First: 0, Last: 6}}}}, watch.Watch{Match: watch.Match{Device: []uint64{1}}})
		b.Reload(&Rules{INT: e.int, Watches: b.rules.Watches, Collectors: b.rules.Collectors, Report: b.rules.Report})
		b.step(2e6)
		for i := range marked {
			cut := slices.Clip(slices.Clone(marked[:i]))
			b.network.RX = append(b.network.RX, cut)
			for bit := range 8 {
				flipped := slices.Clone(marked)
				flipped[i] ^= 1 << bit
				b.network.RX = append(b.network.RX, flipped)
			}
		}
		for len(b.network.RX) > 0 {
			b.Poll()
			b.step(2e6)
			b.sealed()
		}
		b.balance()
	})
}
