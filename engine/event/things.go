package event

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// Most rows of the tables of what flows share.
const (
	MaxQueues     = 1 << 14
	MaxInterfaces = 1 << 13
	MaxLinks      = 1 << 13
)

// Queue is the state of one queue of one egress interface of one node.
type Queue struct {
	Occupancy uint32 // last seen
	Latency   uint32 // of the hop, last seen
	Reports   uint32 // of this episode
	Congested bool
	Seen      int64 // last sample, Unix nanoseconds
	Since     int64 // onset of the episode, or its end
	Episodes  uint64
}

// Interface is the state of one egress interface of one node.
type Interface struct {
	Utilization uint32 // last seen
	Busy        bool
	Reported    bool  // in this episode
	Below       int64 // since when it is not above the clearing threshold; 0: it is above
	Seen        int64 // last sample of it that was watched, Unix nanoseconds
	Sent        int64 // last report, the same; 0: never
}

// Link is the state of one link between two nodes.
type Link struct {
	Ref    uint32 // latency last reported, nanoseconds
	Last   uint32 // last seen
	Sent   uint32 // microseconds, 0: never
	Window uint8
	Skews  uint32 // times that it came out negative
}

// The entries that make room last: those in an episode, which are not as a new one.
func (q *Queue) holds(now int64) bool { return q.Congested && now-q.Seen < congestionMemory }

func (i *Interface) holds(now int64) bool {
	return i.Busy && now-i.Seen < interfaceMemory || i.Sent != 0 && now-i.Sent < minTxInterval
}

func (*Link) holds(int64) bool { return true } // its reference

// congestionMemory is longer than an episode lasts without a sample, as a rule.
const congestionMemory = 60e9

// Things are the tables of queues, interfaces and links of one worker.
type Things struct {
	Queues     *flows.Small[Queue]
	Interfaces *flows.Small[Interface]
	Links      *flows.Small[Link]
}

func newThings(seed uint64) Things {
	return Things{
		Queues:     flows.NewSmall(MaxQueues, seed, (*Queue).holds),
		Interfaces: flows.NewSmall(MaxInterfaces, seed, (*Interface).holds),
		Links:      flows.NewSmall(MaxLinks, seed, (*Link).holds),
	}
}

// node is what one hop says, unknown values all ones.
type node struct {
	id, interfaces     uint32
	latency, queue, tx uint32
	ingress, egress    uint64
	stampBits          uint8 // of the timestamps that count
	model              *NodeModel
}

// readNode reads one hop of a packet into n.
func readNode(n *node, hop []byte, l *inthdr.Layout) {
	*n = node{id: unknown32, interfaces: unknown32, latency: unknown32, queue: unknown32, tx: unknown32,
		ingress: unknown64, egress: unknown64, stampBits: 64, model: &asIs}
	if l.Format == inthdr.Format2016 {
		readNode2016(n, hop, l)
		return
	}
	word := func(at int8, v *uint32) {
		if at >= 0 {
			*v = binary.BigEndian.Uint32(hop[at:])
		}
	}
	word(l.NodeID, &n.id)
	word(l.Interfaces, &n.interfaces)
	word(l.HopLatency, &n.latency)
	word(l.Queue, &n.queue)
	word(l.TxUtilization, &n.tx)
	if l.Format == inthdr.Format1 {
		n.stampBits = 32
		n.ingress, n.egress = shortTimestamp(hop, l.IngressTimestamp, unknown32), shortTimestamp(hop, l.EgressTimestamp, unknown32)
		return
	}
	if l.IngressTimestamp >= 0 {
		n.ingress = binary.BigEndian.Uint64(hop[l.IngressTimestamp:])
	}
	if l.EgressTimestamp >= 0 {
		n.egress = binary.BigEndian.Uint64(hop[l.EgressTimestamp:])
	}
}

