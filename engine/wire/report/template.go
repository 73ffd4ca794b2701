// Template: the report template: all bytes in front of the packet that is shown, in reports that
// differ in little else.

package report

import "encoding/binary"

// maxHead is the longest that a Template has in front of the packet: main contents with 48
// bytes of metadata, an Explanation, and the headers of both TLVs.
const maxHead = 2 * blockLen

// Template holds the bytes of a report in front of the packet that it shows. Reports of one
// template differ only in that packet, in whether its queue is congested, and in their
// Explanation. The zero value is no template.
type Template struct {
	b         [maxHead]byte
	n         int    // of b; 0: there is none
	first     uint32 // the first word, but for the length of a 2.0 report
	congested uint32 // and what a congested queue sets in it
	explained int    // where an Explanation stands in b; 0: there is none
	packet    bool   // a TLV with the packet stands behind the Explanation
	format    Format
}

// Make makes t the template of reports like r. Of the inner contents only InType counts, and
// CongestedQueue is ignored. explained: an Explanation stands in front of the packet. It returns
// false, and t is the zero value, if the format has no such report or it is too long for a
// template.
func (t *Template) Make(f Format, r *Individual, explained bool) bool {
	c := *r
	c.Inner, c.CongestedQueue = nil, false
	t.n, t.format, t.explained, t.packet = 0, f, 0, false
	if f != Format20 {
		return !explained && t.makeOld(&c)
	}
	if explained {
		c.InType = TLV
	}
	n := firstWordLen + c.words()*4
	if !c.sound() || n+explainedLen > maxHead {
		return false
	}
	c.put(t.b[:n], 0)
	t.first, t.congested = binary.BigEndian.Uint32(t.b[:]), uint32(bit(true, 6))
	if explained {
		n = t.explain(n, r.InType)
	}
	t.n = n
	return true
}

// explainedLen is what an Explanation takes, and the headers of its TLV and of the packet's.
const explainedLen = tlvHeaderLen + ExplanationLen + tlvHeaderLen

// explain makes room for an Explanation at n, and puts a TLV for a packet of type in behind
// it, as Individual.Explain does.
func (t *Template) explain(n int, in InType) (end int) {
	var none Explanation
	r := Individual{InType: in}
	r.Explain(&none, t.b[n:])
	t.explained, t.packet = n+tlvHeaderLen, len(r.Inner) > tlvHeaderLen+ExplanationLen
	return n + len(r.Inner)
}

// setPacket makes the TLV of the packet one for n bytes of it.
func (t *Template) setPacket(n int) {
	if t.packet {
		t.b[(t.n-tlvHeaderLen+1)&(maxHead-1)] = uint8((n + 3) / 4)
	}
}

// SetEvents makes t a template of reports for these events, given as in an Explanation. What else
// that says is to be written to each report: see Explained.
func (t *Template) SetEvents(events uint32) {
	if t.explained != 0 {
		e := Explanation{Events: events, Trigger: NoTrigger}
		e.Put(t.b[t.explained:])
	}
}

// Explained returns the place in a report by t where its Explanation stands; 0: there is none.
func (t *Template) Explained() int { return t.explained }

// makeOld is Make for the formats before 2.0, whose reports stand alone in a packet: the
// template is all of the packet, but for what Seal writes.
func (t *Template) makeOld(r *Individual) bool {
	start := startLen(t.format)
	if !r.old() {
		return false
	}
	clear(t.b[:]) // 0.5 has words that only Seal writes
	first, n := r.putOld(t.format, t.b[start:])
	r.CongestedQueue = true
	with, _ := r.putOld(t.format, t.b[start:])
	t.first, t.congested, t.n = first, with&^first, start+n
	return true
}

// Clear makes t none.
func (t *Template) Clear() { t.n = 0 }

// IsNone reports whether t is none.
func (t *Template) IsNone() bool { return t.n == 0 }

// word returns the first word of a report.
func (t *Template) word(congested bool) uint32 {
	if congested {
		return t.first | t.congested
	}
	return t.first
}

// Size returns the length of a 2.0 report that shows n bytes of a packet.
func (t *Template) Size(n int) int {
	if t.explained != 0 {
		n = min(n, MaxTLVData)
	}
	return t.n + (n+3)&^3
}

// GrowthAs is Growth for a report by t that shows n bytes of a packet.
func (p *Packet) GrowthAs(t *Template, n int) int {
	if p.last || p.buf == nil {
		return 0
	}
	room := len(p.buf) - p.n
	if t.format != Format20 {
		return t.oldSize(n, room)
	}
	if size := t.Size(n); size <= room {
		return size
	}
	return 0
}

// Alone returns the payload length of a packet with room for so many bytes that carries nothing but
// a report by t that shows n bytes of a packet; 0: it does not fit.
func (t *Template) Alone(n, room int) int {
	start := startLen(t.format)
	if t.format != Format20 {
		if size := t.oldSize(n, room-start); size > 0 {
			return start + size
		}
		return 0
	}
	if size := start + t.Size(n); size <= room {
		return size
	}
	return 0
}

// oldSize is Individual.oldSize.
func (t *Template) oldSize(n, room int) int {
	if head := t.n - startLen(t.format); head <= room {
		return min(head+n, room)
	}
	return 0
}
