//go:build !race

package report

import (
	"net/netip"
	"testing"
)

// The packet path allocates nothing.
func TestNoAllocations(t *testing.T) {
	buf := make([]byte, 1500)
	md := make([]byte, 48)
	inner := make([]byte, 256)
	fragment := make([]byte, 128)
	var p Packet
	r := Individual{RepType: INT, InType: TLV, RepMdBits: 0x7f81}
	m := Metadata{IngressPort: 1, HopLatencyNs: 2}
	old := Individual{InType: IPv4, RepMdBits: 0x7f80, Own: &m, Inner: fragment}
	f4 := UDPFrame{Src: netip.MustParseAddrPort("192.0.2.1:1"), Dst: netip.MustParseAddrPort("192.0.2.2:2")}
	f6 := UDPFrame{VLAN: 7, Src: netip.MustParseAddrPort("[2001:db8::1]:1"), Dst: netip.MustParseAddrPort("[2001:db8::2]:2")}
	n := testing.AllocsPerRun(100, func() {
		r.Metadata = md[:m.Put(md, r.RepMdBits)]
		at := PutTLV(inner, TLVDSExtension, 1, fragment[:5])
		at += PutTLV(inner[at:], TLVIPv4, 0, fragment)
		r.Inner = inner[:at]
		p.Open(buf[f6.HeaderLen():])
		for p.Append(&r) {
		}
		if p.Seal(group) == nil {
			t.Error("nothing sealed")
		}
		for _, f := range []Format{Format10, Format05} {
			p.OpenAs(f, buf[f6.HeaderLen():])
			if !p.Append(&old) || p.Seal(group) == nil {
				t.Error("nothing sealed")
			}
		}
		f4.Put(buf)
		f6.Put(buf)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