// readNode2016 reads a hop of the June 2016 format: values of 31 bits, each port on
// its own. There is no egress timestamp to measure a link by.
func readNode2016(n *node, hop []byte, l *inthdr.Layout) {
	word := func(at int8, v *uint32) {
		if at < 0 {
			return
		}
		if x := binary.BigEndian.Uint32(hop[at:]) & mask2016; x != unknown2016 {
			*v = x
		}
	}
	ingress, egress := uint32(unknown32), uint32(unknown32)
	word(l.NodeID, &n.id)
	word(l.Interfaces, &ingress)
	word(l.EgressTimestamp, &egress)
	word(l.HopLatency, &n.latency)
	word(l.Queue, &n.queue)
	word(l.TxUtilization, &n.tx)
	n.interfaces = ingress<<16 | egress&0xffff
	n.ingress, n.stampBits = shortTimestamp(hop, l.IngressTimestamp, mask2016), 31
}

// egressKey names an egress interface of a node, or a queue of it.
func (n *node) egressKey(queue uint8) [2]uint64 {
	return [2]uint64{uint64(n.id)<<32 | uint64(n.interfaces&0xffff), uint64(queue)}
}

// walk moves the state of every queue, interface and link on the packet's way, and
// returns what is to be reported. The first packet of a flow moves it too, and is
// reported for none of it.
//
//go:noinline
func (d *Detector) walk(now int64, f *flows.Flow, fresh bool, p *Policy, o *Observation) (set Set) {
	d.Edge = false
	l, info := o.Layout, o.Info
	hopLen := int(info.HopLen)
	if l.NodeID < 0 || hopLen == 0 {
		return 0
	}
	stack := o.Frame[info.Stack:][:info.StackLen]
	var nodes [2]node
	n, after := &nodes[0], &nodes[1] // after: the next node on the way, which stands before this one in the stack
	for at := 0; at+hopLen <= len(stack); at += hopLen {
		readNode(n, stack[at:at+hopLen], l)
		if d.models.any {
			d.models.apply(n)
		}
		if n.id != unknown32 && n.interfaces != unknown32 {
			set |= d.visit(now, f, fresh, p, n)
			if at > 0 && after.id != unknown32 && after.interfaces != unknown32 {
				set |= d.cross(now, f, fresh, p, n, after)
			}
		}
		n, after = after, n
	}
	if fresh {
		return 0
	}
	return set
}

// visit moves the state of the queue and the interface that n was left by. Where
// nobody watches them, the tables show at least what was seen.
func (d *Detector) visit(now int64, f *flows.Flow, fresh bool, p *Policy, n *node) (set Set) {
	if p.calm.raise != never || p.calm.latency != never {
		set = d.congestion(now, f, n, fresh, &p.Thresholds)
	} else if n.queue != unknown32 {
		if q, _ := d.things.Queues.Get(now, n.egressKey(uint8(n.queue>>24))); !q.Congested {
			q.Seen, q.Occupancy, q.Latency = now, n.occupancy(), n.latency
		}
	}
	switch {
	case n.tx == unknown32:
	case p.calm.tx != never:
		set |= d.txUtilization(now, f, n, fresh, &p.Thresholds)
	default:
		if i, _ := d.things.Interfaces.Get(now, n.egressKey(0)); !i.Busy {
			i.Utilization = n.tx
		}
	}
	return set
}

// cross moves the state of the link between n and the next node.
func (d *Detector) cross(now int64, f *flows.Flow, fresh bool, p *Policy, n, next *node) Set {
	if p.Events.Has(LinkLatency) {
		return d.linkLatency(now, f, n, next, fresh, &p.Thresholds)
	}
	if ns, known := between(now, n, next); known && ns >= 0 {
		k, made := d.things.Links.Get(now, linkKey(n, next))
		if k.Last = uint32(min(ns, unknown32-1)); made {
			k.Ref = unknown32
		}
	}
	return 0
}

// linkKey names the link from n's egress to next's ingress interface.
func linkKey(n, next *node) [2]uint64 {
	return [2]uint64{
		uint64(n.id)<<32 | uint64(n.interfaces&0xffff),
		uint64(next.id)<<32 | uint64(next.interfaces>>16),
	}
}
