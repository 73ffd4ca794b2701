// Cause: why a packet is reported, packed into one number.

package burst

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
)

// Cause is why a packet is reported: its events, the watch that has them, and whether its
// event.Congestion is an onset or a clear. Packets of one cause go to the same collectors and
// have the same priority.
//
//	| edge 1 | watch 8 | events 32 |
//
// The watch is that of the packet: a later one may give its flow another, or none.
type Cause uint64

const (
	causeWatch = 32
	causeEdge  = 40
)

// CauseOf returns the cause of a packet with the events of set, which the watch has.
func CauseOf(set event.Set, watch uint8, edge bool) Cause {
	c := Cause(set) | Cause(watch)<<causeWatch
	if edge {
		c |= 1 << causeEdge
	}
	return c
}

// Set returns the events.
func (c Cause) Set() event.Set { return event.Set(c) }

// Watch returns the index of the watch.
func (c Cause) Watch() uint8 { return uint8(c >> causeWatch) }

// Priority returns how urgent the report is.
func (c Cause) Priority() event.Priority { return c.Set().Priority(c>>causeEdge&1 != 0) }

// Alike returns left without its first packets: those that have the same cause as the very first. All packets of left have one.
func (b *Burst) Alike(left uint64) (rest uint64) {
	c := b.Cause[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)]
	for rest = left & (left - 1); rest != 0 && b.Cause[bits.TrailingZeros64(rest)&(mbuf.MaxBurst-1)] == c; {
		rest &= rest - 1
	}
	return rest
}
