// Values, continued: what they are as a hop of INT, as a time and as the speed of a port.

package ifa

import "encoding/binary"

// Length of a hop as Put writes it.
const INTHopLen = 16

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

// RxTime is the time at which the node received the packet, in nanoseconds of a clock that wraps; false where it is not told.
func (v *Values) RxTime() (uint64, bool) {
	s, ns := v[RxSeconds], v[RxNanoseconds]
	if s == Unknown || ns == Unknown {
		return 0, false
	}
	return uint64(s)*1e9 + uint64(ns), true
}

// speeds are those of egress ports, in Gbit/s.
var speeds = [...]uint32{10, 25, 40, 50, 100, 200, 400}

// SpeedGbps is the speed of the egress port in Gbit/s; 0: not told.
func (v *Values) SpeedGbps() uint32 {
	if s := v[Speed]; s < uint32(len(speeds)) {
		return speeds[s]
	}
	return 0
}
