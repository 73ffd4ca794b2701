// Dissects the reported packet: MACs, VLANs, IPv4, IPv6 with extensions, ports, TCP flags,
// into a Flow as JSON.

package decode

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"intsink/engine/packet"
	"intsink/engine/report"
)

// Flow is what the headers of a packet say. Fields beyond where the packet is
// cut are absent. Where INT changed the destination port, the protocol or the
// DSCP and says what they were, these are the original ones.
type Flow struct {
	SourceMAC       string   `json:"source_mac,omitempty"`
	DestinationMAC  string   `json:"destination_mac,omitempty"`
	VLANs           []uint16 `json:"vlans,omitempty"` // ids, the outer one first
	EtherType       *uint16  `json:"ethertype,omitempty"`
	Source          string   `json:"source,omitempty"`
	Destination     string   `json:"destination,omitempty"`
	Length          *int     `json:"length,omitempty"` // bytes of the IP datagram, INT included
	DSCP            *uint8   `json:"dscp,omitempty"`
	Protocol        *uint8   `json:"protocol,omitempty"`
	SourcePort      *uint16  `json:"source_port,omitempty"`
	DestinationPort *uint16  `json:"destination_port,omitempty"`
	TCPFlags        *uint8   `json:"tcp_flags,omitempty"`
}

// dissector reads one packet. rest is what no header has taken yet.
type dissector struct {
	*Decoder
	flow    Flow
	rest    []byte
	options []byte // from the TCP options on, where there are some
	depth   int    // transport headers so far: INT can hide one

	fragment bool                     // the packet is the first fragment of one
	datagram int                      // bytes behind the last UDP header, by its length
	agree    bool                     // that is what the IP header says, too
	behindIP struct{ left, rest int } // bytes behind the last IP header: by its length, and in rest at that time
}

// CarriesINT reports whether a packet, which may be cut anywhere, carries INT: it is then no
// report.
func (d *Decoder) CarriesINT(t report.InType, b []byte) bool {
	_, stack := d.dissect(t, b)
	return stack != nil
}

// dissect reads the headers of a packet that may be cut anywhere, and its INT.
func (d *Decoder) dissect(t report.InType, b []byte) (*Flow, *Stack) {
	x := dissector{Decoder: d, rest: b}
	ether := uint16(packet.EtherTypeIPv4)
	switch t {
	case report.IPv6:
		ether = packet.EtherTypeIPv6
	case report.Ethernet:
		ether = packet.EtherTypeEthernet
	}
	return &x.flow, x.packet(ether)
}

// packet reads a packet of that EtherType.
func (x *dissector) packet(ether uint16) *Stack {
	ok := true
	if ether == packet.EtherTypeEthernet {
		ether, ok = x.ethernet()
	}
	if ok && (ether == packet.EtherTypeMPLS || ether == packet.EtherTypeMPLSUpstream) {
		ether, ok = x.labels()
	}
	var proto uint8
	switch {
	case ok && ether == packet.EtherTypeIPv4:
		proto, ok = x.ipv4()
	case ok && ether == packet.EtherTypeIPv6:
		proto, ok = x.ipv6()
	default:
		ok = false
	}
	if !ok {
		return nil
	}
	return x.transport(proto)
}

// take returns the next n bytes, nil where they are not there.
func (x *dissector) take(n int) []byte {
	if n < 0 || len(x.rest) < n {
		return nil
	}
	b := x.rest[:n:n]
	x.rest = x.rest[n:]
	return b
}

// trim drops the padding of the report where the IP datagram says that only n
// more bytes are its own. More than padding is left: a wrong length must not hide
// anything.
func (x *dissector) trim(n int) {
	if extra := len(x.rest) - n; n >= 0 && extra > 0 && extra < 4 {
		x.rest = x.rest[:n]
	}
}

// endAt is trim behind an IP header, and keeps what that says of the packet's end.
func (x *dissector) endAt(n int) {
	x.trim(n)
	x.behindIP.left, x.behindIP.rest = n, len(x.rest)
}

func (x *dissector) ethernet() (etherType uint16, ok bool) {
	b := x.take(packet.EthernetLen)
	if b == nil {
		return 0, false
	}
	x.flow.DestinationMAC, x.flow.SourceMAC = mac(b), mac(b[6:])
	etherType = binary.BigEndian.Uint16(b[12:])
	for packet.IsVLAN(etherType) {
		tag := x.take(packet.VLANLen)
		if tag == nil {
			return 0, false
		}
		x.flow.VLANs = append(x.flow.VLANs, binary.BigEndian.Uint16(tag)&0xfff)
		etherType = binary.BigEndian.Uint16(tag[2:])
	}
	x.flow.EtherType = &etherType
	return etherType, true
}

