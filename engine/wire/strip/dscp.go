// PutDSCP: another DSCP in one layer of a packet, and the checksums that cover it.

package strip

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// PutDSCP gives the IP header of l, in the frame b, another DSCP. outers are the layers around it. The header
// checksum of IPv4 makes up for the change, so that no checksum around it changes; over IPv6 the innermost one
// around it does (RFC 1624, equation 3).
func PutDSCP(b []byte, l *packet.Layers, dscp uint8, outers []packet.Layers) {
	h := b[l.L3:]
	was := binary.BigEndian.Uint16(h)
	if l.IPVersion == 4 {
		h[1] = dscp<<2 | h[1]&3
		addTo(h[10:], was, binary.BigEndian.Uint16(h))
		return
	}
	h[0], h[1] = h[0]&0xf0|dscp>>2, h[1]&0x3f|dscp<<6
	for d := len(outers) - 1; d >= 0; d-- {
		o := &outers[d]
		at := checksumAt(b, o)
		if at == 0 {
			continue
		}
		addTo(b[at:], was, binary.BigEndian.Uint16(h))
		if o.Proto == packet.ProtoUDP && binary.BigEndian.Uint16(b[at:]) == 0 {
			binary.BigEndian.PutUint16(b[at:], 0xffff)
		}
		return
	}
}

// addTo updates the checksum that sum begins with for a word that was changed.
func addTo(sum []byte, from, to uint16) {
	s := checksum.AddOnes(^binary.BigEndian.Uint16(sum), ^from)
	binary.BigEndian.PutUint16(sum, ^checksum.AddOnes(s, to))
}
