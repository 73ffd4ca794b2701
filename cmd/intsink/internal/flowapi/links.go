// GET /api/v1/links: lists the latency between two nodes, merged over workers.

package flowapi

import (
	"context"
	"fmt"
	"time"

	"intsink/engine/aside/inspect"
	"intsink/engine/usual"
	"intsink/flows"
)

// linkItem is one link between two nodes.
type linkItem struct {
	From          uint32    `json:"from_node"`
	FromEgress    *uint16   `json:"from_egress"`
	To            uint32    `json:"to_node"`
	ToIngress     *uint16   `json:"to_ingress"`
	LatencyNs     *uint32   `json:"latency_ns"`
	ReferenceNs   *uint32   `json:"reference_ns"`
	ClockSkews    uint64    `json:"clock_skews"`
	LastSeen      time.Time `json:"last_seen"`
	TxUtilization *uint32   `json:"tx_utilization"`
	Usual         usualItem `json:"usual"`
}

// links is GET /api/v1/links.
func (in *API) links(ctx context.Context, p *parameters) (any, error) {
	node, link, minLatency := number[uint32](p, "node", 32), p.crossing("link"), p.least("min_latency_ns")
	g := p.paging("latency", "last_seen", "clock_skews")
	questions, err := in.tables(ctx, p, inspect.Links|inspect.Interfaces)
	if err != nil {
		return nil, err
	}
	utilization := utilizations(questions)
	var all []listed[*linkItem]
	for key, x := range mergeLinks(questions) {
		x.TxUtilization = utilization[key[0]]
		x.Usual = in.usualOf(usual.Place{Kind: usual.Segment, Key: key})
		latency := uint32(0)
		if x.LatencyNs != nil {
			latency = *x.LatencyNs
		}
		if node != nil && *node != x.From && *node != x.To || link != nil && *link != (crossing{x.From, x.To}) || latency < minLatency {
			continue
		}
		value := map[string]uint64{"latency": uint64(latency), "last_seen": uint64(x.LastSeen.UnixNano()), "clock_skews": x.ClockSkews}
		all = append(all, listed[*linkItem]{value[g.sort], fmt.Sprintf("%016x:%016x", key[0], key[1]), x})
	}
	return cut(all, g, &tableTotals{Rows: len(all)}), nil
}

// mergeLinks takes values from the worker that saw the link last, and adds up how often it
// came out negative.
func mergeLinks(questions []*inspect.PendingQuery) map[[2]uint64]*linkItem {
	merged := map[[2]uint64]*linkItem{}
	for _, q := range questions {
		for i := range q.Links {
			r := &q.Links[i]
			v, seen := &r.Value, timestamp(flows.Since(q.Now, r.Seen))
			x := merged[r.Key]
			if x == nil {
				x = &linkItem{
					From: uint32(r.Key[0] >> 32), FromEgress: knownPort(uint16(r.Key[0])),
					To: uint32(r.Key[1] >> 32), ToIngress: knownPort(uint16(r.Key[1] >> 16)),
				}
				merged[r.Key] = x
			}
			x.ClockSkews += uint64(v.Skews)
			if seen.After(x.LastSeen) {
				x.LastSeen = seen
				x.LatencyNs, x.ReferenceNs = some(v.Last, v.Last != unknownValue), some(v.Ref, v.Ref != unknownValue)
			}
		}
	}
	return merged
}
