// Values, continued: what they are as a hop of INT, and as a time.

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

// Put writes v as a hop of INT with that bitmap, and returns its length. The node's own time is in the times of departure
// where it is known; else both times are that of arrival, and a segment has the whole way to the next node's arrival.
func (v *Values) Put(b []byte, bitmap uint16) int {
	be := binary.BigEndian
	to := be.AppendUint32(b[:0], v.Node)
	if bitmap&intInterfaces != 0 {
		to = be.AppendUint32(to, port(v.Ingress)<<16|port(v.Egress))
	}
	if bitmap&intLatency != 0 {
		to = be.AppendUint32(to, v.Delay)
	}
	if bitmap&intQueue != 0 {
		to = be.AppendUint32(to, v.queue())
	}
	if bitmap&intTimes != 0 {
		egress := v.Arrival
		if v.Arrival != UnknownTime && v.Delay != Unknown {
			egress += uint64(v.Delay)
		}
		to = be.AppendUint64(be.AppendUint64(to, v.Arrival), egress)
	}
	return len(to)
}

// port is a number of 16 bits; all ones are unknown, or more than that.
func port(x uint32) uint32 { return min(x, 0xffff) }

// queue is the word of INT that has the number of a queue, which is 0, and its occupancy in 24 bits.
func (v *Values) queue() uint32 {
	if v.Depth == Unknown {
		return Unknown
	}
	return min(v.Depth, 0xfffffe)
}