func mac(b []byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
}

// ipv4 is false where no transport header follows: cut, or a later fragment.
func (x *dissector) ipv4() (proto uint8, ok bool) {
	b := x.take(packet.IPv4Len)
	if b == nil || b[0]>>4 != 4 || b[0]&0xf < 5 {
		return 0, false
	}
	x.flow.Source = netip.AddrFrom4([4]byte(b[12:])).String()
	x.flow.Destination = netip.AddrFrom4([4]byte(b[16:])).String()
	x.flow.Length = ref(int(binary.BigEndian.Uint16(b[2:])))
	x.flow.DSCP, x.flow.Protocol = ref(b[1]>>2), ref(b[9])
	x.endAt(*x.flow.Length - packet.IPv4Len)
	options := x.take(int(b[0]&0xf)*4 - packet.IPv4Len)
	const offset, moreFragments = 0x1fff, 0x2000
	fragment := binary.BigEndian.Uint16(b[6:])
	x.fragment = fragment&moreFragments != 0
	return b[9], options != nil && fragment&offset == 0
}

// ipv6 passes over extension headers.
func (x *dissector) ipv6() (proto uint8, ok bool) {
	b := x.take(packet.IPv6Len)
	if b == nil || b[0]>>4 != 6 {
		return 0, false
	}
	x.flow.Source = netip.AddrFrom16([16]byte(b[8:])).String()
	x.flow.Destination = netip.AddrFrom16([16]byte(b[24:])).String()
	x.flow.Length = ref(packet.IPv6Len + int(binary.BigEndian.Uint16(b[4:])))
	x.flow.DSCP = ref(uint8(binary.BigEndian.Uint16(b) >> 6 & 0x3f))
	x.endAt(*x.flow.Length - packet.IPv6Len)
	proto = b[6]
	for {
		x.flow.Protocol = ref(proto)
		if proto != 0 && proto != 43 && proto != 44 && proto != 60 { // hop-by-hop, routing, fragment, destination options
			return proto, true
		}
		h := x.take(8)
		if h == nil {
			return 0, false
		}
		more := int(h[1]) * 8
		if proto == 44 {
			more, x.fragment = 0, h[3]&1 != 0
		}
		later := proto == 44 && binary.BigEndian.Uint16(h[2:])>>3 != 0
		proto = h[0]
		if later {
			x.flow.Protocol = ref(proto)
		}
		if later || x.take(more) == nil {
			return 0, false
		}
	}
}

// transport reads the TCP or UDP header and the INT behind it.
func (x *dissector) transport(proto uint8) *Stack {
	if x.depth++; x.depth > maxNested {
		return nil
	}
	switch proto {
	case packet.ProtoTCP:
		b := x.take(20)
		if b == nil {
			x.ports(x.rest)
			return nil
		}
		x.ports(b)
		x.flow.TCPFlags = ref(b[13])
		x.options = nil
		if b[12]>>4 > 5 {
			x.options = x.rest
			if x.take(int(b[12]>>4)*4-20) == nil {
				x.rest = nil
			}
		}
	case packet.ProtoUDP:
		b := x.take(packet.UDPLen)
		if b == nil {
			x.ports(x.rest)
			return nil
		}
		x.ports(b)
		x.datagram = int(binary.BigEndian.Uint16(b[4:])) - packet.UDPLen
		x.agree = x.datagram == x.behindIP.left-(x.behindIP.rest-len(x.rest))
		port, behind := *x.flow.DestinationPort, x.rest
		if s := x.tunnel(port); s != nil {
			return s
		}
		if s := x.findINT(proto); s != nil {
			return s
		}
		x.rest = behind
		return x.insideUDP(port)
	case packet.ProtoGRE:
		return x.gre()
	case packet.ProtoIPv4:
		return x.inside(packet.EtherTypeIPv4)
	case packet.ProtoIPv6:
		return x.inside(packet.EtherTypeIPv6)
	default:
		return nil
	}
	return x.findINT(proto)
}

// ports reads as many ports as b, the start of a TCP or UDP header, has.
func (x *dissector) ports(b []byte) {
	if len(b) >= 2 {
		x.flow.SourcePort = ref(binary.BigEndian.Uint16(b))
	}
	if len(b) >= 4 {
		x.flow.DestinationPort = ref(binary.BigEndian.Uint16(b[2:]))
	}
}
