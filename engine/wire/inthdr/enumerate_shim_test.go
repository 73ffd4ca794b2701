package inthdr_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// shimCase is INT behind a GRE or VXLAN-GPE header: one shim, or a second one, of
// type Destination with two words, behind it.
type shimCase struct {
	kind, words     int
	chain, inserted bool
	next            int // of the last shim
}

// bytes are the shims and 44 bytes of payload. isINT is the next protocol of INT,
// g where G stands.
func (c shimCase) bytes(isINT, g int) []byte {
	next, head := c.next, 0
	if c.inserted {
		head = 1 << g
	}
	if c.chain {
		next = isINT
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(head|c.kind<<28|c.words<<16|next))
	if c.kind == 1 {
		b = append(b, mdBody(c.words)...)
	} else {
		b = append(b, bytes.Repeat([]byte{0xde}, 4*c.words)...)
	}
	if c.chain {
		b = binary.BigEndian.AppendUint32(b, uint32(head|2<<28|2<<16|c.next))
		b = append(b, 1, 2, 3, 4, 5, 6, 7, 8)
	}
	for n := range 44 {
		b = append(b, byte(0x40+n))
	}
	return b
}

// want is what INT 2.1 says where room bytes are behind the tunnel header: faults,
// and the length of INT where there are none.
func (c shimCase) want(room int) (f faults, size int) {
	if room < 4 {
		f.add(true, inthdr.ReasonTruncated)
		return f, 0
	}
	size = 4 * (1 + c.words)
	f.add(c.kind < 1 || c.kind > 3, inthdr.ReasonType)
	f.add(size > room || c.words < 1 || c.kind == 1 && c.words < 3, inthdr.ReasonLength)
	if f != 0 || !c.chain {
		return f, size
	}
	rest := room - size
	f.add(rest < 4, inthdr.ReasonTruncated)
	f.add(rest >= 4 && rest < 12, inthdr.ReasonLength)
	return f, size + 12
}

// shimCases calls f with every Length, type and chain.
func shimCases(f func(c shimCase)) {
	for words := range 256 {
		for _, kind := range []int{1, 2, 0, 5} {
			for _, chain := range []bool{false, true} {
				f(shimCase{kind: kind, words: words, chain: chain})
			}
		}
	}
}

// TestEveryVXLANGPELength: Length of the shim x type x next protocol x length of the
// packet x UDP length right and wrong x G.
func TestEveryVXLANGPELength(t *testing.T) {
	p := inthdr.NewLocator(inthdr.Config{VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}, Version2: true})
	lengths := []int{0, 3, 7, 8, 11, 12, 15, 16, 24, 35, 36, 64, 100, 256, 1020, 1031, 1032, 1036, 1043, 1044, 1060}
	cases := 0
	shimCases(func(c shimCase) {
		for _, c.inserted = range []bool{false, true} {
			c.next = 3
			shims := c.bytes(0x82, 15)
			whole := append([]byte{0x0c, 0, 0, 0x82, 0, 0, 7, 0}, shims...)
			for _, n := range lengths {
				n = min(n, len(whole))
				for _, wrong := range []int{0, 8} {
					cases++
					var f faults
					size := 0
					if n >= 8 {
						f, size = c.want(n - 8)
						f.add(wrong != 0, inthdr.ReasonUDPLength)
					}
					verify(t, p, behindUDP(4790, whole[:n], wrong), n >= 8, f, func() []byte {
						if c.inserted {
							return behindUDP(4789, append([]byte{8, 0, 0, 0, 0, 0, 7, 0}, whole[8+size:n]...), 0)
						}
						return behindUDP(4790, append([]byte{0xc, 0, 0, 3, 0, 0, 7, 0}, whole[8+size:n]...), 0)
					})
				}
			}
		}
	})
	enough(t, cases)
}

// greHeader is a GRE header in front of body, its checksum computed.
func greHeader(flags, protocol int, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(flags<<16|protocol))
	b = append(b, make([]byte, greSize(flags)-4)...)
	b = append(b, body...)
	if flags&0x8000 != 0 && len(b) >= 8 {
		binary.BigEndian.PutUint16(b[4:], ^sum16(b))
	}
	return b
}

// greSize: RFC 2784 and RFC 2890 give the checksum, the key and the sequence number
// four bytes each.
func greSize(flags int) int {
	n := 4
	for bit := 12; bit < 16; bit++ {
		if bit != 14 && flags>>bit&1 != 0 {
			n += 4
		}
	}
	return n
}

// TestEveryGRELength: Length of the shim x type x next protocol x flags of GRE x
// length of the packet x G, with IP and with Ethernet inside.
func TestEveryGRELength(t *testing.T) {
	const isINT = 0x88b6
	protocol := uint16(isINT)
	p := inthdr.NewLocator(inthdr.Config{GREProtocol: &protocol, Version2: true})
	bodies := []int{0, 3, 4, 8, 16, 18, 30, 60, 200, 1024, 1036, 1068}
	allFlags := []int{0, 0x8000, 0x2000, 0x1000, 0xb000, 0x3000, 0x4000, 0xc000, 0x0001, 0x0007}
	cases := 0
	shimCases(func(c shimCase) {
		for _, g := range []struct {
			inserted bool
			next     int
		}{{false, 0x0800}, {true, 0x0800}, {true, 0x6558}} {
			c.inserted, c.next = g.inserted, g.next
			shims := c.bytes(isINT, 27)
			_, whole := c.want(len(shims))
			for k, n := range append(bodies, whole, whole+13, whole+14) { // room for Ethernet inside, or a byte less
				n = min(n, len(shims))
				flags := allFlags[(c.words+k)%len(allFlags)]
				cases++
				f, size := c.want(n)
				f.add(c.inserted && c.next == 0x6558 && n-size < 14, inthdr.ReasonLength)
				f.add(flags&0x4007 != 0, inthdr.ReasonTunnel)
				verify(t, p, behindIP(packet.ProtoGRE, greHeader(flags, isINT, shims[:n])), true, f, func() []byte {
					switch inner := shims[size:n]; {
					case !c.inserted:
						return behindIP(packet.ProtoGRE, greHeader(flags, c.next, inner))
					case c.next == 0x6558:
						return inner
					default:
						return append(behindIP(0, nil)[:14:14], inner...)
					}
				})
			}
		}
	})
	enough(t, cases)
}

// TestGRECutInItsHeader: a packet that ends within the GRE header is no INT where it
// ends before the protocol, and truncated INT behind it.
func TestGRECutInItsHeader(t *testing.T) {
	protocol := uint16(0x88b6)
	p := inthdr.NewLocator(inthdr.Config{GREProtocol: &protocol, Version2: true})
	for _, flags := range []int{0, 0x8000, 0x2000, 0x1000, 0xa000, 0xb000} {
		whole := greHeader(flags, 0x88b6, []byte{0x10, 3, 8, 0})
		for n := range len(whole) {
			var f faults
			f.add(n >= 4, inthdr.ReasonTruncated)
			verify(t, p, behindIP(packet.ProtoGRE, whole[:n]), n >= 4, f, nil)
		}
	}
}
