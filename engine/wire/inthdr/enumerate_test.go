package inthdr_test

import (
	"encoding/binary"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// frame is Ethernet, IPv4, UDP to the INT port, a shim and an MD header that say
// whatever is asked of them, and n bytes behind UDP in all.
func frame(n int, shimWords, hopML uint8, bitmap uint16) []byte {
	b := make([]byte, 42+n)
	binary.BigEndian.PutUint16(b[12:], 0x0800)
	b[14] = 0x45
	binary.BigEndian.PutUint16(b[16:], uint16(28+n))
	b[23] = packet.ProtoUDP
	binary.BigEndian.PutUint16(b[36:], intPort)
	binary.BigEndian.PutUint16(b[38:], uint16(8+n))
	header := []byte{0x14, shimWords, 0, 53, 0x20, 0, hopML, 4, byte(bitmap >> 8), byte(bitmap), 0, 0, 0, 0, 0, 0}
	copy(b[42:], header)
	return b
}

// bytesOf is what the specification asks of one hop: four bytes for each bit, eight
// for the bits of the timestamps and of the level-2 interfaces.
func bytesOf(bitmap uint16) int {
	n := 0
	for bit := range 16 {
		if bitmap&(0x8000>>bit) == 0 {
			continue
		}
		n += 4
		if bit >= 4 && bit <= 6 {
			n += 4
		}
	}
	return n
}

// want is what the specification says of such a frame.
func want(n int, shimWords, hopML uint8, bitmap uint16) (inthdr.Result, inthdr.Reason) {
	switch {
	case n < 4:
		return inthdr.Unsound, inthdr.ReasonTruncated
	case shimWords < 3, 4+int(shimWords)*4 > n:
		return inthdr.Unsound, inthdr.ReasonLength
	}
	stack, hop := int(shimWords)*4-12, int(hopML)*4
	switch {
	case stack == 0:
		return inthdr.Sound, inthdr.ReasonNone
	case hop != bytesOf(bitmap):
		return inthdr.Sound, inthdr.ReasonHopML
	case hop == 0 || stack%hop != 0:
		return inthdr.Sound, inthdr.ReasonStack
	}
	return inthdr.Sound, inthdr.ReasonNone
}

// TestEveryCombinationOfLengths: shim Length x Hop ML x Instruction Bitmap x
// length of the frame. Frames are cut to their last byte, so that a read beyond
// would be a panic.
func TestEveryCombinationOfLengths(t *testing.T) {
	bitmaps := []uint16{0, 0x8000, 0xc000, 0xe000, 0xd000, 0xfc00, 0xff80, 0xffff, 0x0001, 0x0c00, 0x0200, 0x4000, 0xaaaa, 0x5555, 0x007f}
	lengths := []int{0, 1, 3, 4, 7, 8, 15, 16, 17, 23, 24, 36, 56, 60, 76, 120, 256, 1016, 1020, 1023, 1024, 1025, 1400}
	p, cases := byPort(), 0
	for _, n := range lengths {
		for shim := range 256 {
			for hopML := range uint8(32) {
				for _, bitmap := range bitmaps {
					cases++
					check(t, p, n, uint8(shim), hopML, bitmap)
				}
			}
		}
	}
	if cases < 65_536 {
		t.Errorf("%d cases", cases)
	}
}

func check(t *testing.T, p *inthdr.Locator, n int, shim, hopML uint8, bitmap uint16) {
	b := frame(n, shim, hopML, bitmap)
	result, reason := want(n, shim, hopML, bitmap)
	var l packet.Layers
	var i inthdr.Info
	if s := packet.Parse(b, len(b), &l); s != packet.OK {
		t.Fatalf("parse: %v", s)
	}
	got := p.Locate(b, &l, &i)
	if got != result || i.Reason != reason {
		t.Fatalf("%d bytes, shim %d, Hop ML %d, bitmap %04x: %v, %v; want %v, %v", n, shim, hopML, bitmap, got, i.Reason, result, reason)
	}
	if result != inthdr.Sound {
		return
	}
	if i.Start != 42 || int(i.End) != 46+int(shim)*4 {
		t.Fatalf("shim %d: INT is [%d,%d)", shim, i.Start, i.End)
	}
	if reason == inthdr.ReasonNone && int(shim)*4-12 > 0 && (int(i.Hops)*int(hopML) != int(shim)-3 || i.Stack != 58) {
		t.Fatalf("shim %d, Hop ML %d: %d hops at %d", shim, hopML, i.Hops, i.Stack)
	}
	if reason != inthdr.ReasonNone && i.Hops != 0 {
		t.Fatalf("%v, and %d hops", reason, i.Hops)
	}
}

// TestEveryCutOfAFirstSegment: wherever the first segment of a frame ends, the locator asks for
// more bytes. It never reads beyond the segment.
func TestEveryCutOfAFirstSegment(t *testing.T) {
	whole := frame(16+3*8+20, 3+6, 2, 0xc000)
	for n := range len(whole) {
		b := whole[:n:n]
		var l packet.Layers
		var i inthdr.Info
		p := byPort()
		got := inthdr.NeedMore
		if packet.Parse(b, len(whole), &l) == packet.OK {
			got = p.Locate(b, &l, &i)
		}
		want := inthdr.NeedMore
		if n >= 42+16+3*8 {
			want = inthdr.Sound
		}
		if got != want {
			t.Errorf("%d bytes: %v, want %v", n, got, want)
		}
	}
}
