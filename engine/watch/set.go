// bitSet: a set of watches in four words.

package watch

import "math/bits"

// bitSet is a set of watches by their index.
type bitSet [(Max + 63) / 64]uint64

func (s *bitSet) put(i int)        { s[i/64] |= 1 << (i % 64) }
func (s *bitSet) has(i uint8) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s *bitSet) keep(o *bitSet) {
	s[0], s[1], s[2], s[3] = s[0]&o[0], s[1]&o[1], s[2]&o[2], s[3]&o[3]
}
func (s *bitSet) add(o *bitSet) {
	s[0], s[1], s[2], s[3] = s[0]|o[0], s[1]|o[1], s[2]|o[2], s[3]|o[3]
}
func (s *bitSet) remove(o *bitSet) {
	s[0], s[1], s[2], s[3] = s[0]&^o[0], s[1]&^o[1], s[2]&^o[2], s[3]&^o[3]
}

// first is the smallest index in s, None where s is empty.
func (s *bitSet) first() uint8 {
	for i, w := range s {
		if w != 0 {
			return uint8(64*i + bits.TrailingZeros64(w))
		}
	}
	return None
}
