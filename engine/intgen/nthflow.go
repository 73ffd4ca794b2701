package intgen

import (
	"encoding/binary"
	"net/netip"
)

// MAC addresses of NthFlow.
var (
	SourceMAC      = [6]byte{2, 0, 0, 0, 0, 1}
	DestinationMAC = [6]byte{2, 0, 0, 0, 0, 2}
)

// NthFlow is one of 1<<24 flows: addresses and ports count. It is TCP or UDP, over
// IPv6 or IPv4.
func NthFlow(n int, tcp, ipv6 bool) *Flow {
	f := &Flow{SrcMAC: SourceMAC, DstMAC: DestinationMAC, Proto: UDP, SrcPort: uint16(1024 + n%60000), DstPort: 8000}
	if tcp {
		f.Proto = TCP
	}
	if ipv6 {
		src := [16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8}
		binary.BigEndian.PutUint32(src[12:], uint32(n+1))
		dst := src
		dst[7] = 1
		f.Src, f.Dst = netip.AddrFrom16(src), netip.AddrFrom16(dst)
		return f
	}
	f.Src = netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
	f.Dst = netip.AddrFrom4([4]byte{10, 128 | byte(n>>16), byte(n >> 8), byte(n)})
	return f
}
