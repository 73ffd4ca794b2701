package engine

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"intsink/dpdk/ring"
	"intsink/engine/burst"
	"intsink/engine/enginetest"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// tagged is plain in a VLAN.
func tagged(n int, vlan uint16) []byte {
	f := intgen.Flow{Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1}), Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000, VLAN: vlan}
	return f.Frame(20, uint32(n))
}

// TestINTOfSomePacketsOnly: in one VLAN, or of one prefix, INT goes; the same bytes elsewhere are the packet's own, and
// pass in both directions, uncounted.
func TestINTOfSomePacketsOnly(t *testing.T) {
	int10, int20, untagged := withINT(t, tagged(1, 10), nil), withINT(t, tagged(1, 20), nil), withINT(t, tagged(1, 0), nil)
	other := withINT(t, tagged(9, 10), nil)
	ntp := func(f []byte) []byte { f[len(f)-24], f[len(f)-23] = 0x1f, 0x90; return f }
	for _, c := range []struct {
		name     string
		only     inthdr.Only
		in, want [][]byte
		int      uint64
	}{
		{"VLAN 10", inthdr.Only{VLANs: []inthdr.PortRange{{First: 10, Last: 10}}}, [][]byte{int10, int20, untagged, int10}, [][]byte{tagged(1, 10), int20, untagged, tagged(1, 10)}, 2},
		{"untagged", inthdr.Only{VLANs: []inthdr.PortRange{{}}}, [][]byte{int10, int20, untagged}, [][]byte{int10, int20, tagged(1, 0)}, 1},
		{"a prefix", inthdr.Only{Prefixes: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/29")}}, [][]byte{int10, other, int20}, [][]byte{tagged(1, 10), other, tagged(1, 20)}, 2},
		{"a prefix in a VLAN", inthdr.Only{VLANs: []inthdr.PortRange{{First: 20, Last: 30}}, Prefixes: []netip.Prefix{netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("10.1.0.1/32")}},
			[][]byte{int10, other, int20, untagged}, [][]byte{int10, other, tagged(1, 20), untagged}, 1},
		{"INT that is none", inthdr.Only{VLANs: []inthdr.PortRange{{First: 10, Last: 10}}}, [][]byte{ntp(bytes.Clone(int20))}, [][]byte{ntp(bytes.Clone(int20))}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, func(r *Rules) { r.INT.Only = &c.only })
			for range 4 { // parsed, then by templates
				b.network.RX, b.host.TX = frames(c.in...), nil
				b.Poll()
				if !slices.EqualFunc(b.host.TX, c.want, bytes.Equal) {
					t.Fatalf("left %x\nwant %x", b.host.TX, c.want)
				}
			}
			b.host.RX = frames(c.in...)
			b.Poll()
			if !slices.EqualFunc(b.network.TX, c.in, bytes.Equal) {
				t.Errorf("to the network left %x", b.network.TX)
			}
			b.step(2e6)
			l := b.Snapshot().Links[0]
			if l.INT[inthdr.MD] != 4*c.int || l.ToNetwork.Leaked != c.int || slices.Max(l.Malformed[:]) != 0 || l.ToNetwork.Marked != [tonetwork.NumMarkActions]uint64{} {
				t.Errorf("INT %v, leaked %d, malformed %v, marked %v", l.INT, l.ToNetwork.Leaked, l.Malformed, l.ToNetwork.Marked)
			}
			b.balance()
		})
	}
}

// twoLinks is a bed with a second link, whose ports are returned.
func twoLinks(t *testing.T, change func(*Rules)) (b *bed, network, host *memQueue) {
	b = newBed(t, change)
	network, host = enginetest.NewPort(b.pool), enginetest.NewPort(b.pool)
	b.remake(func(c *WorkerConfig) {
		c.Links = append(c.Links, burst.Link{Name: "other", Network: network, Host: host, NetworkID: 3, HostID: 4})
		for len(c.Outlets) < len(c.Rules.Collectors) {
			c.Outlets = append(c.Outlets, reporting.Outlet{Ring: ring.New(64)})
		}
	})
	return b, network, host
}

