// Others: packets of flows that the flow table has no room for, in the queues that are in an episode.

package event

import (
	"intsink/engine/episode"
	"intsink/flows"
)

// AsksOthers reports whether packets without a flow are to be shown: some queue may be in an episode.
func (d *Detector) AsksOthers() bool { return d.view.Hot&HotQueues != 0 }

// CountOthers counts packets without a flow in the episodes of the queues that they cross, as package fast has read them. of says for each
// which key its packet has. Behind the last of a burst LeaveOthers is to be called.
func (d *Detector) CountOthers(all []Crossed, of []uint8, keys *[64]flows.Key) {
	for i := range all {
		c := &all[i]
		d.others.Count(c.Key, &keys[of[i]&63], &c.Values)
	}
}

// CountOther does as CountOthers for one packet that package fast has not read. Whether its flow is one that a watch selects, nobody knows.
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
			d.others.Count(at, key, &episode.Values{Latency: n.Latency, Occupancy: n.Occupancy, Bytes: uint32(o.Info.Size), ECN: o.ecn()})
		}
	}
}

// LeaveOthers is to be called behind the last packet of a burst that came at now.
func (d *Detector) LeaveOthers(now int64) { d.others.Leave(now) }
