// Others: packets of flows that the flow table has no room for, in the queues that are in an episode.

package event

import (
	"intsink/engine/episode"
	"intsink/flows"
)

// AsksOthers reports whether packets without a flow are to be shown: some queue may be in an episode.
func (d *Detector) AsksOthers() bool { return d.view.Hot&HotQueues != 0 }

// CountOther counts a packet without a flow in the episodes of the queues that it crosses, where package fast has not. Whether its flow is
// one that a watch selects, nobody knows.
func (d *Detector) CountOther(key *flows.Key, o *Observation) {
	l, hopLen := o.Layout, int(o.Info.HopLen)
	if !o.usable() || l.NodeID < 0 || hopLen == 0 {
		return
	}
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	var n hopValues
	for ; len(stack) >= hopLen; stack = stack[hopLen:] {
		d.readQueue(&n, stack[:hopLen], l)
		if n.NodeID == unknown32 || n.Egress == unknown32 && hasEgress(l) {
			continue
		}
		if at := n.queueKey(); d.view.Queues.Has(d.view.bitOfKey(at)) {
			d.tallies.CountOther(at, key, &episode.Values{Latency: n.Latency, Occupancy: n.Occupancy, Bytes: uint32(o.Info.Size), ECN: o.ecn()})
		}
	}
}
