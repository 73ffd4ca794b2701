package report

import (
	"bytes"
	"testing"

	"intsink/engine/wire/report/reporttest"
)

// bare is a report without main contents of the given Report Length.
func bare(words int) Individual {
	return Individual{InType: Ethernet, Inner: bytes.Repeat([]byte{0xab}, words*4)}
}

func TestAppendFits(t *testing.T) {
	for _, c := range []struct {
		name    string
		room    int
		words   []int
		fit     int // how many of words are taken
		full    bool
		lengths []byte
	}{
		{"exact", 8 + 4 + 12, []int{3}, 1, false, []byte{3}},
		{"a byte short", 8 + 4 + 11, []int{3}, 0, false, nil},
		{"two exactly", 8 + 2*(4+12), []int{3, 3, 0}, 2, false, []byte{3, 3}},
		{"empty report", 8 + 4, []int{0, 0}, 1, false, []byte{0}},
		{"room for the header only", 8, []int{0}, 0, false, nil},
		{"no room for the header", 7, []int{0}, 0, false, nil},
		{"no room", 0, []int{0}, 0, false, nil},
		{"254 words may be followed", 4096, []int{254, 1}, 2, false, []byte{254, 1}},
		{"255 words may not", 4096, []int{255, 1}, 1, true, []byte{255}},
		{"255 words last", 4096, []int{1, 254, 255, 0}, 3, true, []byte{1, 254, 255}},
		{"more than 255 words", 4096, []int{300, 0}, 1, true, []byte{255}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Packet
			p.Open(make([]byte, c.room))
			for i, words := range c.words {
				r := bare(words)
				before := p.Len()
				if got, want := p.Append(&r), i < c.fit; got != want {
					t.Errorf("report %d: Append %v, want %v", i, got, want)
				}
				want := before
				if i < c.fit {
					want += 4 + words*4
				}
				if p.Len() != want {
					t.Errorf("report %d: length %d, want %d", i, p.Len(), want)
				}
			}
			if p.Reports() != c.fit || p.Full() != c.full {
				t.Errorf("%d reports, full %v; want %d, %v", p.Reports(), p.Full(), c.fit, c.full)
			}
			b := p.Seal(group)
			if p.IsOpen() || p.Reports() != 0 {
				t.Error("open after Seal")
			}
			if c.room < GroupHeaderLen {
				if b != nil {
					t.Errorf("sealed %x without room", b)
				}
				return
			}
			at := GroupHeaderLen
			for i, want := range c.lengths {
				if b[at+1] != want {
					t.Errorf("report %d: Report Length %d, want %d", i, b[at+1], want)
				}
				at += 4 + c.words[i]*4
			}
			if at != len(b) {
				t.Errorf("payload of %d bytes, want %d", len(b), at)
			}
		})
	}
}

func TestAppendChangesNothingWhenItDoesNotFit(t *testing.T) {
	buf := bytes.Repeat([]byte{0xee}, 40)
	var p Packet
	p.Open(buf)
	small, large := bare(3), bare(5)
	p.Append(&small)
	before := bytes.Clone(buf)
	if p.Append(&large) || !bytes.Equal(buf, before) || p.Len() != 24 || p.Reports() != 1 {
		t.Errorf("a report that does not fit changed the packet: %x", buf)
	}
	if !bytes.Equal(buf[:GroupHeaderLen], bytes.Repeat([]byte{0xee}, 8)) {
		t.Error("the group header was written before Seal")
	}
}

func TestAppendRefusesMetadata(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 256 * 4} {
		var p Packet
		p.Open(make([]byte, 4096))
		if p.Append(&Individual{RepType: INT, Metadata: make([]byte, n)}) {
			t.Errorf("metadata of %d bytes was taken", n)
		}
	}
	var p Packet
	p.Open(make([]byte, 4096))
	if !p.Append(&Individual{RepType: INT, Metadata: make([]byte, 255*4)}) {
		t.Error("metadata of 255 words was refused")
	}
}

func TestInnerIsPadded(t *testing.T) {
	for n := range 9 {
		buf := bytes.Repeat([]byte{0xee}, 64)
		var p Packet
		p.Open(buf)
		p.Append(&Individual{InType: IPv4, Inner: bytes.Repeat([]byte{0xab}, n)})
		b := p.Seal(group)
		want := append(bytes.Repeat([]byte{0xab}, n), make([]byte, -n&3)...)
		if got := b[GroupHeaderLen+4:]; !bytes.Equal(got, want) || int(b[GroupHeaderLen+1])*4 != len(want) {
			t.Errorf("%d bytes became %x, length %d", n, got, b[GroupHeaderLen+1])
		}
	}
}

func TestInTypeNoneHasNoInner(t *testing.T) {
	var p Packet
	p.Open(make([]byte, 64))
	p.Append(&Individual{Inner: []byte{1, 2, 3}})
	if b := p.Seal(group); len(b) != GroupHeaderLen+4 || b[9] != 0 {
		t.Errorf("%x", b)
	}
}

