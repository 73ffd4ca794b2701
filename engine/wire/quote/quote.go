// Package quote takes INT out of the packets that ICMP errors quote. A router inside of the INT domain quotes the packet
// that it got, with INT; the host that sent it knows no such packet, and path MTU discovery and traceroute fail. Restore
// finds INT in the quote as in any packet, and makes the quote that of the packet as it was sent, as far as it reaches.
package quote

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
	"intsink/internal/checksum"
)

// Result is what became of an ICMP error that quotes INT. The list is closed: it generates metric labels.
type Result uint8

const (
	Restored   Result = iota // the quote has lost its INT
	Short                    // the quote ends within INT: the error passes as it came
	Malformed                // INT of the quote is unsound: the same
	Left                     // without INT the quote would be no IP packet of its version: the same
	NumResults               // also that of a packet that quotes no INT
)

// String is the value of the result label; that of a packet that quotes no INT is no label.
func (r Result) String() string {
	return [NumResults + 1]string{"restored", "short", "malformed", "left", "none"}[r]
}

const (
	headerLen   = 8   // of ICMP
	leastQuoted = 128 // bytes in front of an extension structure (RFC 4884, section 5.1)
	longest     = 1536
)

// Quoter has the memory that restoring takes. Its locator must not insist on what is behind INT: inthdr.Config.Cut.
type Quoter struct {
	Locator *inthdr.Locator

	layers packet.Layers
	info   inthdr.Info
	outers inthdr.Outers
	beyond int // bytes of IFA that the quote does not reach
	room   [packet.EthernetLen + longest]byte
}

// IsError reports whether l, of a frame that begins with b, is a whole ICMP error that quotes a packet: destination
// unreachable, source quench, redirect, time exceeded, parameter problem; of ICMPv6 1 to 4.
func IsError(b []byte, l *packet.Layers) bool {
	at := int(l.L4)
	if l.Fragment != packet.NotFragment || at+headerLen > min(len(b), int(l.End)) {
		return false
	}
	switch kind := b[at]; {
	case l.IPVersion == 4 && l.Proto == packet.ProtoICMP:
		return kind == 3 || kind == 4 || kind == 5 || kind == 11 || kind == 12
	case l.IPVersion == 6 && l.Proto == packet.ProtoICMPv6:
		return kind >= 1 && kind <= 4
	}
	return false
}

// extent returns where the quote of an error ends, and the unit of the length field that says so; 0: the quote is all
// there is (RFC 4884, section 4).
func extent(b []byte, l *packet.Layers) (end, unit int) {
	at, kind := int(l.L4), b[l.L4]
	length := 0
	if l.IPVersion == 6 {
		if kind == 1 || kind == 3 {
			length, unit = int(b[at+4])*8, 8
		}
	} else if kind == 3 || kind == 11 || kind == 12 {
		length, unit = int(b[at+5])*4, 4
	}
	if end = at + headerLen + length; length == 0 || end > int(l.End) {
		return int(l.End), 0
	}
	return end, unit
}

// Restore takes INT out of the packet that the ICMP error in b quotes, where IsError is true of b and l. The frame then
// starts head bytes further on. Unless the result is Restored, nothing is changed.
func (q *Quoter) Restore(b []byte, l *packet.Layers) (head int, r Result) {
	from := int(l.L4) + headerLen
	end, unit := extent(b, l)
	if end > len(b) || end-from > longest {
		return 0, NumResults
	}
	quoted, r := q.without(b[from:end], l)
	if r != Restored {
		return 0, r
	}
	size := len(quoted)
	if unit != 0 { // the extension structure stays behind its least distance
		size = max(size+(-size&(unit-1)), min(leastQuoted, end-from))
	}
	head = end - from - size
	before := checksum.Sum(b[l.L4:end])
	lowerMTU(b[l.L4:], l.IPVersion, end-from-len(quoted)+q.beyond)
	q.rewrite(b, l, quoted, end, head, unit, before)
	return head, Restored
}

// Least MTUs of links (RFC 791, RFC 8200).
const (
	leastMTU4 = 68
	leastMTU6 = 1280
)

