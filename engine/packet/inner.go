package packet

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

// EtherTypeAt is where the frame's EtherType stands: in front of IP, and of the
// labels where there are some.
func EtherTypeAt(l *Layers) int {
	return EthernetLen - 2 + 4*int(l.VLANs)
}