// TestLinksWithINTOfTheirOwn: one link's INT is marked by a port and passes malformed, the other's by a DSCP and does not;
// a reload takes the second link's own away, and gives it back.
func TestLinksWithINTOfTheirOwn(t *testing.T) {
	byPort, mark := withINT(t, plain(1), nil), withINT(t, plain(1), byDSCP)
	unsound := bytes.Clone(mark)
	unsound[14+20+8] = 0xf0 // a type that no document has
	own := &INTRules{INT: inthdr.Config{DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}, Version2: true}, DropMalformed: true, Leak: tonetwork.DropLeaks}
	b, network, host := twoLinks(t, func(r *Rules) { r.Own = []*INTRules{nil, own} })
	sent := [][]byte{byPort, mark, unsound}
	poll := func(when string, first, second [][]byte) {
		t.Helper()
		b.network.RX, network.RX, b.host.TX, host.TX = frames(sent...), frames(sent...), nil, nil
		b.Poll()
		if !slices.EqualFunc(b.host.TX, first, bytes.Equal) || !slices.EqualFunc(host.TX, second, bytes.Equal) {
			t.Fatalf("%s: left %x\nand %x", when, b.host.TX, host.TX)
		}
	}
	ofPort, ofDSCP := [][]byte{plain(1), mark, unsound}, [][]byte{byPort, plain(1)}
	for range 4 {
		poll("at first", ofPort, ofDSCP)
	}
	b.host.RX, host.RX = frames(byPort, mark), frames(byPort, mark)
	if b.Poll(); !slices.EqualFunc(b.network.TX, [][]byte{byPort, mark}, bytes.Equal) || !slices.EqualFunc(network.TX, [][]byte{byPort}, bytes.Equal) {
		t.Errorf("to the network left %x\nand %x", b.network.TX, network.TX)
	}
	b.step(2e6)
	l := b.Snapshot().Links
	if l[0].INT[inthdr.MD] != 4 || l[1].INT[inthdr.MD] != 4 || l[0].ToNetwork.Leaked != 1 || l[1].ToNetwork.Leaked != 1 ||
		slices.Max(l[0].Malformed[:]) != 0 || l[1].Malformed[inthdr.ReasonType] != 4 || l[1].Direction[burst.ToHost].Dropped[burst.DropMalformed] != 4 {
		t.Errorf("%+v", l)
	}
	with, without := *b.rules, *b.rules
	without.Own = nil
	for range 2 {
		b.Reload(&without)
		b.step(2e6)
		poll("without", ofPort, ofPort)
		poll("without", ofPort, ofPort)
		b.Reload(&with)
		b.step(2e6)
		poll("again", ofPort, ofDSCP)
		poll("again", ofPort, ofDSCP)
	}
	b.balance()
}

// TestWatchesByLink: flows belong to the watch of the link that their packets come by, also where they change links; drops and
// malformed packets are told to the collectors of the link's watches alone.
func TestWatchesByLink(t *testing.T) {
	policy := event.Policy{Events: event.Malformed.Set() | event.Leak.Set(), Sample: 1}
	for _, asked := range []bool{false, true} {
		b, network, host := twoLinks(t, func(r *Rules) {
			r.Collectors = append(r.Collectors, reporting.Collector{Address: netip.MustParseAddrPort("192.0.2.11:8555"), MaxPayload: 1358})
			r.Watches = []watch.Watch{
				{Name: "other", Match: watch.Match{Ingress: []uint16{watch.IngressOf(1, false), watch.IngressOf(1, true)}}, Policy: policy, Collectors: 2},
				{Name: "edge", Match: watch.Match{Ingress: []uint16{watch.IngressOf(0, false)}}, Policy: policy, Collectors: 1},
			}
			if asked { // a fact that C does not know: every packet is Go's
				r.Watches = append(r.Watches, watch.Watch{Match: watch.Match{VNI: []watch.VNIRange{{First: 9, Last: 9}}}})
			}
		})
		packet, unsound := withINT(t, plain(1), nil), withINT(t, plain(2), nil)
		unsound[14+20+8] = 0xf0
		reports := func() (n [2]uint64) {
			b.step(2e9)
			s := b.Snapshot()
			return [2]uint64{s.Collectors[0].Reports, s.Collectors[1].Reports}
		}
		var want [2]uint64
		for i, step := range []struct {
			port  *memQueue
			frame []byte
			to    []int
		}{
			{b.network, packet, []int{0}}, {b.network, packet, []int{0}}, {network, packet, []int{1}}, {network, packet, []int{1}}, {b.network, packet, []int{0}},
			{network, packet, []int{1}}, {b.network, unsound, []int{0}}, {network, unsound, []int{1}}, {host, packet, []int{1}}, {b.host, packet, nil},
		} {
			step.port.RX = frames(step.frame)
			b.Poll()
			for _, c := range step.to {
				want[c]++
			}
			if got := reports(); got != want {
				t.Errorf("asked %v, step %d: reports %v, want %v", asked, i, got, want)
			}
		}
		for _, o := range b.config.Outlets[1:] {
			enginetest.Sealed(o.Ring, b.reports)
		}
		b.Close()
		for _, o := range b.config.Outlets[1:] {
			enginetest.Sealed(o.Ring, b.reports)
		}
		b.balance()
	}
}