// lowerMTU makes the MTU of an error one for packets without n bytes of INT, as an end of a tunnel does (RFC 2003,
// section 5.1): the host's next packets get INT again.
func lowerMTU(icmp []byte, version uint8, n int) {
	field, least := icmp[6:8], leastMTU4
	switch {
	case version == 4 && icmp[0] == 3 && icmp[1] == 4:
	case version == 6 && icmp[0] == 2 && binary.BigEndian.Uint16(icmp[4:]) == 0:
		least = leastMTU6
	default:
		return
	}
	if mtu := int(binary.BigEndian.Uint16(field)); mtu > least {
		binary.BigEndian.PutUint16(field, uint16(max(mtu-n, least)))
	}
}

// without returns a quoted packet without INT.
func (q *Quoter) without(quoted []byte, outer *packet.Layers) ([]byte, Result) {
	f := q.room[:packet.EthernetLen+len(quoted)]
	clear(f[:packet.EthernetLen])
	etherType := [2]byte{0x08, 0x00}
	if outer.IPVersion == 6 {
		etherType = [2]byte{0x86, 0xdd}
	}
	copy(f[12:], etherType[:])
	copy(f[packet.EthernetLen:], quoted)
	was, other := len(f), true
	q.beyond = 0
	for range inthdr.MaxDepth + 1 {
		// The packet is as long as it says: what the quote lacks is not there to be read.
		if s := packet.Parse(f, packet.MaxFrame, &q.layers); s != packet.OK {
			break
		}
		q.info = inthdr.Info{}
		find := q.Locator.Find
		if !other {
			find = q.Locator.LocateInside
		}
		switch find(f, &q.layers, &q.info, &q.outers) {
		case inthdr.NeedMore:
			if q.endsInStack() && int(q.info.End) <= len(q.room) {
				q.beyond = int(q.info.End) - len(f)
				f = f[:q.info.End]
				f = f[strip.Strip(f, &q.layers, &q.info, &q.outers):]
			} else if q.info.Shim != 0 {
				return nil, Short
			}
		case inthdr.Unsound:
			return nil, Malformed
		case inthdr.Sound:
			if q.info.NPT == 1 && q.info.Orig == q.layers.DstPort && len(f) < int(q.layers.End) {
				return nil, Short // another shim may follow
			}
			gone := q.info.Unwraps()
			if gone && (q.info.Depth > 0 || q.info.Start == 0 || [2]byte{byte(q.info.Next >> 8), byte(q.info.Next)} != etherType) {
				return nil, Left
			}
			encloses := q.Locator.Encloses(f, &q.layers, &q.info)
			other = q.Locator.LeavesOther(&q.info)
			f = f[strip.Strip(f, &q.layers, &q.info, &q.outers):]
			if encloses {
				continue
			}
		}
		break
	}
	if len(f) == was {
		return nil, NumResults
	}
	return f[packet.EthernetLen:], Restored
}

// endsInStack reports whether all that stands in front of the stack of a packet with IFA is quoted: the original L4 header is.
func (q *Quoter) endsInStack() bool {
	return q.info.Marking == inthdr.ByIFA && q.info.End > 0 && q.info.Depth == 0 && q.layers.L3 == packet.EthernetLen
}

// rewrite makes the error in b, whose quote ends at end, one of n bytes less that quotes quoted, with zeros behind it.
// before is the sum of the error as it came.
func (q *Quoter) rewrite(b []byte, l *packet.Layers, quoted []byte, end, n, unit int, before uint16) {
	l3, l4 := int(l.L3)+n, int(l.L4)+n
	copy(b[n:], b[:int(l.L4)+headerLen])
	room := b[l4+headerLen : end]
	clear(room[copy(room, quoted):])
	switch unit {
	case 4:
		b[l4+5] -= uint8(n / 4)
	case 8:
		b[l4+4] -= uint8(n / 8)
	}
	sum := b[l4+2:]
	s := uint32(^binary.BigEndian.Uint16(sum)) + uint32(^before) + uint32(checksum.Sum(b[l4:end])) // RFC 1624 over all that changed
	length := b[l3+2:]
	if l.IPVersion == 6 {
		length = b[l3+4:]
		s += uint32(^uint16(n)) // the pseudo header has the length
	} else {
		header := b[l3+10:]
		binary.BigEndian.PutUint16(header, ^checksum.AddOnes(^binary.BigEndian.Uint16(header), ^uint16(n)))
	}
	binary.BigEndian.PutUint16(length, binary.BigEndian.Uint16(length)-uint16(n))
	binary.BigEndian.PutUint16(sum, ^checksum.Fold(uint64(s)))
}
