package intgen

import (
	"encoding/binary"
	"net/netip"
)

// IP protocol numbers.
const (
	TCP = 6
	UDP = 17
)

// Flow is the 5-tuple and link addresses of generated packets.
type Flow struct {
	SrcMAC, DstMAC   [6]byte
	VLAN             uint16 // 0: no tag
	Src, Dst         netip.Addr
	Proto            uint8 // TCP or UDP
	SrcPort, DstPort uint16
	DSCP             uint8
}

// Frame builds an Ethernet frame with n bytes of payload, valid checksums
// included. id numbers the packet: IPv4 identification, TCP sequence.
func (f *Flow) Frame(n int, id uint32) []byte {
	b := append(append(make([]byte, 0, 128+n), f.DstMAC[:]...), f.SrcMAC[:]...)
	if f.VLAN != 0 {
		b = binary.BigEndian.AppendUint16(b, 0x8100)
		b = binary.BigEndian.AppendUint16(b, f.VLAN)
	}
	l4 := 8
	if f.Proto == TCP {
		l4 = 20
	}
	if f.Src.Is4() {
		b = f.appendIPv4(b, l4+n, id)
	} else {
		b = f.appendIPv6(b, l4+n)
	}
	at := len(b)
	b = f.appendL4(b, n, id)
	for i := range n {
		b = append(b, byte(int(id)+i))
	}
	c := ^fold(sum(f.pseudo(len(b)-at), b[at:]))
	switch {
	case f.Proto == TCP:
		binary.BigEndian.PutUint16(b[at+16:], c)
	case c == 0:
		binary.BigEndian.PutUint16(b[at+6:], 0xffff)
	default:
		binary.BigEndian.PutUint16(b[at+6:], c)
	}
	return b
}

func (f *Flow) appendIPv4(b []byte, payload int, id uint32) []byte {
	b = binary.BigEndian.AppendUint16(b, 0x0800)
	at := len(b)
	b = append(b, 0x45, f.DSCP<<2)
	b = binary.BigEndian.AppendUint16(b, uint16(20+payload))
	b = binary.BigEndian.AppendUint16(b, uint16(id))
	b = append(b, 0x40, 0, 64, f.Proto, 0, 0)
	b = append(append(b, f.Src.AsSlice()...), f.Dst.AsSlice()...)
	binary.BigEndian.PutUint16(b[at+10:], ^fold(sum(0, b[at:])))
	return b
}

func (f *Flow) appendIPv6(b []byte, payload int) []byte {
	b = binary.BigEndian.AppendUint16(b, 0x86dd)
	b = append(b, 0x60|f.DSCP>>2, f.DSCP<<6, 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(payload))
	b = append(b, f.Proto, 64)
	return append(append(b, f.Src.AsSlice()...), f.Dst.AsSlice()...)
}

func (f *Flow) appendL4(b []byte, n int, id uint32) []byte {
	b = binary.BigEndian.AppendUint16(b, f.SrcPort)
	b = binary.BigEndian.AppendUint16(b, f.DstPort)
	if f.Proto == UDP {
		b = binary.BigEndian.AppendUint16(b, uint16(8+n))
		return append(b, 0, 0)
	}
	b = binary.BigEndian.AppendUint32(b, id)
	return append(b, 0, 0, 0, 0, 5<<4, 0x10, 0xff, 0xff, 0, 0, 0, 0)
}

// pseudo is the sum of the pseudo header (RFC 768, RFC 8200 section 8.1).
func (f *Flow) pseudo(l4 int) uint32 {
	return sum(sum(uint32(f.Proto)+uint32(l4), f.Src.AsSlice()), f.Dst.AsSlice())
}

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
