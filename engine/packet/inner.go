package packet

// EtherTypes of what a tunnel carries.
const (
	InIPv4     = etherTypeIPv4
	InIPv6     = etherTypeIPv6
	InEthernet = 0x6558 // transparent Ethernet bridging (RFC 1701)
)

// ParseInner is Parse for what stands at offset at inside of a tunnel, of the
// given EtherType and no longer than to limit. Offsets in l count from the start
// of the frame, as those of the outer layers do.
func ParseInner(b []byte, at, limit int, etherType uint16, l *Layers) Status {
	if etherType == InEthernet {
		if at+ethernetLen > limit {
			return Truncated
		}
		if len(b) < at+ethernetLen {
			return NeedMore
		}
		return parseEthernet(b, at, limit, l)
	}
	*l = Layers{L3: uint16(at), EtherType: etherType}
	switch etherType {
	case InIPv4:
		return parseIPv4(b, limit, l)
	case InIPv6:
		return parseIPv6(b, limit, l)
	}
	return NotIP
}

// EtherTypeAt is where the frame's EtherType stands: in front of IP, and of the
// labels where there are some.
func EtherTypeAt(l *Layers) int {
	return ethernetLen - 2 + 4*int(l.VLANs)
}

// UDP ports and IP protocols of tunnels.
const (
	PortVXLAN = 4789 // RFC 7348

	ProtoIPv4 = 4  // RFC 2003
	ProtoIPv6 = 41 // RFC 2473, RFC 4213
	ProtoGRE  = 47 // RFC 2784
)
