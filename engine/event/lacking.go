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
	NumLacking
)

// String returns the value of the value label.
func (l Lacking) String() string {
	return [NumLacking]string{"node_id", "interfaces", "hop_latency", "queue", "timestamps", "tx_utilization"}[l]
}

// countLacking counts what a new flow of a watch lacks. INT without hops says nothing of what they would have.
func (d *Detector) countLacking(p *Policy, o *Observation) {
	l, has := o.Layout, p.Events.Has
	links, tx, queues := has(LinkLatency), has(TxUtilization), has(Congestion) && p.Thresholds.CongestionRaise > 0
	stamps := l.IngressTimestamp >= 0 && l.EgressTimestamp >= 0 && l.Format != inthdr.Format2016
	for v, lacks := range [NumLacking]bool{
		LacksNode:          l.NodeID < 0 && (has(PathChange) || has(HopLatency) || has(Congestion) || links || tx),
		LacksInterfaces:    !hasEgress(l) && (links || tx),
		LacksLatency:       l.HopLatency < 0 && !l.HasStampedLatency() && (has(HopLatency) || has(EndToEnd) && !p.Thresholds.PTP),
		LacksQueue:         l.Queue < 0 && !l.HasRest && queues,
		LacksTimestamps:    !stamps && links,
		LacksTxUtilization: l.TxUtilization < 0 && tx,
	} {
		if lacks {
			d.Counters.Lacking[v]++
		}
	}
}
