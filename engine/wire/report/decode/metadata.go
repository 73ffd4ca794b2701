// Metadata: the reporting node's own values, read by the one reader of hops: RepMdBits ask for the
// same values as the Instruction Bitmap does.

package decode

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
)

// Metadata are the reporting node's own values; inthdr.Unknown and inthdr.UnknownTime stand for what
// it does not tell or does not know. It has no NodeID: the header has.
type Metadata struct {
	inthdr.Hop
	inthdr.Rest
	DropReason, DropQueue uint32 // 8 bits each
}

// nothing is Metadata without values.
var nothing = emptyMetadata()

func emptyMetadata() (m Metadata) {
	l := inthdr.LayoutOf(0, inthdr.Format2)
	l.Read(&m.Hop, nil)
	l.ReadRest(&m.Rest, nil)
	m.DropReason, m.DropQueue = inthdr.Unknown, inthdr.Unknown
	return m
}

// own reads the values that bits ask for from b, as many as are there in full, and returns how many bytes they took. It
// notes a problem where some are missing.
func (p *Reports) own(r *Report, bits uint16, f inthdr.Format, b []byte) int {
	l := p.layoutOf(bits, f)
	for int(l.HopLen) > len(b) { // the last one has the lowest bit
		r.problem(ProblemMDLength)
		bits &= bits - 1
		l = p.layoutOf(bits, f)
	}
	n := int(l.HopLen)
	l.Read(&r.Own.Hop, b)
	l.ReadRest(&r.Own.Rest, b)
	r.Own.NodeID = inthdr.Unknown // bit 0 is reserved here
	if bits&report.MdDropReason != 0 {
		r.Own.drop(binary.BigEndian.Uint32(b[n-4:]))
	}
	return n
}

// layoutOf returns the layout of such values, which most reports of a packet have in common.
func (p *Reports) layoutOf(bits uint16, f inthdr.Format) *inthdr.Layout {
	if p.layout.Bitmap != bits || p.layout.Format != f || p.layout.HopLen == 0 {
		p.layout = inthdr.LayoutOf(bits, f)
	}
	return &p.layout
}

// drop reads queue id, drop reason and two bytes of padding.
func (m *Metadata) drop(word uint32) {
	if word == inthdr.Unknown {
		return
	}
	m.DropReason = word >> 16 & 0xff
	m.DropQueue = word >> 24
}
