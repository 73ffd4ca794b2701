// Flow: builds original frames, IPv4 or IPv6 with options, MPLS, TCP or UDP; NthFlow, the n-th
// of many.

package intgen

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// IP protocol numbers.
const (
	TCP = 6
	UDP = 17
)

// Flow is the 5-tuple and link addresses of generated packets.
type Flow struct {
	SrcMAC, DstMAC   [6]byte
	VLANs            []uint16 // tags in front of VLAN; the innermost of all is 0x8100, others 0x88a8
	VLAN             uint16   // 0: no tag
	MPLS             []uint32 // labels, the outermost first
	Src, Dst         netip.Addr
	IPOptions        []byte      // IPv4, a multiple of four bytes
	Extensions       []Extension // IPv6, in order
	Proto            uint8       // anything but TCP and UDP: payload without a header
	SrcPort, DstPort uint16
	TCPOptions       []byte // a multiple of four bytes
	DSCP             uint8
}

// Extension headers of IPv6 (RFC 8200, section 4).
const (
	HopByHop           = 0
	DestinationOptions = 60
)

// Extension is an extension header of IPv6 whose length is in units of 8 bytes.
type Extension struct {
	Header  uint8  // HopByHop, DestinationOptions
	Options []byte // options; Pad1 up to the next unit is added
}

// Frame builds an Ethernet frame with n bytes of payload, valid checksums
// included. id numbers the packet: IPv4 identification, TCP sequence.
func (f *Flow) Frame(n int, id uint32) []byte {
	b := append(append(make([]byte, 0, 256+n), f.DstMAC[:]...), f.SrcMAC[:]...)
	tags := f.VLANs
	if f.VLAN != 0 {
		tags = append(slices.Clone(tags), f.VLAN)
	}
	b = appendTags(b, tags...)
	l4 := f.l4Length()
	b = f.appendL3(b, l4+n, id)
	at := len(b)
	b = f.appendL4(b, n, id)
	for i := range n {
		b = append(b, byte(int(id)+i))
	}
	c := ^fold(sum(pseudo(f.Src, f.Dst, f.Proto, len(b)-at), b[at:]))
	switch {
	case f.Proto == TCP:
		binary.BigEndian.PutUint16(b[at+16:], c)
	case f.Proto == UDP && c == 0:
		binary.BigEndian.PutUint16(b[at+6:], 0xffff)
	case f.Proto == UDP:
		binary.BigEndian.PutUint16(b[at+6:], c)
	}
	return b
}

func (f *Flow) l4Length() int {
	switch f.Proto {
	case TCP:
		return 20 + len(f.TCPOptions)
	case UDP:
		return 8
	}
	return 0
}

// appendL3 writes EtherType, labels and IP header of a packet with so many bytes
// behind the IP header and its extensions.
func (f *Flow) appendL3(b []byte, payload int, id uint32) []byte {
	ip := ipHeader{src: f.Src, dst: f.Dst, proto: f.Proto, dscp: f.DSCP, id: uint16(id), options: f.IPOptions}
	var extensions []byte
	if !f.Src.Is4() {
		ip.proto, extensions = chainExtensions(f.Extensions, f.Proto)
	}
	if len(f.MPLS) == 0 {
		b = binary.BigEndian.AppendUint16(b, ip.etherType())
	} else {
		b = f.appendLabels(binary.BigEndian.AppendUint16(b, etherMPLS))
	}
	return append(ip.append(b, len(extensions)+payload), extensions...)
}

// appendLabels writes the label stack (RFC 3032): label 20b, traffic class 3b,
// bottom of stack, TTL 8b.
func (f *Flow) appendLabels(b []byte) []byte {
	for i, label := range f.MPLS {
		entry := label<<12 | 64
		if i == len(f.MPLS)-1 {
			entry |= 1 << 8
		}
		b = binary.BigEndian.AppendUint32(b, entry)
	}
	return b
}

// chainExtensions returns the extension headers in front of proto and the Next Header of the IPv6
// header before them.
func chainExtensions(es []Extension, proto uint8) (first uint8, b []byte) {
	first = proto
	for _, e := range slices.Backward(es) {
		units := (len(e.Options) + 1) / 8
		h := append([]byte{first, byte(units)}, e.Options...)
		h = append(h, make([]byte, (units+1)*8-len(h))...)
		b, first = append(h, b...), e.Header
	}
	return first, b
}

// appendL4 writes a TCP or UDP header with checksum zero.
func (f *Flow) appendL4(b []byte, n int, id uint32) []byte {
	if f.Proto != TCP && f.Proto != UDP {
		return b
	}
	b = binary.BigEndian.AppendUint16(b, f.SrcPort)
	b = binary.BigEndian.AppendUint16(b, f.DstPort)
	if f.Proto == UDP {
		b = binary.BigEndian.AppendUint16(b, uint16(8+n))
		return append(b, 0, 0)
	}
	b = binary.BigEndian.AppendUint32(b, id)
	b = append(b, 0, 0, 0, 0, uint8(f.l4Length()/4)<<4, 0x10, 0xff, 0xff, 0, 0, 0, 0)
	return append(b, f.TCPOptions...)
}

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
