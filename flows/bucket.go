// bucket: eight slots of the cuckoo table with 16-bit tags, compared four at once; the two
// candidate buckets of a hash.

package flows

import "math/bits"

const slots = 8 // flows of one bucket

// bucket is one cache line of the cuckoo table: the places of eight flows, each found by a
// tag of its hash. A flow is in one of two buckets.
type bucket struct {
	flows  [slots]uint32 // places in Table.flows
	tags   [2]uint64     // four tags of a hash each, that of slot 0 lowest; 0: free
	births [slots]uint16 // when each flow came, as birthTick has it
}

// tagOf returns the tag of a hash; never zero, which marks a free slot.
func tagOf(h uint64) uint16 { return uint16(h>>48) | 1 }

func (b *bucket) tag(s uint64) uint16 { return uint16(b.tags[s>>2&1] >> (s & 3 * 16)) }

// set stores a flow in slot s.
func (b *bucket) set(s uint64, tag uint16, flow uint32) {
	b.setTag(s, tag)
	b.flows[s&(slots-1)] = flow
}

func (b *bucket) setTag(s uint64, tag uint16) {
	w, shift := &b.tags[s>>2&1], s&3*16
	*w = *w&^(0xffff<<shift) | uint64(tag)<<shift
}

const (
	laneOnes = 0x0001_0001_0001_0001 // 1 in each of four
	laneTops = 0x8000_8000_8000_8000
)

// matches has the top bit set of each 16-bit lane whose tag is tag. It may also
// have one set right above a lane that matches: the caller compares keys.
func matches(tags uint64, tag uint16) uint64 {
	x := tags ^ uint64(tag)*laneOnes
	return (x - laneOnes) &^ x & laneTops
}

// freeSlot returns a slot without a flow.
func (b *bucket) freeSlot() (s uint64, ok bool) {
	if m := matches(b.tags[0], 0); m != 0 {
		return slot(m), true
	}
	if m := matches(b.tags[1], 0); m != 0 {
		return 4 + slot(m), true
	}
	return 0, false
}

// slot returns the lowest slot in m, which matches returned.
func slot(m uint64) uint64 { return uint64(bits.TrailingZeros64(m)) >> 4 }

// primary returns the first of the two candidate buckets of a hash.
func (t *Table) primary(h uint64) uint64 { return h >> bucketShift & t.mask }

// alternate returns the other candidate of a flow in bucket b with that tag: from either of the two
// it gives the other.
func (t *Table) alternate(b uint64, tag uint16) uint64 { return (b ^ uint64(tag)*prime1>>24) & t.mask }

// candidates are both buckets that a flow with this hash can be in.
func (t *Table) candidates(h uint64) [2]uint64 {
	first := t.primary(h)
	return [2]uint64{first, t.alternate(first, tagOf(h))}
}
