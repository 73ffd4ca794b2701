package strip_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// TestWhatOtherParsersOfOptionsGotWrong: headers and options that made other parsers read beyond them, loop, or miss what stands behind:
// none of that here, and IOAM is found wherever it can be told apart.
func TestWhatOtherParsersOfOptionsGotWrong(t *testing.T) {
	good, err := hex.DecodeString(fromLinux)
	if err != nil {
		t.Fatal(err)
	}
	const hop, size = 54, 80
	ioam := good[hop+4 : hop+size]
	with := func(next byte, headers ...[]byte) []byte { // good with these headers in place of its own, each with its next header and length set
		b := bytes.Clone(good[:hop])
		b[20] = next
		for _, h := range headers {
			b = append(b, h...)
		}
		b = append(b, good[hop+size:]...)
		binary.BigEndian.PutUint16(b[18:], uint16(len(b)-54))
		return b
	}
	header := func(next byte, options ...[]byte) []byte {
		h := append([]byte{next, 0}, slices.Concat(options...)...)
		for len(h)%8 != 0 {
			h = append(h, 0)
		}
		h[1] = uint8(len(h)/8 - 1)
		return h
	}
	padN := []byte{1, 0}
	long := func(kind, n byte) []byte { return append([]byte{kind, n}, make([]byte, n)...) }
	marking := func(next byte) []byte { return []byte{0x11, 4, 0x12, 0x03, 0, next} } // of China Mobile's IOAM: a flow, its marks, the next header
	tooLong := bytes.Clone(ioam)
	tooLong[1]++
	many := []byte(nil)
	for range 20 {
		many = append(many, 0, 0, 1, 4, 0, 0, 0, 0)
	}
	for _, x := range []struct {
		name  string
		frame []byte
		taken bool
	}{
		{"padding in front of the option", with(0, header(17, padN, ioam)), true},
		{"padding of one byte in front of it", with(0, header(17, []byte{0, 0}, ioam)), true},
		{"other options in front of it", with(0, header(17, []byte{5, 2, 0, 0, 0x6d, 4, 1, 2, 3, 4}, padN, ioam)), true},
		{"an option of 254 bytes in front of it", with(0, header(17, padN, long(0x1e, 254), []byte{0, 0, 0}, ioam)), true},
		{"an option of 255 bytes in front of it", with(0, header(17, padN, long(0x1e, 255), []byte{0, 0}, ioam)), true},
		{"padding of 255 bytes in front of it", with(0, header(17, padN, long(1, 255), []byte{0, 0}, ioam)), true},
		{"options of more than 255 bytes", with(0, header(17, padN, long(0x1e, 200), long(0x1e, 200), long(0x1e, 200), []byte{1, 0}, ioam)), true},
		{"a header of length zero in front", with(60, header(0, []byte{1, 4, 0, 0, 0, 0}), header(17, padN, ioam)), true},
		{"the option's data is a byte too long", with(0, header(17, padN, tooLong)), false},
		{"a type in the last byte", with(0, []byte{17, 0, 1, 3, 0, 0, 0, 0x31}), false},
		{"a length in the last byte", with(0, []byte{17, 0, 1, 2, 0, 0, 0x31, 0x4a}), false},
		{"another protocol's option that looks like this namespace's", with(0, []byte{17, 0, 0x11, 4, 0, 0, 0, 0x7b}), false},
		{"another protocol's option of the same type", with(0, header(17, marking(17))), false},
		{"the same beside IOAM", with(0, header(17, marking(17), padN, []byte{1, 0}, ioam)), true},
		{"twenty headers of length zero", with(0, many, header(17, padN, ioam)), false},
	} {
		for _, tail := range []int{0, 13} {
			was := bytes.Clone(x.frame)
			got, i := stripped(t, ioamLocator(), x.frame, tail)
			if (got != nil) != x.taken || !bytes.Equal(was, x.frame) {
				t.Errorf("%s: reason %v, stripped %x of %x", x.name, i.Reason, got, x.frame)
			}
			if got != nil && bytes.Contains(got, ioam[:12]) {
				t.Errorf("%s: IOAM is still there: %x", x.name, got)
			}
		}
	}
	// A header that is longer than the packet is none.
	for length := range 256 {
		b := bytes.Clone(good)
		b[hop+1] = byte(length)
		var l packet.Layers
		var i inthdr.Info
		var o inthdr.Outers
		status := packet.Parse(b, len(b), &l)
		if status == packet.OK && 8*(1+length) > len(b)-hop {
			t.Errorf("a header of %d bytes in %d", 8*(1+length), len(b)-hop)
		}
		if status == packet.OK {
			ioamLocator().Find(b, &l, &i, &o)
		}
	}
}
