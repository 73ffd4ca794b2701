package event

import (
	"encoding/binary"

	"intsink/engine/inthdr"
)

// calm are the thresholds that no hop of a packet may reach if its queues and
// interfaces are to be passed over.
type calm struct{ raise, latency, tx uint32 }

// never is a threshold that no known value reaches.
const never = unknown32

// surveyed is how many packets may be passed over before one is looked at although
// it is calm, so that the tables show what there is.
const surveyed = 256

// pass tells whether the queues and interfaces on a packet's way need no look:
// nothing reaches a threshold, and nothing has lately. stack is at least n hops.
//
//go:noinline
func (c *calm) pass(stack []byte, hopLen, n uint, l *inthdr.Layout) bool {
	for range n {
		hop := stack[:hopLen]
		stack = stack[hopLen:]
		if l.Queue >= 0 {
			if q := binary.BigEndian.Uint32(hop[l.Queue:]); q&0xffffff >= c.raise && q != unknown32 {
				return false
			}
		}
		if x := binary.BigEndian.Uint32(hop[l.HopLatency:]); x >= c.latency && x != unknown32 {
			return false
		}
		if l.TxUtilization >= 0 {
			if x := binary.BigEndian.Uint32(hop[l.TxUtilization:]); x >= c.tx && x != unknown32 {
				return false
			}
		}
	}
	return true
}
