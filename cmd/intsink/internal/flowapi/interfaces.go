// GET /api/v1/interfaces: lists egress interfaces with their utilization.

package flowapi

import (
	"context"
	"fmt"
	"time"

	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/flows"
)

// interfaceItem is one egress interface of a node.
type interfaceItem struct {
	Node          uint32    `json:"node"`
	Egress        *uint16   `json:"egress"`
	TxUtilization uint32    `json:"tx_utilization"`
	Unit          *string   `json:"unit"` // "percent"; null: nobody knows what is full, the value is as the wire has it
	Busy          bool      `json:"busy"`
	LastSeen      time.Time `json:"last_seen"`
}

// interfaces is GET /api/v1/interfaces.
func (in *API) interfaces(ctx context.Context, p *parameters) (any, error) {
	node, egress := number[uint32](p, "node", 32), number[uint16](p, "egress", 16)
	busy, least := p.yes("busy"), p.least("min_tx_utilization")
	g := p.paging("tx_utilization", "last_seen")
	questions, err := in.tables(ctx, p, inspect.Interfaces)
	if err != nil {
		return nil, err
	}
	merged, loads := map[uint64]*interfaceItem{}, newLoads()
	for _, q := range questions {
		for i := range q.Interfaces {
			r := &q.Interfaces[i]
			x := merged[r.Key[0]]
			if x == nil {
				x = &interfaceItem{Node: uint32(r.Key[0] >> 32), Egress: knownPort(uint16(r.Key[0]))}
				merged[r.Key[0]] = x
			}
			loads.add(r.Key[0], &r.Value)
			x.Busy = x.Busy || busyNow(q, &r.Value)
			if seen := timestamp(flows.Since(q.Now, r.Seen)); seen.After(x.LastSeen) {
				x.LastSeen, x.TxUtilization, x.Unit = seen, r.Value.Utilization, nil
				if r.Value.Percent && !r.Value.IsOdd() {
					x.Unit = new("percent")
				}
			}
		}
	}
	var all []listed[*interfaceItem]
	for key, x := range merged {
		if node != nil && *node != x.Node || egress != nil && *egress != uint16(key) || busy != nil && *busy != x.Busy || x.TxUtilization < least {
			continue
		}
		value := map[string]uint64{"tx_utilization": uint64(x.TxUtilization), "last_seen": uint64(x.LastSeen.UnixNano())}
		all = append(all, listed[*interfaceItem]{value[g.sort], fmt.Sprintf("%016x", key), x})
	}
	return cut(all, g, &tableTotals{Rows: len(all), Hint: loads.hint()}), nil
}

// busyNow reports whether interface v is busy now. A worker clears v.Busy only with the next packet that tells the
// interface's utilization, so that an interface without such packets for InterfaceMemory, or the longest hold, is not busy.
func busyNow(q *inspect.PendingQuery, v *event.Interface) bool {
	memory := int64(event.InterfaceMemory)
	for i := range q.Watches {
		memory = max(memory, q.Watches[i].Policy.Thresholds.TxHold)
	}
	return v.Busy && q.Now-v.Seen <= memory
}