// RepType 0 has neither main contents nor an MD Length.
func TestInnerOnlyHasNoMain(t *testing.T) {
	var p Packet
	p.Open(make([]byte, 64))
	p.Append(&Individual{RepType: InnerOnly, InType: IPv4, RepMdBits: MdQueue, Metadata: make([]byte, 4), Inner: []byte{0x45, 1, 2, 3}})
	if got := p.Seal(group)[GroupHeaderLen:]; !bytes.Equal(got, []byte{0x04, 1, 0, 0, 0x45, 1, 2, 3}) {
		t.Errorf("%x", got)
	}
}

func TestSealMasks(t *testing.T) {
	var p Packet
	p.Open(make([]byte, 8))
	b := p.Seal(GroupHeader{HwID: 0xff, Sequence: 0xffffffff, NodeID: 0x01020304})
	if want := []byte{0x2f, 0xff, 0xff, 0xff, 1, 2, 3, 4}; !bytes.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
	if p.Seal(group) != nil {
		t.Error("Seal of a closed packet gave bytes")
	}
}

func TestBits(t *testing.T) {
	for _, c := range []struct {
		r    Individual
		want byte
	}{
		{Individual{Dropped: true}, 0x80},
		{Individual{CongestedQueue: true}, 0x40},
		{Individual{TrackedFlow: true}, 0x20},
		{Individual{Intermediate: true}, 0x10},
	} {
		var p Packet
		p.Open(make([]byte, 12))
		p.Append(&c.r)
		if got := p.Seal(group)[11]; got != c.want {
			t.Errorf("%+v: %02x, want %02x", c.r, got, c.want)
		}
	}
}

func TestMetadataPut(t *testing.T) {
	m := Metadata{
		IngressPort: 0x0102, EgressPort: 0x0304, HopLatencyNs: 0x05060708, QueueID: 9, QueueOccupancy: 0xff0a0b0c,
		IngressTimestamp: 0x1112131415161718, EgressTimestamp: 0x2122232425262728,
		Level2Ingress: 0x31323334, Level2Egress: 0x35363738, TxUtilization: 0x41424344,
		BufferID: 0x51, BufferOccupancy: 0x525354, DropReason: 0x61,
	}
	b := make([]byte, 48)
	n := m.Put(b, 0xffff)
	want := reporttest.Hex(t, `01020304 05060708 090a0b0c 1112131415161718 2122232425262728
		31323334 35363738 41424344 51525354 09610000`)
	if !bytes.Equal(b[:n], want) {
		t.Errorf("%x, want %x", b[:n], want)
	}
	for i := range 16 { // one bit at a time
		bit := uint16(1) << i
		if got, want := m.Put(b, bit), mdSize(bit); i == 0 || i > 6 && i < 15 {
			if got != want {
				t.Errorf("bit %04x: %d bytes, want %d", bit, got, want)
			}
		} else if got != 0 {
			t.Errorf("reserved bit %04x: %d bytes", bit, got)
		}
	}
}

func TestPutTLV(t *testing.T) {
	b := bytes.Repeat([]byte{0xee}, 12)
	if n := PutTLV(b, TLVEthernet, 7, []byte{1, 2, 3, 4, 5}); n != 12 || !bytes.Equal(b, reporttest.Hex(t, "10 02 0000 0102030405 000000")) {
		t.Errorf("%d: %x", n, b)
	}
	if n := PutTLV(b[:11], TLVEthernet, 0, make([]byte, 5)); n != 0 {
		t.Errorf("%d bytes without room", n)
	}
	large := make([]byte, 2048)
	if n := PutTLV(large, TLVIPv6, 0, make([]byte, 1020)); n != 1024 || large[1] != 255 {
		t.Errorf("%d bytes for 1020", n)
	}
	if n := PutTLV(large, TLVIPv6, 0, make([]byte, 1021)); n != 0 {
		t.Errorf("%d bytes for 1021", n)
	}
}

// TestAppendCut: the packet in a report is cut to whole words of the room, and
// nothing else is.
func TestAppendCut(t *testing.T) {
	for _, c := range []struct {
		room, words, want int // want: Report Length; -1: not taken
		inType            InType
	}{
		{8 + 4 + 12, 3, 3, Ethernet},
		{8 + 4 + 12, 4, 3, Ethernet},
		{8 + 4 + 11, 4, 2, IPv6},
		{8 + 4 + 4, 300, 1, IPv4},
		{8 + 4 + 3, 300, -1, IPv4},
		{8 + 4, 1, -1, Ethernet},
		{8 + 4, 5, 0, None},
		{8 + 4 + 12, 4, -1, TLV},
		{8 + 4 + 12, 4, -1, DSExtension},
	} {
		var p Packet
		p.Open(make([]byte, c.room))
		r := bare(c.words)
		r.InType = c.inType
		got := p.AppendCut(&r)
		if got != (c.want >= 0) || len(r.Inner) != c.words*4 {
			t.Errorf("%+v: taken %v, %d bytes left", c, got, len(r.Inner))
		}
		if b := p.Seal(group); got && (int(b[9]) != c.want || len(b) != 12+c.want*4) {
			t.Errorf("%+v: %x", c, b)
		}
	}
}
