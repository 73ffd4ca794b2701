package report

import (
	"encoding/binary"
	"net/netip"
)

// UDPFrame is the Ethernet, IP and UDP headers around a report packet.
type UDPFrame struct {
	SrcMAC, DstMAC [6]byte
	Src, Dst       netip.AddrPort
}

const (
	ethernetLen = 14
	ipv4Len     = 20
	ipv6Len     = 40
	udpLen      = 8
	reportTTL   = 64
)

func (f *UDPFrame) is4() bool { return f.Dst.Addr().Unmap().Is4() }

// HeaderLen is the length of all headers in bytes.
func (f *UDPFrame) HeaderLen() int {
	if f.is4() {
		return ethernetLen + ipv4Len + udpLen
	}
	return ethernetLen + ipv6Len + udpLen
}

// Put writes the headers to the first HeaderLen bytes of frame, whose rest is
// the payload. IPv4 has DF set and identification 0 (Telemetry Report 2.0,
// section "Outer Encapsulation"; RFC 6864); the UDP checksum is computed.
func (f *UDPFrame) Put(frame []byte) {
	copy(frame, f.DstMAC[:])
	copy(frame[6:], f.SrcMAC[:])
	ip := frame[ethernetLen:]
	if f.is4() {
		binary.BigEndian.PutUint16(frame[12:], 0x0800)
		f.putIPv4(ip)
		return
	}
	binary.BigEndian.PutUint16(frame[12:], 0x86dd)
	f.putIPv6(ip)
}

func (f *UDPFrame) putIPv4(ip []byte) {
	src, dst := f.Src.Addr().Unmap().As4(), f.Dst.Addr().Unmap().As4()
	h := ip[:ipv4Len]
	clear(h)
	h[0] = 0x45
	binary.BigEndian.PutUint16(h[2:], uint16(len(ip)))
	h[6] = 0x40 // DF
	h[8], h[9] = reportTTL, 17
	copy(h[12:], src[:])
	copy(h[16:], dst[:])
	binary.BigEndian.PutUint16(h[10:], ^fold(sum(0, h)))
	f.putUDP(ip[ipv4Len:], sum(sum(0, src[:]), dst[:]))
}

func (f *UDPFrame) putIPv6(ip []byte) {
	src, dst := f.Src.Addr().As16(), f.Dst.Addr().As16()
	h := ip[:ipv6Len]
	clear(h)
	h[0] = 0x60
	binary.BigEndian.PutUint16(h[4:], uint16(len(ip)-ipv6Len))
	h[6], h[7] = 17, reportTTL
	copy(h[8:], src[:])
	copy(h[24:], dst[:])
	f.putUDP(ip[ipv6Len:], sum(sum(0, src[:]), dst[:]))
}

// putUDP writes the UDP header of the datagram udp; addresses is the sum of
// both addresses.
func (f *UDPFrame) putUDP(udp []byte, addresses uint32) {
	binary.BigEndian.PutUint16(udp, f.Src.Port())
	binary.BigEndian.PutUint16(udp[2:], f.Dst.Port())
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	udp[6], udp[7] = 0, 0
	c := ^fold(sum(addresses+17+uint32(len(udp)), udp))
	if c == 0 {
		c = 0xffff // RFC 768: zero means that there is none
	}
	binary.BigEndian.PutUint16(udp[6:], c)
}

// sum adds the 16-bit words of b to s (RFC 1071); packets are short enough for
// 32 bits.
func sum(s uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return s
}

func fold(s uint32) uint16 {
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s)
}
