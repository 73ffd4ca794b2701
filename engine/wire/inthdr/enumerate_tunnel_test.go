package inthdr_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// faults are all violations of the specification in a packet. The reason of an unsound packet may
// be any of them; a sound packet has none.
type faults uint32

func (f *faults) add(wrong bool, r inthdr.Reason) {
	if wrong {
		*f |= 1 << r
	}
}

func (f faults) has(r inthdr.Reason) bool { return f&(1<<r) != 0 }

// behindIP is Ethernet and IPv4 in front of body, and not a byte of room behind.
func behindIP(proto byte, body []byte) []byte {
	b := make([]byte, 34+len(body))
	binary.BigEndian.PutUint16(b[12:], 0x0800)
	ip := b[14:34]
	ip[0], ip[8], ip[9] = 0x45, 64, proto
	binary.BigEndian.PutUint16(ip[2:], uint16(20+len(body)))
	binary.BigEndian.PutUint16(ip[10:], ^sum16(ip))
	copy(b[34:], body)
	return b
}

// behindUDP is Ethernet, IPv4 and UDP without checksum in front of body.
func behindUDP(port uint16, body []byte, wrong int) []byte {
	h := binary.BigEndian.AppendUint32(nil, 0xc0000000|uint32(port))
	h = binary.BigEndian.AppendUint16(h, uint16(8+len(body)+wrong))
	return behindIP(packet.ProtoUDP, append(append(h, 0, 0), body...))
}

// mdBody is an INT-MD header and a stack of hops of one word, so many words of it.
func mdBody(words int) []byte {
	b := []byte{0x20, 0, 1, 9, 0x80, 0, 0, 0, 0, 0, 0, 0}
	for n := range max(words-3, 0) {
		b = binary.BigEndian.AppendUint32(b, uint32(n+1))
	}
	return b[:4*words]
}

// verify takes frame through the locator. marked: something in it says INT. f: what
// is wrong with it. want: what must leave where nothing is.
func verify(t *testing.T, p *inthdr.Locator, frame []byte, marked bool, f faults, want func() []byte) inthdr.Info {
	t.Helper()
	before := bytes.Clone(frame)
	var l packet.Layers
	var i inthdr.Info
	if s := packet.Parse(frame, len(frame), &l); s != packet.OK {
		t.Fatalf("parse: %v: %x", s, frame)
	}
	got := p.Locate(frame, &l, &i)
	switch {
	case !bytes.Equal(frame, before):
		t.Fatalf("Locate changed %x to %x", before, frame)
	case !marked && f == 0:
		if got != inthdr.NotINT {
			t.Fatalf("%v, %v; want no INT: %x", got, i.Reason, frame)
		}
	case f != 0:
		if got != inthdr.Unsound || !f.has(i.Reason) {
			t.Fatalf("%v, %v; want unsound, by %b: %x", got, i.Reason, f, frame)
		}
	default:
		if got != inthdr.Sound || i.Reason != 0 {
			t.Fatalf("%v, %v; want sound: %x", got, i.Reason, frame)
		}
		head := strip.Strip(frame, &l, &i, nil)
		if w := want(); !bytes.Equal(frame[head:], w) {
			t.Fatalf("%x\nleft %x\nwant %x", before, frame[head:], w)
		}
	}
	return i
}

func enough(t *testing.T, cases int) {
	t.Helper()
	if cases < 65_536 {
		t.Errorf("%d cases", cases)
	}
}

// option of Geneve: class INT or not, and words of data.
type option struct {
	isINT bool
	kind  byte
	words int
}

func (o option) bytes() []byte {
	class := uint32(0x0102)
	if o.isINT {
		class = 0x0103
	}
	b := binary.BigEndian.AppendUint32(nil, class<<16|uint32(o.kind)<<8|uint32(o.words))
	if o.isINT && o.kind == 1 {
		return append(b, mdBody(o.words)...)
	}
	return append(b, bytes.Repeat([]byte{0x5a}, 4*o.words)...)
}

// geneve is a Geneve header and these options; others of no data follow, as many as
// a header can have.
func geneve(optLen int, options []option) []byte {
	b := []byte{byte(optLen), 0, 0x65, 0x58, 0, 0, 7, 0}
	for _, o := range options {
		b = append(b, o.bytes()...)
	}
	for range 80 {
		b = append(b, option{}.bytes()...)
	}
	return b
}

// wantGeneve is what RFC 8926 and INT 2.1 say of n bytes with such a header. at are
// the INT options that it has, by number.
func wantGeneve(n, optLen int, options []option, wrong int) (f faults, at []int) {
	if n < 8 {
		return 0, nil
	}
	if 2+optLen > n/4 { // words: two of the header
		f.add(true, inthdr.ReasonTunnel)
		return f, nil
	}
	left := optLen
	for k, o := range options {
		if left == 0 {
			break
		}
		if left < 1+o.words {
			f.add(true, inthdr.ReasonTunnel)
			break
		}
		left -= 1 + o.words
		if o.isINT {
			f.add(o.words < 1 || o.kind == 1 && o.words < 3, inthdr.ReasonLength)
			f.add(o.kind == 0 || o.kind > 3, inthdr.ReasonType)
			at = append(at, k)
		}
	}
	f.add(at != nil && wrong != 0, inthdr.ReasonUDPLength)
	return f, at
}

// withoutINT is the original: options at are gone.
func withoutINT(body []byte, options []option, at []int) (out []byte, words int) {
	out, rest := append(out, body[:8]...), body[8:]
	for k, o := range options {
		size := 4 + 4*o.words
		if size > len(rest) {
			break
		}
		if len(at) > 0 && at[0] == k {
			at = at[1:]
			words += size / 4
		} else {
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
	out[0] -= byte(words)
	return append(out, rest...), words
}

// TestEveryGeneveLength: Opt Len x length of the first option x what the options are
// x length of the packet x UDP length right and wrong.
func TestEveryGeneveLength(t *testing.T) {
	p := inthdr.NewLocator(inthdr.Config{Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}, Version2: true})
	lengths := []int{0, 7, 8, 11, 12, 23, 24, 28, 64, 136, 139, 200, 259, 260, 300}
	cases := 0
	for optLen := range 64 {
		for length := range 32 {
			for _, options := range [][]option{
				{{true, 1, length}},
				{{false, 0, length}, {true, 1, 4}},
				{{true, 1, length}, {false, 9, 1}, {true, 2, 2}},
				{{true, 2, length}, {true, 1, 3}},
				{{false, 1, length}},
				{{true, 4, length}},
			} {
				whole := geneve(optLen, options)
				for _, n := range lengths {
					for _, wrong := range []int{0, -4} {
						cases++
						f, at := wantGeneve(n, optLen, options, wrong)
						var words int
						i := verify(t, p, behindUDP(6081, whole[:n], wrong), at != nil, f, func() (b []byte) {
							b, words = withoutINT(whole[:n], options, at)
							return behindUDP(6081, b, 0)
						})
						if words*4 != int(i.Removed) && f == 0 && at != nil {
							t.Fatalf("%d bytes removed, want %d", i.Removed, words*4)
						}
						if o := options[0]; f == 0 && len(at) > 0 && at[0] == 0 && o.kind == 1 && int(i.Hops) != length-3 {
							t.Fatalf("%d hops, want %d", i.Hops, length-3)
						}
					}
				}
			}
		}
	}
	enough(t, cases)
}
