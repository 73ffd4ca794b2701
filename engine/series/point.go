// Point: median, 99th percentile and maximum of a value in a time, in four bytes.

package series

import "math/bits"

// Point is what a value was in a second or a minute, as its samples tell. The median and the 99th percentile are exact
// to 6 %, the maximum to a thousandth.
type Point struct {
	Known            bool // there was a sample
	Median, P99, Max uint32
	Weight           int // in Join; 0: 1
}

// classes divides the numbers of 32 bits: each power of two in eight steps of the same length.
const classes = 240

// classOf returns the class of a number.
func classOf(x uint32) int {
	if x < 8 {
		return int(x)
	}
	e := bits.Len32(x) - 4
	return 8 + 8*e + int(x>>e&7)
}

// bounds returns the lowest and the highest number of a class.
func bounds(class int) (low, high uint32) {
	if class < 8 {
		return uint32(class), uint32(class)
	}
	e, step := (class-8)/8, uint64(class%8)
	return uint32((8 + step) << e), uint32((9+step)<<e - 1)
}

// packed is a Point: the class of the median and one more, that of the 99th percentile, and the maximum rounded down to
// eleven bits. 0: there was no sample.
type packed uint32

func pack(median, p99 int, most uint32) packed {
	return packed(median+1)<<24 | packed(p99)<<16 | packed(short(most))
}

// join makes one point of two of the same time.
func (p packed) join(o packed) packed {
	if p == 0 {
		return o
	}
	return min(p>>24, o>>24)<<24 | max(p>>16&0xff, o>>16&0xff)<<16 | max(p&0xffff, o&0xffff)
}

func (p packed) point() Point {
	if p == 0 {
		return Point{}
	}
	most := long(uint16(p))
	low, high := bounds(int(p>>24) - 1)
	_, p99 := bounds(int(p >> 16 & 0xff))
	return Point{Known: true, Median: min(uint32((uint64(low)+uint64(high))/2), most), P99: min(p99, most), Max: most}
}

// short rounds a number down to eleven bits and an exponent; long is the other way.
func short(x uint32) uint16 {
	if x < 1<<11 {
		return uint16(x)
	}
	e := bits.Len32(x) - 11
	return uint16(e<<10 + int(x>>e))
}

func long(s uint16) uint32 {
	if s < 1<<11 {
		return uint32(s)
	}
	e := s>>10 - 1
	return uint32(s-e<<10) << e
}
