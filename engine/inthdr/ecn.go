// RFC 6040: what the ECN field becomes when the GRE tunnel that a source made is taken off.

package inthdr

import "intsink/engine/packet"

// ECN codepoints (RFC 3168).
const (
	notECT = 0
	ect1   = 1
	ect0   = 2
	ce     = 3
)

// decapsulate says what the ECN field of the packet inside of a GRE tunnel becomes
// when the tunnel, whose IP header l describes, is taken off (RFC 6040, section 4.2, figure 4):
// a mark that a queue on the way made must not get lost.
func (i *Info) decapsulate(b []byte, l *packet.Layers) Result {
	outer := ecnOf(b[l.L3:])
	if outer != ect1 && outer != ce {
		return Sound // these two change nothing
	}
	var in packet.Layers
	switch packet.ParseInner(b, int(i.End), int(l.End), i.Next, &in) {
	case packet.NeedMore:
		return NeedMore
	case packet.OK:
	default:
		return Sound // no IP, or none that is whole
	}
	switch inner := ecnOf(b[in.L3:]); {
	case outer == ce && inner == notECT:
		i.Edit |= DropCongested
	case outer == ce && inner != ce:
		i.Edit |= SetCE
	case outer == ect1 && inner == ect0:
		i.Edit |= SetECT1
	}
	return Sound
}

// ecnOf reads the ECN field of an IP header.
func ecnOf(h []byte) uint8 {
	if h[0]>>4 == 4 {
		return h[1] & 3
	}
	return h[1] >> 4 & 3
}
