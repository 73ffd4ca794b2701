// cause: the events and the watch for which a packet is reported, as one word.

package engine

import "intsink/engine/event"

// cause is why a packet is reported: its events, the watch that has them, and whether its
// event.Congestion is an onset or a clear. Packets of one cause go to the same collectors and
// have the same priority.
//
//	| edge 1 | watch 8 | events 32 |
//
// The watch is that of the packet: a later one may give its flow another, or none.
type cause uint64

const (
	causeWatch = 32
	causeEdge  = 40
)

func causeOf(set event.Set, watch uint8, edge bool) cause {
	c := cause(set) | cause(watch)<<causeWatch
	if edge {
		c |= 1 << causeEdge
	}
	return c
}

func (c cause) set() event.Set           { return event.Set(c) }
func (c cause) watch() uint8             { return uint8(c >> causeWatch) }
func (c cause) priority() event.Priority { return c.set().Priority(c>>causeEdge&1 != 0) }
