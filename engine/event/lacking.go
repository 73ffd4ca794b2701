// Lacking: which values INT does not carry that watched events need, told once for each new flow.

package event

import "intsink/engine/wire/inthdr"

// Lacking is a value of hops that the Instruction Bitmap of a flow does not ask for.
type Lacking uint8

const (
	LacksNode       Lacking = iota // no paths, no latencies of hops, no queues
	LacksInterfaces                // no links and utilization
	LacksLatency                   // nor both timestamps
	LacksQueue
	LacksTimestamps // no links
	LacksTxUtilization
	LacksUnit // of the utilization, which INT never has: no node model tells it
	NumLacking
)

// String returns the value of the value label.
func (l Lacking) String() string {
	return [NumLacking]string{"node_id", "interfaces", "hop_latency", "queue", "timestamps", "tx_utilization", "unit_of_tx_utilization"}[l]
}

// Missing returns, for each value that hops of a layout do not carry, the events of p that are never told for want of it. Links
// that are held against what is usual, and interfaces that are looked at by samples, are so where INT has what it takes: nobody asked for
// more. knowsLoads: the unit of some node's utilization is known.
func (p *Policy) Missing(l *inthdr.Layout, knowsLoads bool) (missing [NumLacking]Set) {
	t, latency := &p.Thresholds, l.HopLatency >= 0 || l.HasStampedLatency()
	byLatency := t.CongestionLatency > 0 && latency
	lack := func(v Lacking, lacks bool, events ...Event) {
		for _, e := range events {
			asked := !(e == LinkLatency && t.LinkAuto) && !(e == TxUtilization && t.TxAuto && v != LacksUnit)
			if lacks && asked && p.Events.Has(e) {
				missing[v] |= e.Set()
			}
		}
	}
	lack(LacksNode, l.NodeID < 0, PathChange, HopLatency, Congestion, LinkLatency, TxUtilization)
	lack(LacksInterfaces, !hasEgress(l), LinkLatency, TxUtilization)
	lack(LacksLatency, !latency, HopLatency)
	lack(LacksLatency, !latency && !t.PTP, EndToEnd)
	lack(LacksQueue, l.Queue < 0 && !l.HasRest && !byLatency && (t.CongestionRaise > 0 || t.CongestionFactor > 0), Congestion)
	lack(LacksTimestamps, l.IngressTimestamp < 0 || l.EgressTimestamp < 0 || l.Format == inthdr.Format2016, LinkLatency)
	lack(LacksTxUtilization, l.TxUtilization < 0, TxUtilization)
	lack(LacksUnit, t.TxAuto && !knowsLoads && l.TxUtilization >= 0 && hasEgress(l), TxUtilization)
	return missing
}

// countLacking counts what a new flow of a watch lacks. INT without hops says nothing of what they would have.
func (d *Detector) countLacking(p *Policy, o *Observation) {
	for v, events := range p.Missing(o.Layout, d.KnowsLoads()) {
		if events != 0 {
			d.Counters.Lacking[v]++
		}
	}
}
