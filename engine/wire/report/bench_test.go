package report

import (
	"net/netip"
	"testing"
)

// BenchmarkAppend builds one individual report with five values and 128 bytes
// of the packet, sealing the packet when it is full.
func BenchmarkAppend(b *testing.B) {
	buf, md, inner := make([]byte, 1358), make([]byte, 48), make([]byte, 128)
	m := Metadata{IngressPort: 1, EgressPort: 2}
	r := Individual{RepType: INT, InType: IPv4, RepMdBits: MdInterfaces | MdHopLatency | MdQueue | MdIngressTimestamp | MdEgressTimestamp, Inner: inner}
	var p Packet
	p.Open(buf)
	b.ReportAllocs()
	for b.Loop() {
		r.Metadata = md[:m.Put(md, r.RepMdBits)]
		if !p.Append(&r) {
			p.Seal(group)
			p.Open(buf)
		}
	}
}

// BenchmarkFrame puts headers in front of a full report packet.
func BenchmarkFrame(b *testing.B) {
	f := UDPFrame{Src: netip.MustParseAddrPort("192.0.2.1:1"), Dst: netip.MustParseAddrPort("192.0.2.2:2")}
	frame := make([]byte, 1400)
	b.ReportAllocs()
	for b.Loop() {
		f.Put(frame)
	}
}
