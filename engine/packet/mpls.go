// Skips MPLS label stacks and calls the IP parser behind them; for Parse and for what tunnels
// enclose.

package packet

const maxLabels = 8

// parseMPLS steps over the label stack of RFC 3032. Nothing in it names what
// follows: IP is taken where the version and all lengths of its header say so, as
// RFC 4928 section 3 expects of those who look. Anything else is not IP; what stands
// behind more than maxLabels labels is not looked at.
func parseMPLS(b []byte, pktLen int, l *Layers) Status {
	at := int(l.L3)
	for range maxLabels {
		if len(b) < at+4 {
			return short(pktLen, at+4)
		}
		bottom := b[at+2]&1 != 0
		at += 4
		if bottom {
			l.L3 = uint16(at)
			return parseLabelled(b, pktLen, l)
		}
	}
	return TooDeep
}

func parseLabelled(b []byte, pktLen int, l *Layers) Status {
	if len(b) <= int(l.L3) {
		return short(pktLen, int(l.L3)+1)
	}
	s := NotIP
	switch b[l.L3] >> 4 {
	case 4:
		s = parseIPv4(b, pktLen, l)
	case 6:
		s = parseIPv6(b, pktLen, l)
	}
	if s == Truncated {
		return NotIP
	}
	return s
}
