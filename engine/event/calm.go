package event

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// calm are the thresholds that no hop of a packet may reach if its queues and
// interfaces are to be passed over.
type calm struct{ raise, latency, tx uint32 }

// never is a threshold that no known value reaches.
const never = unknown32

// WatchesThings tells whether any policy watches queues, links or interfaces: then a Quiet
// packet must be Calm, too.
func (d *Detector) WatchesThings() bool { return d.watchesThings }

// Calm tells whether the queues and interfaces on the way of a Quiet packet of f
// give no event either, and have not lately. False: it is as if Quiet had not been
// asked.
//
//go:noinline
func (d *Detector) Calm(now int64, f *flows.Flow, frame []byte, i *inthdr.Info, l *inthdr.Layout) bool {
	p := &d.policies[f.Watch]
	if !p.things || now > d.stirred && now > d.busy && p.calm.pass(frame[i.Stack:][:i.StackLen], uint(i.HopLen), uint(i.Hops), l) {
		return true
	}
	lane := &d.lanes[f.Watch]
	lane.Sampled -= lane.Step // Packet counts it
	return false
}

// Survey takes n packets in and tells whether one of them is to be looked at by
// Packet although it is quiet, so that the tables of queues, interfaces and links show
// what there is.
func (d *Detector) Survey(n int) bool {
	if d.overlooked += n; d.overlooked < surveyed {
		return false
	}
	d.overlooked, d.look = 0, true
	return true
}

// surveyed is how many packets may be passed over before one is looked at.
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
