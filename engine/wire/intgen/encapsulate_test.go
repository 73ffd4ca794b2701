package intgen

import (
	"bytes"
	"net/netip"
	"testing"
)

func TestFlowHeaders(t *testing.T) {
	six := exampleFlow(132)
	six.Src, six.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	const addresses = "20010db8000000000000000000000001 20010db8000000000000000000000002 "
	for _, c := range []struct {
		name   string
		change func(f *Flow)
		flow   *Flow
		want   string // of the frame behind its addresses
	}{
		{"one tag", func(f *Flow) { f.VLAN = 5 }, exampleFlow(UDP), "81000005 0800" + exampleIP + exampleUDP},
		{"two tags", func(f *Flow) { f.VLANs = []uint16{6, 5} }, exampleFlow(UDP), "88a80006 81000005 0800" + exampleIP + exampleUDP},
		{"tags in both fields", func(f *Flow) { f.VLANs, f.VLAN = []uint16{6}, 5 }, exampleFlow(UDP), "88a80006 81000005 0800" + exampleIP + exampleUDP},
		{"labels", func(f *Flow) { f.MPLS = []uint32{0x12345, 16} }, exampleFlow(UDP), "8847 12345040 00010140" + exampleIP + exampleUDP},
		{"IP options", func(f *Flow) { f.IPOptions = []byte{0x94, 4, 0, 0} }, exampleFlow(UDP),
			"0800 46280024 00004000 4011919a 0a000001 0a000002 94040000" + exampleUDP},
		{"TCP options", func(f *Flow) { f.TCPOptions = []byte{2, 4, 5, 0xb4} }, exampleFlow(TCP),
			"0800 45280030 00004000 4006269e 0a000001 0a000002 03e807d0 00000000 00000000 6010ffff 76560000 020405b4 00010203"},
		{"any protocol", func(f *Flow) { f.Proto = 1 }, exampleFlow(UDP), "0800 45280018 00004000 400126bb 0a000001 0a000002 00010203"},
		{"extension headers", func(f *Flow) {
			f.Extensions = []Extension{{HopByHop, []byte{1, 4, 0, 0, 0, 0}}, {DestinationOptions, []byte{1, 5, 0, 0, 0, 0, 0}}}
		}, six, "86dd 62800000 001c 00 40" + addresses + "3c00010400000000 8401010500000000 0000000000000000 00010203"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := *c.flow
			c.change(&f)
			if got, want := f.Frame(4, 0)[12:], unhex(t, c.want); !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
}

func TestTunnelHeaders(t *testing.T) {
	six := func(x *Tunnel) { x.Src, x.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2") }
	for _, c := range []struct {
		name   string
		encap  Encap
		change func(x *Tunnel)
		proto  uint8
		want   string // behind the outer IP header
		inner  string
	}{
		{"VXLAN", VXLAN, func(x *Tunnel) { x.Checksum, x.Ethernet = false, false }, UDP, "c00012b5 003e0000 08000000 00006400", exampleFrame},
		{"VXLAN-GPE, IPv4", VXLANGPE, func(x *Tunnel) { x.Checksum, x.Ethernet = false, false }, UDP, "c00012b6 00300000 0c000001 00006400", exampleIP + exampleUDP},
		{"VXLAN-GPE, Ethernet", VXLANGPE, func(x *Tunnel) { x.Checksum = false }, UDP, "c00012b6 003e0000 0c000003 00006400", exampleFrame},
		{"Geneve, critical option", Geneve, func(x *Tunnel) { x.Checksum, x.Options = false, [][]byte{{1, 2, 0x80, 0}, {1, 2, 3, 0}} }, UDP,
			"c00017c1 00460000 02406558 00006400 01028000 01020300", exampleFrame},
		{"GRE, IPv4, sequence", OverGRE, func(x *Tunnel) { x.Checksum, x.Ethernet, x.Sequence = false, false, true }, GRE, "10000800 00000007", exampleIP + exampleUDP},
		{"GRE, Ethernet", OverGRE, func(x *Tunnel) { x.Checksum = false }, GRE, "00006558", exampleFrame},
		{"IP in IP", IPIP, func(x *Tunnel) {}, 4, "", exampleIP + exampleUDP},
	} {
		for _, v6 := range []bool{false, true} {
			tunnel := exampleTunnel(c.encap)
			tunnel.VLAN = 9
			if c.change(tunnel); v6 {
				six(tunnel)
			}
			got := wrap(t, tunnel)
			w := walk(got)
			if want := unhex(t, c.want+c.inner); !w.ip || !w.length || w.proto != c.proto || !bytes.Equal(got[w.l4:], want) {
				t.Errorf("%s, IPv6 %v: %x %+v\nwant %x", c.name, v6, got, w, want)
			}
			tunnel.Checksum = true
			if w := walk(wrap(t, tunnel)); c.encap != IPIP && (!w.checksum || w.error != 0xffff) {
				t.Errorf("%s, IPv6 %v: the checksum is wrong: %+v", c.name, v6, w)
			}
		}
	}
}

// INT goes behind labels, extension headers and options, too.
func TestInsertBehindOptions(t *testing.T) {
	f := exampleFlow(TCP)
	f.MPLS, f.IPOptions, f.TCPOptions = []uint32{16, 17}, make([]byte, 8), []byte{1, 1, 1, 1}
	orig := f.Frame(4, 0)
	s := Source{Marking: ByProbeMarker, ProbeMarker: 0x1111111111111111}
	for _, c := range []struct {
		before bool
		at     int
	}{{false, 14 + 8 + 28 + 24}, {true, 14 + 8 + 28 + 20}} {
		s.BeforeOptions = c.before
		out, err := s.Insert(orig, nil)
		if err != nil {
			t.Fatal(err)
		}
		block := unhex(t, "1111111111111111 10030000 20000000 00000000 00000000")
		if n := len(block); !bytes.Equal(out[c.at:c.at+n], block) || !bytes.Equal(out[c.at+n:], orig[c.at:]) {
			t.Errorf("before the options: %v\n%x", c.before, out)
		}
	}
}
