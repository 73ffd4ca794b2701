// GET /api/v1/paths, and one of them: flows, packets and bytes by path, merged over workers.

package flowapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/aside/inspect"
)

// pathTotalItem is one path and what the flows on it add up to.
type pathTotalItem struct {
	PathItem
	Flows        uint64    `json:"flows"`
	SprayedFlows uint64    `json:"sprayed_flows"` // of these, whose next packets take other paths
	Packets      uint64    `json:"packets"`
	Bytes        uint64    `json:"bytes"`
	LastSeen     time.Time `json:"last_seen"`
	MaxLatencyNs *uint32   `json:"max_latency_ns"`
	Congested    bool      `json:"congested"`
	Usual        usualItem `json:"usual"`
}

// pathTotals are of the whole list.
type pathTotals struct {
	Paths           int    `json:"paths"`
	Flows           uint64 `json:"flows"`
	FlowsWithout    uint64 `json:"flows_without_path"`
	FlowsNotCounted uint64 `json:"flows_not_counted"` // their paths are more than an answer has room for
}

// paths is GET /api/v1/paths.
func (in *API) paths(ctx context.Context, p *parameters) (any, error) {
	way, g := p.way("id"), p.paging("flows", "packets", "bytes", "last_seen", "latency")
	minLatency := p.least("min_latency_ns")
	if err := p.end(); err != nil {
		return nil, err
	}
	questions, err := in.ask(ctx, func(int) *inspect.Query { return inspect.New(inspect.PathTotals|inspect.Ways|inspect.Queues, 0) })
	if err != nil {
		return nil, err
	}
	var totals pathTotals
	var all []listed[*pathTotalItem]
	for id, x := range in.mergePaths(questions, &totals, &way) {
		if minLatency > 0 && (x.MaxLatencyNs == nil || *x.MaxLatencyNs < minLatency) {
			continue
		}
		totals.Flows += x.Flows
		x.Usual = in.usualPath(x.Nodes)
		latency := uint64(0)
		if x.MaxLatencyNs != nil {
			latency = uint64(*x.MaxLatencyNs)
		}
		value := map[string]uint64{"flows": x.Flows, "packets": x.Packets, "bytes": x.Bytes, "last_seen": uint64(x.LastSeen.UnixNano()), "latency": latency}
		all = append(all, listed[*pathTotalItem]{value[g.sort], id, x})
	}
	totals.Paths = len(all)
	return cut(all, g, &totals), nil
}

// path is GET /api/v1/paths/{id}.
func (in *API) path(ctx context.Context, p *parameters) (any, error) {
	if err := p.end(); err != nil {
		return nil, err
	}
	if !pathIDs.MatchString(p.id) {
		return nil, badRequest("%q is no id of a path: GET /api/v1/paths lists them", cli.Short(p.id))
	}
	questions, err := in.ask(ctx, func(int) *inspect.Query { return inspect.New(inspect.PathTotals|inspect.Ways|inspect.Queues, 0) })
	if err != nil {
		return nil, err
	}
	if x := in.mergePaths(questions, &pathTotals{}, &wayFilter{})[p.id]; x != nil {
		x.Usual = in.usualPath(x.Nodes)
		return x, nil
	}
	return nil, apiError{http.StatusNotFound, "no flow is on path " + p.id + " now; GET /api/v1/paths lists those that flows are on"}
}

// mergePaths adds up the totals of a path over all workers. Paths are the same if their
// descriptions are: an ID alone could be forged.
func (in *API) mergePaths(questions []*inspect.PendingQuery, totals *pathTotals, f *wayFilter) map[string]*pathTotalItem {
	known, hot := waysOf(questions), in.hotOf(questions)
	merged := map[string]*pathTotalItem{}
	for i, q := range questions {
		totals.FlowsWithout += q.Totals.Pathless
		totals.FlowsNotCounted += q.Totals.Left
		for t := range q.Totals.All {
			p := known[i][t.Hash]
			id := pathID(i, t.Hash, p)
			if !f.match(id, p, hot) {
				continue
			}
			x := newPathItem(i, t.Hash, p)
			for old := merged[id]; old != nil && !sameWay(old.Nodes, x.Nodes); old = merged[id] {
				id += "'"
			}
			m := merged[id]
			if m == nil {
				m = &pathTotalItem{PathItem: x, Congested: p != nil && isHot(p.Known(), hot)}
				merged[id] = m
			}
			if m.IPHops == nil {
				m.IPHops, m.WithoutINT = x.IPHops, x.WithoutINT
			}
			m.Flows += t.Flows
			m.SprayedFlows += t.Sprayed
			m.Packets += t.Packets
			m.Bytes += t.Bytes
			if seen := timestamp(t.Seen); seen.After(m.LastSeen) {
				m.LastSeen = seen
			}
			if t.MaxLatency > 0 && (m.MaxLatencyNs == nil || *m.MaxLatencyNs < t.MaxLatency) {
				m.MaxLatencyNs = some(t.MaxLatency, true)
			}
		}
	}
	return merged
}

func sameWay(a, b []pathHopItem) bool {
	return slices.EqualFunc(a, b, func(x, y pathHopItem) bool {
		return x.Node == y.Node && samePort(x.Ingress, y.Ingress) && samePort(x.Egress, y.Egress)
	})
}

func samePort(a, b *uint16) bool { return a == b || a != nil && b != nil && *a == *b }
