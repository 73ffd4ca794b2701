// UDPFrame: Ethernet, VLAN, IP (with a DSCP) and UDP headers around a report packet, with checksums
// by internal/checksum.

package report

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// UDPFrame is the Ethernet, IP and UDP headers around a report packet. Dst
// chooses IPv4 or IPv6; Src is of the same family.
type UDPFrame struct {
	SrcMAC, DstMAC [6]byte
	VLAN           uint16 // 802.1Q VLAN id, 1 to 4094; 0 is no tag
	Src, Dst       netip.AddrPort
	DSCP, TTL      uint8  // TTL is the hop limit of IPv6, too; 0: DefaultTTL
	ID             uint16 // of IPv4: the path may cut the packet into fragments; 0: DF is set
}

// NextID makes the next packet one that the path may cut: its identification is the one behind the last.
func (f *UDPFrame) NextID() {
	if f.ID++; f.ID == 0 {
		f.ID = 1
	}
}

// DefaultTTL is the TTL or hop limit of report packets unless UDPFrame says another.
const DefaultTTL = 64

func (f *UDPFrame) ttl() byte {
	if f.TTL == 0 {
		return DefaultTTL
	}
	return f.TTL
}

func (f *UDPFrame) is4() bool { return f.Dst.Addr().Unmap().Is4() }

func (f *UDPFrame) linkLen() int {
	if f.VLAN != 0 {
		return packet.EthernetLen + packet.VLANLen
	}
	return packet.EthernetLen
}

// HeaderLen returns the length of all headers in bytes.
func (f *UDPFrame) HeaderLen() int {
	if f.is4() {
		return f.linkLen() + packet.IPv4Len + packet.UDPLen
	}
	return f.linkLen() + packet.IPv6Len + packet.UDPLen
}

// Put writes the headers to the first HeaderLen bytes of frame, whose rest is
// the payload, at most 65507 bytes. IPv4 has an identification, or DF
// (Telemetry Report 2.0, section "Outer Encapsulation"; RFC 6864); the UDP
// checksum is computed. A frame shorter than the headers is left alone.
func (f *UDPFrame) Put(frame []byte) {
	if len(frame) < f.HeaderLen() {
		return
	}
	copy(frame, f.DstMAC[:])
	copy(frame[6:], f.SrcMAC[:])
	at := 12
	if f.VLAN != 0 {
		binary.BigEndian.PutUint16(frame[12:], packet.EtherTypeVLAN)
		binary.BigEndian.PutUint16(frame[14:], f.VLAN&0xfff)
		at = 16
	}
	ip := frame[at+2:]
	if f.is4() {
		binary.BigEndian.PutUint16(frame[at:], packet.EtherTypeIPv4)
		f.putIPv4(ip)
		return
	}
	binary.BigEndian.PutUint16(frame[at:], packet.EtherTypeIPv6)
	f.putIPv6(ip)
}

func (f *UDPFrame) putIPv4(ip []byte) {
	src, dst := as4(f.Src), as4(f.Dst)
	h := ip[:packet.IPv4Len]
	clear(h)
	h[0], h[1] = 0x45, f.DSCP<<2
	binary.BigEndian.PutUint16(h[2:], uint16(len(ip)))
	binary.BigEndian.PutUint16(h[4:], f.ID)
	if f.ID == 0 {
		h[6] = 0x40 // DF
	}
	h[8], h[9] = f.ttl(), packet.ProtoUDP
	copy(h[12:], src[:])
	copy(h[16:], dst[:])
	binary.BigEndian.PutUint16(h[10:], ^checksum.Sum(h))
	f.putUDP(ip[packet.IPv4Len:], checksum.Sum(h[12:20]))
}

func (f *UDPFrame) putIPv6(ip []byte) {
	src, dst := f.Src.Addr().As16(), f.Dst.Addr().As16()
	h := ip[:packet.IPv6Len]
	clear(h)
	h[0], h[1] = 0x60|f.DSCP>>2, f.DSCP<<6
	binary.BigEndian.PutUint16(h[4:], uint16(len(ip)-packet.IPv6Len))
	h[6], h[7] = packet.ProtoUDP, f.ttl()
	copy(h[8:], src[:])
	copy(h[24:], dst[:])
	f.putUDP(ip[packet.IPv6Len:], checksum.Sum(h[8:40]))
}

// putUDP writes the UDP header of the datagram udp; addresses is the sum of
// both addresses.
func (f *UDPFrame) putUDP(udp []byte, addresses uint16) {
	binary.BigEndian.PutUint16(udp, f.Src.Port())
	binary.BigEndian.PutUint16(udp[2:], f.Dst.Port())
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	udp[6], udp[7] = 0, 0
	pseudo := checksum.AddOnes(checksum.AddOnes(addresses, packet.ProtoUDP), uint16(len(udp)))
	c := ^checksum.AddOnes(pseudo, checksum.Sum(udp))
	if c == 0 {
		c = 0xffff // RFC 768: zero means that there is none
	}
	binary.BigEndian.PutUint16(udp[6:], c)
}

// as4 is a's IPv4 address, 0.0.0.0 where it has none.
func as4(a netip.AddrPort) [4]byte {
	if ip := a.Addr().Unmap(); ip.Is4() {
		return ip.As4()
	}
	return [4]byte{}
}
