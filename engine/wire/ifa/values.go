// Values, continued: what they are as a hop of INT, as a time and as the speed of a port.

package ifa

import "encoding/binary"

// Lengths of a hop as Put writes it, and with its times.
const (
	INTHopLen     = 16
	INTHopTimeLen = INTHopLen + 16
)

// Put writes v as a hop of INT: node id, interfaces, hop latency, queue and its occupancy.
func (v *Values) Put(b []byte) {
	_ = b[INTHopLen-1]
	be := binary.BigEndian
	be.PutUint32(b, v[DeviceID])
	be.PutUint16(b[4:], port(v[IngressPort]))
	be.PutUint16(b[6:], port(v[EgressPort]))
	be.PutUint32(b[8:], v[ResidenceTime])
	be.PutUint32(b[12:], v.queue())
}

func port(x uint32) uint16 { return uint16(min(x, 0xffff)) }

// queue is the word of INT that has the number of a queue, and its occupancy in 24 bits.
func (v *Values) queue() uint32 {
	const unknown = 0xffffff
	occupancy := uint32(unknown)
	if o := v[Occupancy]; o != Unknown {
		occupancy = min(o, unknown-1)
	}
	if v[Queue] == Unknown {
		return 0xff<<24 | occupancy
	}
	return min(v[Queue], 0xff)<<24 | occupancy
}

// RxTime is the time at which the node received the packet, in nanoseconds of a clock that wraps; false where it is not told: zero is no time.
func (v *Values) RxTime() (uint64, bool) {
	const second = 1e9
	s, ns := v[RxSeconds], v[RxNanoseconds]
	if s == Unknown || ns >= second || s|ns == 0 {
		return 0, false
	}
	return uint64(s)*second + uint64(ns), true
}

// Wrap is after how many nanoseconds a clock with 20 bits of seconds begins again.
const Wrap = int64(1<<20) * 1e9

// Times are those of a packet's hops, which may have begun again between one and the next.
type Times struct {
	first uint64
	told  bool
}

// Put writes the times at which the packet came to the node and left it behind a hop of INT: as numbers whose differences tell
// how long the way from node to node took. Without a residence time the node does not tell when it left.
func (t *Times) Put(v *Values, b []byte) {
	const unknown = 1<<64 - 1
	in, out := uint64(unknown), uint64(unknown)
	if at, told := v.RxTime(); told {
		if !t.told {
			t.first, t.told = at, true
		}
		in = at
		if ahead := int64(at - t.first); max(at, t.first) >= uint64(Wrap) { // more bits of seconds
		} else if ahead > Wrap/2 {
			in -= uint64(Wrap)
		} else if ahead < -Wrap/2 {
			in += uint64(Wrap)
		}
		if r := v[ResidenceTime]; r != Unknown {
			out = in + uint64(r)
		}
	}
	binary.BigEndian.PutUint64(b[INTHopLen:], in)
	binary.BigEndian.PutUint64(b[INTHopLen+8:], out)
}

// Told reports whether a node has told a time.
func (t *Times) Told() bool { return t.told }

// speeds are those of egress ports, in Gbit/s.
var speeds = [...]uint32{10, 25, 40, 50, 100, 200, 400}

// SpeedGbps is the speed of the egress port in Gbit/s; 0: not told.
func (v *Values) SpeedGbps() uint32 {
	if s := v[Speed]; s < uint32(len(speeds)) {
		return speeds[s]
	}
	return 0
}
