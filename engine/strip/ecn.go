package strip

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// ECN codepoints (RFC 3168).
const (
	ect1 = 1
	ce   = 3
)

// markInside gives the packet inside of the GRE tunnel that goes the ECN field that
// RFC 6040, section 4.2 wants.
func markInside(b []byte, l *packet.Layers, i *inthdr.Info) {
	var in packet.Layers
	if packet.ParseInner(b, int(i.End), int(l.End), i.Next, &in) != packet.OK {
		return // never: so it was found
	}
	ecn := uint8(ect1)
	if i.Edit.Has(inthdr.SetCE) {
		ecn = ce
	}
	putECN(b[in.L3:], ecn)
}

// putECN sets the ECN field of the IP header h. The header checksum of IPv4 covers it
// (RFC 1624, equation 3).
func putECN(h []byte, ecn uint8) {
	if h[0]>>4 == 6 {
		h[1] = h[1]&^0x30 | ecn<<4
		return
	}
	old := binary.BigEndian.Uint16(h)
	h[1] = h[1]&^3 | ecn
	sum := packet.AddOnes(^binary.BigEndian.Uint16(h[10:]), ^old)
	binary.BigEndian.PutUint16(h[10:], ^packet.AddOnes(sum, binary.BigEndian.Uint16(h)))
}
