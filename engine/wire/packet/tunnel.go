// The one opener of tunnels (VXLAN, VXLAN-GPE, Geneve, GRE), for inthdr, watches and strip: checks
// the tunnel's header; ParseInner, the packet inside.

package packet

import "encoding/binary"

// Tunnel describes the packet inside a tunnel, as the tunnel's header gives it.
type Tunnel struct {
	HeaderLen int    // bytes in front of the packet inside, options included
	EtherType uint16 // of the packet inside, as ParseInner takes it
	VNI       uint32 // network identifier of VXLAN, VXLAN-GPE and Geneve
	HasVNI    bool
}

// TunnelPorts are the UDP destination ports of tunnels besides VXLAN's.
type TunnelPorts struct{ GPE, Geneve uint16 }

// DefaultTunnelPorts are the ports that the standards assign.
var DefaultTunnelPorts = TunnelPorts{GPE: PortVXLANGPE, Geneve: PortGeneve}

// Has reports whether port is the UDP port of a tunnel.
func (p *TunnelPorts) Has(port uint16) bool {
	return port == PortVXLAN || port == p.GPE || port == p.Geneve
}

// OpenUDP reads h, what follows a UDP header to that destination port: VXLAN (RFC 7348),
// VXLAN-GPE or Geneve (RFC 8926). False: no tunnel, a version or a next protocol that
// nothing is known of, or less than the fixed header. HeaderLen may be more than h has.
func (p *TunnelPorts) OpenUDP(h []byte, port uint16) (t Tunnel, ok bool) {
	if len(h) < VXLANLen {
		return Tunnel{}, false
	}
	h = h[:VXLANLen]
	t = Tunnel{HeaderLen: VXLANLen, EtherType: EtherTypeEthernet, VNI: binary.BigEndian.Uint32(h[4:]) >> 8, HasVNI: h[0]&VXLANHasVNI != 0}
	switch port {
	case PortVXLAN:
		return t, true
	case p.GPE:
		if h[0]&VXLANHasNextProtocol == 0 {
			return t, true // RFC 7348: Ethernet
		}
		t.EtherType = GPEEtherType(h[3])
		return t, t.EtherType != 0
	case p.Geneve:
		t.HeaderLen = GeneveHeaderLen(h[0])
		t.EtherType, t.HasVNI = binary.BigEndian.Uint16(h[2:]), true
		return t, h[0]>>6 == 0 // the version
	}
	return Tunnel{}, false
}

// GPEEtherType returns the EtherType of a next protocol of VXLAN-GPE, or 0 if it is neither IP
// nor Ethernet.
func GPEEtherType(next uint8) uint16 {
	switch next {
	case GPENextIPv4:
		return EtherTypeIPv4
	case GPENextIPv6:
		return EtherTypeIPv6
	case GPENextEthernet:
		return EtherTypeEthernet
	}
	return 0
}

// GeneveHeaderLen returns the length of a Geneve header with its options; first is its first byte.
func GeneveHeaderLen(first uint8) int { return GeneveLen + int(first&0x3f)*4 }

// OpenGRE reads the GRE header h (RFC 2784, RFC 2890). False: it has routing or another
// version, or h is shorter than the fixed header. HeaderLen may be more than h has.
func OpenGRE(h []byte) (t Tunnel, ok bool) {
	if len(h) < GRELen {
		return Tunnel{}, false
	}
	flags := binary.BigEndian.Uint16(h)
	if flags&(GRERouting|GREVersion) != 0 {
		return Tunnel{}, false
	}
	return Tunnel{HeaderLen: GREHeaderLen(flags), EtherType: binary.BigEndian.Uint16(h[2:])}, true
}

// GREHeaderLen returns the length of a GRE header with these flags.
func GREHeaderLen(flags uint16) int {
	n := GRELen
	for _, f := range [3]uint16{GREChecksum, GREKey, GRESequence} {
		if flags&f != 0 {
			n += 4
		}
	}
	return n
}

// ParseInner is Parse for what stands at offset at inside of a tunnel, of the
// given EtherType and no longer than to limit. Offsets in l count from the start
// of the frame, as those of the outer layers do.
func ParseInner(b []byte, at, limit int, etherType uint16, l *Layers) Status {
	if etherType == EtherTypeEthernet {
		if at+EthernetLen > limit {
			return Truncated
		}
		if len(b) < at+EthernetLen {
			return NeedMore
		}
		return parseEthernet(b, at, limit, l)
	}
	*l = Layers{L3: uint16(at), EtherType: etherType}
	switch etherType {
	case EtherTypeIPv4:
		return parseIPv4(b, limit, l)
	case EtherTypeIPv6:
		return parseIPv6(b, limit, l)
	}
	return NotIP
}

// EtherTypeAt returns where the frame's EtherType stands: in front of IP, and of the labels where
// there are some.
func EtherTypeAt(l *Layers) int {
	return EthernetLen - 2 + 4*int(l.VLANs)
}
