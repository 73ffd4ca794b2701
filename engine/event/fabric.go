// Fabric: tables of queues, interfaces and links that flows share; which entry may be evicted;
// how one packet updates them.

package event

import (
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// The most entries of the tables that flows share.
const (
	MaxQueues     = 1 << 14
	MaxInterfaces = 1 << 13
	MaxLinks      = 1 << 13
)

// Queue is the state of one queue of one egress interface of one node.
type Queue struct {
	Occupancy uint32      // last seen; unknown32: never
	Latency   uint32      // of the hop, the same
	Rest      inthdr.Rest // what that packet said of the buffer, and of the queue's congestion status
	Reports   uint32      // of this episode
	Congested bool
	Calm      bool   // in an episode, between bursts
	Window    uint8  // where thresholds are made of what is usual: of the last packets, those that were over one; in a burst, those that were not calm
	Seen      int64  // last sample, Unix nanoseconds
	Since     int64  // onset of the episode, or its end
	Ends      int64  // when the episode is over unless a packet shows otherwise
	Full      uint32 // in an episode: inForce.full as it was when it began
	Episodes  uint64
	Marked    uint64 // packets that passed and came with the mark of some queue (ECN: CE)
	MarkedAt  int64  // when the last one came, Unix nanoseconds
}

// Interface is the state of one egress interface of one node.
type Interface struct {
	Utilization uint32 // last seen
	Highest     uint32 // of all that were seen
	Percent     bool   // both are in per cent: its node's unit is known
	Busy        bool
	Reported    bool  // in this episode
	Window      uint8 // where only samples count: the last ones before an episode, a bit each: 1 reached the threshold
	Below       int64 // since when it is not above the clearing threshold; 0: it is above
	Seen        int64 // last sample of it that was watched, Unix nanoseconds
	Sent        int64 // last report, the same; 0: never
	Since       int64 // onset of the episode, the same
}

// Link is the state of one link between two nodes.
type Link struct {
	Ref    uint32 // latency last reported, nanoseconds
	Last   uint32 // last seen
	Window uint8
	Skews  uint32 // times that it came out negative

	least, span uint64 // a latency from least to least + span needs no test
}

// holds reports whether other entries are to be evicted before this one: it is in an episode
// that a new entry would forget.
func (q *Queue) holds(now int64) bool { return q.Congested && now-q.Seen < congestionMemory }

// holds reports whether other entries are to be evicted before this one: the interface is busy, or
// its last report is so recent that the next must wait.
func (i *Interface) holds(now int64) bool {
	return i.Busy && now-i.Seen < InterfaceMemory || i.Sent != 0 && now-i.Sent < minTxInterval
}

// settle sets which latencies are within the absolute deadband, none where a test depends on
// more than that: it is to be called when Ref or Window have changed.
func (k *Link) settle(absolute uint32) {
	if k.Window != 0 || k.Ref == unknown32 {
		k.least, k.span = 1<<63, 0 // no difference of two times
		return
	}
	k.least = uint64(k.Ref - min(k.Ref, absolute))
	k.span = min(uint64(k.Ref)+uint64(absolute), unknown32-1) - k.least
}

// holds is true of every link: each has a reference.
func (*Link) holds(int64) bool { return true }

// congestionMemory is longer than an episode lasts without a sample, as a rule.
const congestionMemory = 60e9

// Fabric is the tables of queues, interfaces and links of one worker.
type Fabric struct {
	Queues     *flows.Small[Queue]
	Interfaces *flows.Small[Interface]
	Links      *flows.Small[Link]
}

// capacities of the tables of a detector.
type capacities struct{ queues, interfaces, links int }

var allRoom = capacities{MaxQueues, MaxInterfaces, MaxLinks}

func newFabric(seed uint64, c capacities) Fabric {
	return Fabric{
		Queues:     flows.NewSmall(c.queues, seed, (*Queue).holds),
		Interfaces: flows.NewSmall(c.interfaces, seed, (*Interface).holds),
		Links:      flows.NewSmall(c.links, seed, (*Link).holds),
	}
}

// egressKey names an egress interface of a node.
func (n *hopValues) egressKey() [2]uint64 {
	return [2]uint64{uint64(n.NodeID)<<32 | uint64(n.Egress&0xffff)}
}

// queueKey names a queue of an egress interface; all queues without a number are one, with number 255.
func (n *hopValues) queueKey() [2]uint64 {
	return [2]uint64{n.egressKey()[0], uint64(n.Queue & 0xff)}
}

// updateFabric moves the state of every queue, interface and link on the packet's way, and
// returns what is to be reported. The first packet of a flow moves it too, and is
// reported for none of it.
//
//go:noinline
func (d *Detector) updateFabric(now int64, f *flows.Flow, fresh bool, p *Policy, o *Observation) (set Set) {
	d.Edge, d.hand.size = false, uint32(o.Info.Size)
	l, info := o.Layout, o.Info
	hopLen := int(info.HopLen)
	if l.NodeID < 0 || hopLen == 0 {
		return 0
	}
	stack := o.Frame[info.Stack:][:info.StackLen]
	var nodes [2]hopValues
	n, after := &nodes[0], &nodes[1] // after: the next node on the way, which stands before this one in the stack
	for at := 0; at+hopLen <= len(stack); at += hopLen {
		d.readHop(n, stack[at:at+hopLen], l)
		if n.NodeID != unknown32 && (n.Egress != unknown32 || !hasEgress(l)) {
			set |= d.updateQueueAndInterface(now, f, fresh, p, n)
			if at > 0 && n.Egress != unknown32 && after.NodeID != unknown32 && after.Ingress != unknown32 {
				set |= d.updateLink(now, f, fresh, p, n, after)
			}
		}
		n, after = after, n
	}
	if fresh {
		return 0
	}
	return set
}

// hasEgress reports whether the bitmap asks for egress interfaces. Without them queues are told apart by node and number
// alone, as those of interface 65535, which none is.
func hasEgress(l *inthdr.Layout) bool {
	if l.Format == inthdr.Format2016 {
		return l.EgressTimestamp >= 0 // bit 5 is the egress port
	}
	return l.Interfaces >= 0
}

// updateQueueAndInterface updates the queue and the egress interface of hop n, and returns
// their events. Where no watch has these events, the tables of the API show the last values.
func (d *Detector) updateQueueAndInterface(now int64, f *flows.Flow, fresh bool, p *Policy, n *hopValues) (set Set) {
	if p.fabric.raise != never || p.fabric.latency != never {
		set = d.congestion(now, f, n, fresh, &p.Thresholds)
	} else if n.Occupancy != unknown32 {
		if q, _ := d.fabric.Queues.Get(now, n.queueKey()); !q.InEpisode(now) {
			q.Congested = false // of a watch whose packets do not come any more
			q.Seen, q.Occupancy, q.Latency, q.Rest = now, n.Occupancy, n.Latency, n.rest
		}
	}
	switch {
	case n.TxUtilization == unknown32 || n.Egress == unknown32:
	case p.fabric.tx != never || d.sampling && p.Thresholds.TxAuto && p.Events.Has(TxUtilization) && n.model.TxFull != 0:
		set |= d.txUtilization(now, f, n, fresh, &p.Thresholds)
	default:
		if i, _ := d.fabric.Interfaces.Get(now, n.egressKey()); !i.Busy || now-i.Seen > max(InterfaceMemory, d.longestHold) {
			i.Busy = false // of a watch whose packets do not come any more
			i.see(n)
		}
	}
	return set
}

// updateLink updates the link from n to the next node, and returns its events.
func (d *Detector) updateLink(now int64, f *flows.Flow, fresh bool, p *Policy, n, next *hopValues) Set {
	if p.watchesLinks {
		return d.linkLatency(now, f, n, next, fresh, &p.Thresholds)
	}
	ns, known := between(now+d.Wall, n, next)
	if !known {
		return 0
	}
	k, made := d.fabric.Links.Get(now, linkKey(n, next))
	if made {
		k.Ref = unknown32
		k.settle(d.view.linkAbsolute)
	}
	if d.withholds(k, ns, n, next) {
		return 0
	}
	k.Last = uint32(min(ns, unknown32-1))
	return 0
}

// linkKey names the link from n's egress to next's ingress interface: the first eight bytes of
// either hop, as numbers, without the interface that does not count.
func linkKey(n, next *hopValues) [2]uint64 {
	return [2]uint64{
		n.egressKey()[0],
		uint64(next.NodeID)<<32 | uint64(next.Ingress)<<16,
	}
}
