// binaryTimes: makes the times of a pcapng file nanoseconds where they count 2^-n seconds, which the library rounds: those of
// 2^-30 came out 7 % too late within each second.

package pcapfile

import (
	"bufio"
	"encoding/binary"
	"math/bits"
	"slices"
)

// binaryTimes reads a pcapng file, block by block, and changes two things in it: the resolution of interfaces with a power of two
// (if_tsresol), and the times of their packets. All blocks keep their lengths; what it does not understand passes as it is.
type binaryTimes struct {
	r      *bufio.Reader
	order  binary.ByteOrder // of the section
	shifts []int            // n of each interface of the section; decimal: it has no power of two
	begin  []byte           // of a block that was changed: it comes before
	left   int64            // bytes of the block at hand that pass as they are
}

// decimal stands for the n of an interface whose times are powers of ten.
const decimal = -1

// Types of blocks, and the option that has the resolution.
const (
	sectionHeader        = 0x0a0d0d0a
	interfaceDescription = 1
	packetBlock          = 2 // of the first drafts
	enhancedPacket       = 6

	timeResolution = 9
	nanoseconds    = 9    // a value of it: 10^-9
	powerOfTwo     = 0x80 // a bit of it

	blockHeaderLen = 8
	longestHead    = 20 // bytes of a packet's block up to its time
	interfaceHead  = 16 // bytes of an interface's block up to its options
)

// Read implements io.Reader.
func (t *binaryTimes) Read(b []byte) (n int, err error) {
	if len(t.begin) == 0 && t.left == 0 {
		t.block()
	}
	if len(t.begin) > 0 {
		n = copy(b, t.begin)
		t.begin = t.begin[n:]
		return n, nil
	}
	n, err = t.r.Read(b[:min(int64(len(b)), t.left)])
	t.left -= int64(n)
	return n, err
}

// block begins the next block.
func (t *binaryTimes) block() {
	t.left = 1 << 62 // where the rest is no block
	h, err := t.r.Peek(blockHeaderLen)
	if err != nil {
		return
	}
	if binary.BigEndian.Uint32(h) == sectionHeader {
		if h, err = t.r.Peek(blockHeaderLen + 4); err != nil {
			return
		}
		t.shifts = nil
		if t.order = binary.BigEndian; h[blockHeaderLen] == 0x4d {
			t.order = binary.LittleEndian
		}
	}
	if t.order == nil {
		return
	}
	size := int(t.order.Uint32(h[4:]))
	if size < blockHeaderLen+4 {
		return
	}
	t.left = int64(size)
	switch t.order.Uint32(h) {
	case interfaceDescription:
		t.change(size, t.ofInterface)
	case packetBlock, enhancedPacket:
		if len(t.shifts) > 0 && slices.Max(t.shifts) > decimal {
			t.change(min(size, longestHead), t.ofPacket)
		}
	}
}

// change has f change the first n bytes of the block at hand.
func (t *binaryTimes) change(n int, f func([]byte)) {
	b, err := t.r.Peek(n)
	if err != nil { // the file ends in it, or it is longer than any such block
		if n > longestHead {
			t.shifts = append(t.shifts, decimal)
		}
		return
	}
	t.begin = append(t.begin[:0], b...)
	t.r.Discard(n)
	t.left -= int64(n)
	f(t.begin)
}

// ofInterface notes the resolution of an interface, and makes one of a power of two nanoseconds.
func (t *binaryTimes) ofInterface(b []byte) {
	shift := decimal
	for at := interfaceHead; at+4 <= len(b)-4; {
		code, n := t.order.Uint16(b[at:]), int(t.order.Uint16(b[at+2:]))
		if code == 0 || at+4+n > len(b)-4 {
			break
		}
		if v := &b[at+4]; code == timeResolution && n == 1 {
			if shift = decimal; *v&powerOfTwo != 0 && *v&^powerOfTwo < 64 { // else the library refuses it
				shift, *v = int(*v&^powerOfTwo), nanoseconds
			}
		}
		at += 4 + (n+3)&^3
	}
	t.shifts = append(t.shifts, shift)
}

// ofPacket makes the time of a packet nanoseconds, where its interface counts otherwise.
func (t *binaryTimes) ofPacket(b []byte) {
	if len(b) < longestHead {
		return
	}
	from := int(t.order.Uint32(b[8:]))
	if t.order.Uint32(b) == packetBlock {
		from = int(t.order.Uint16(b[8:]))
	}
	if from >= len(t.shifts) || t.shifts[from] == decimal {
		return
	}
	ns := inNanoseconds(uint64(t.order.Uint32(b[12:]))<<32|uint64(t.order.Uint32(b[16:])), t.shifts[from])
	t.order.PutUint32(b[12:], uint32(ns>>32))
	t.order.PutUint32(b[16:], uint32(ns))
}

// inNanoseconds is a time of 2^-shift seconds in nanoseconds; the last that there is where it is later.
func inNanoseconds(x uint64, shift int) uint64 {
	high, low := bits.Mul64(x, 1e9)
	if high>>shift != 0 {
		return 1<<64 - 1
	}
	if shift == 0 {
		return low
	}
	return high<<(64-shift) | low>>shift
}
