// What a node says: as a hop of INT, and as a time.

package ioam

import "encoding/binary"

// Clock is how nodes count fractions of a second (RFC 9197, section 5).
type Clock uint8

const (
	POSIX Clock = iota // microseconds, as Linux
	PTP                // nanoseconds
	NTP                // of 2^32, with seconds from 1900 on
)

// since1900 are the seconds from 1900 to 1970.
const since1900 = 2_208_988_800

// time is a time in nanoseconds from 1970 on; UnknownTime where it is none.
func (c Clock) time(seconds, fraction uint32) uint64 {
	const second = 1_000_000_000
	s, ns := uint64(seconds), uint64(fraction)
	switch c {
	case NTP:
		if s < since1900 {
			s += 1 << 32
		}
		return (s-since1900)*second + ns*second>>32
	case POSIX:
		ns *= 1000
	}
	if ns >= second {
		return UnknownTime
	}
	return s*second + ns
}

// What a hop of INT has of a node, bits of INT's Instruction Bitmap.
const (
	intNode       = 1 << 15
	intInterfaces = 1 << 14
	intLatency    = 1 << 13
	intQueue      = 1 << 12
	intTimes      = 1<<11 | 1<<10

	MaxHopLen = 32 // of a hop of INT
)

// Bitmap is what a hop of INT has of the nodes of a trace.
func (t *Trace) Bitmap() uint16 { return bitmapOf(t.Type) }

func bitmapOf(t uint32) uint16 {
	b := uint16(intNode)
	if t&(bitInterfaces|bitWidePorts) != 0 {
		b |= intInterfaces
	}
	if t&bitDepth != 0 {
		b |= intQueue
	}
	if t&bitSeconds != 0 && t&bitFraction != 0 {
		b |= intTimes | intLatency // without the latency, the times would be one
	}
	if t&bitDelay != 0 {
		b |= intLatency
	}
	return b
}

// Put writes a node as a hop of INT with that bitmap into b, which has room for MaxHopLen, and returns its length. The node's own time
// is in the times of departure where it is known; else both times are that of arrival, and a segment has the whole way to the next
// node's arrival.
func (s *Nodes) Put(b, node []byte, c Clock, bitmap uint16) int {
	l, be, at := &s.l, binary.BigEndian, 4
	b = b[:MaxHopLen]
	be.PutUint32(b, l.nodeOf(node))
	if bitmap&intInterfaces != 0 {
		be.PutUint32(b[at:], l.portsOf(node))
		at += 4
	}
	delay := l.word(node, l.delay)
	if delay>>31 != 0 { // it was too long to be told
		delay = Unknown
	}
	if bitmap&intLatency != 0 {
		be.PutUint32(b[at:], delay)
		at += 4
	}
	if bitmap&intQueue != 0 { // number 0, and an occupancy of 24 bits
		depth := l.word(node, l.depth)
		if depth != Unknown {
			depth = min(depth, 0xfffffe)
		}
		be.PutUint32(b[at:], depth)
		at += 4
	}
	if bitmap&intTimes != 0 {
		arrival := s.Arrival(node, c)
		egress := arrival
		if arrival != UnknownTime && delay != Unknown {
			egress += uint64(delay)
		}
		be.PutUint64(b[at:], arrival)
		be.PutUint64(b[at+8:], egress)
		at += 16
	}
	return at
}

// nodeOf is the number of a node, 24 bits or the lowest 32 of 56.
func (l *layout) nodeOf(node []byte) uint32 {
	const ones = 0xffffff
	if id := l.word(node, l.node) & ones; id != ones {
		return id
	}
	if at := l.wideNode; at != absent && l.word(node, at)&ones != ones {
		return l.word(node, at+4)
	}
	return Unknown
}

// portsOf is the word of both interfaces, of 16 bits each: all ones are unknown, or more than that.
func (l *layout) portsOf(node []byte) uint32 {
	both := l.word(node, l.ports)
	if at := l.widePorts; at != absent {
		if both>>16 == 0xffff {
			both = min(l.word(node, at), 0xffff)<<16 | both&0xffff
		}
		if both&0xffff == 0xffff {
			both = both&^0xffff | min(l.word(node, at+4), 0xffff)
		}
	}
	return both
}

// HopLimit is what a node sent the packet on with; false: it does not tell.
func (s *Nodes) HopLimit(node []byte) (hopLimit uint8, told bool) {
	at := s.l.node
	if s.l.wideNode != absent {
		at = s.l.wideNode
	}
	return uint8(s.l.word(node, at) >> 24), at != absent
}

// Arrival is when a node received the packet, in nanoseconds from 1970 on.
func (s *Nodes) Arrival(node []byte, c Clock) uint64 {
	seconds, fraction := s.l.word(node, s.l.seconds), s.l.word(node, s.l.fraction)
	if seconds == Unknown || fraction == Unknown {
		return UnknownTime
	}
	return c.time(seconds, fraction)
}
