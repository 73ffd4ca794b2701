package decode

import (
	"encoding/binary"

	"intsink/engine/report"
)

// transparentSecurity tells whether the individual report b is as the reference
// code of Transparent Security writes them, which is neither the profile nor the
// specification: RepType 0 in spite of main contents, lengths that do not add
// up, one report a packet, an InType of IP in front of a whole Ethernet frame.
// It returns where the packet stands behind the first word, or 0. A packet of
// IPv4 or IPv6 cannot be taken for it: RepMdBits are zero where those have their
// version.
func transparentSecurity(b []byte) int {
	const at = intMainLen + 4 // a word of zeros follows the main contents
	if len(b) < firstWordLen+at+ethernetLen || report.RepType(b[0]>>4) != report.InnerOnly {
		return 0
	}
	b = b[firstWordLen:]
	if b[0] != 0 || b[1] != 0 || binary.BigEndian.Uint16(b[2:]) != report.TransparentSecurityID ||
		binary.BigEndian.Uint32(b[intMainLen:]) != 0 || !isIPEtherType(binary.BigEndian.Uint16(b[at+12:])) {
		return 0
	}
	return at
}

func isIPEtherType(t uint16) bool { return t == etherIPv4 || t == etherIPv6 }

// decodeTransparentSecurity decodes b, main contents first, with the packet at
// the given place, up to the end of the payload.
func (d *Decoder) decodeTransparentSecurity(r *Report, b []byte, at int) {
	r.setMain(b)
	r.DSMetadata = clone(b[intMainLen:at])
	b = b[at:]
	r.Inner = Inner{Type: inTypes[report.Ethernet], Length: len(b)}
	r.Inner.Flow, r.Inner.INT = d.dissect(report.Ethernet, b)
}
