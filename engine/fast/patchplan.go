// Makes a template's patches and sums ahead (draft.plan): C repairs lengths and checksums with
// them when it strips.

package fast

import "encoding/binary"

// plan makes the patches and sums of a template, which C strips most packets with (strip.h). It
// makes them if all changes are in front of INT, within few blocks of 32 bytes, and at most one
// checksum is that of an IPv4 header and one that of TCP or UDP. Other templates have none.
func (m *draft) plan() {
	t := &m.t
	t.patches, t.l4SumAt = 0, 0
	t.ipSumAt, t.ipSumAdd = etherTypeAt, 1
	n := max(2, int(t.start+31)/32)
	if m.bad || t.start < 32 || n > maxPatches || t.words > maxWords || !m.planSums() {
		return
	}
	var minus, flip [16 * maxPatches]uint16 // by offset, in words of 16 bits
	for _, l := range t.length[:t.lengths] {
		if !t.isInFront(l.at) {
			return
		}
		minus[l.at/2] = uint16(t.removed)
	}
	be := binary.BigEndian
	for _, e := range t.edit[:t.edits] {
		fixed := uint16(m.front[e.at])<<8 | uint16(m.front[e.at+1])
		if !t.isInFront(e.at) || ^swap(e.keep)&^fixed != 0 {
			return
		}
		was := be.Uint16(m.b[e.at:])
		flip[e.at/2] ^= was ^ (was&swap(e.keep) | swap(e.value))
	}
	if !t.isInFront(uint16(t.portTo)) || minus[t.portTo/2]|flip[t.portTo/2] != 0 || t.ipSumAt == etherTypeAt && flip[etherTypeAt/2] != 0 {
		return
	}
	for k := range n {
		from := 0
		if k > 0 {
			from = max(0, int(t.start)/2-16*k)
		}
		copy(t.patch[k].minus[:], minus[from:])
		copy(t.patch[k].flip[:], flip[from:])
	}
	t.patches = uint16(n)
	t.l4SumAdd += uint32(t.words) << 16
	t.pieces = uint32(t.words / 8)
	for i := 32 - t.removed%32; i < 32; i++ {
		t.last[i] = 0xff
	}
}

// isInFront tells whether the two bytes at offset at are a whole number of the headers in
// front of INT.
func (t *Template) isInFront(at uint16) bool { return at%2 == 0 && uint32(at)+2 <= t.start }

// planSums finds the two checksums, and by how much they grow besides the bytes that are removed.
// It returns false if there are other checksums. Both are of Template.sum without complements:
// fold(^x) is 0xffff less fold(x). ipSumAdd is one more than that (strip.h).
func (m *draft) planSums() bool {
	t := &m.t
	for i := range t.sum[:t.sums] {
		c := &t.sum[i]
		add := (c.add ^ c.flip) % 0xffff
		switch {
		case !t.isInFront(uint16(c.at)):
			return false
		case c.removed == 0 && c.flip != 0 && c.always != 0 && t.ipSumAt == etherTypeAt:
			t.ipSumAt, t.ipSumAdd = uint16(c.at), add+1
		case c.removed != 0 && c.flip == c.always && t.l4SumAt == 0:
			t.l4SumAt, t.l4SumAdd = uint16(c.at), add
			t.l4UDP = uint8(^c.always) & 1
		default:
			return false
		}
	}
	return true
}
