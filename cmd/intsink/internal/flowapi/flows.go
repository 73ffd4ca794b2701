// GET /api/v1/flows: asks every worker for its best flows, merges the lists, with filter and
// totals.

package flowapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/watch"
)

// FlowItem is one flow in /api/v1/flows.
type FlowItem struct {
	ID              string     `json:"id"`
	Watch           *string    `json:"watch"` // null: none, or new rules since the flow's last packet
	Worker          string     `json:"worker"`
	Protocol        string     `json:"protocol"`
	Source          string     `json:"source"`
	SourcePort      uint16     `json:"source_port"`
	Destination     string     `json:"destination"`
	DestinationPort uint16     `json:"destination_port"`
	VNI             *uint32    `json:"vni,omitempty"` // of the tunnel that the flow is in, with flows { key = "inner" }
	Packets         uint64     `json:"packets"`
	Bytes           uint64     `json:"bytes"`
	LastSeen        time.Time  `json:"last_seen"`
	LatencyNs       *uint32    `json:"latency_ns"`
	MaxHopLatencyNs *uint32    `json:"max_hop_latency_ns"`
	Path            *string    `json:"path"`
	Nodes           []uint32   `json:"nodes"`
	Sprayed         *SprayItem `json:"sprayed,omitempty"` // absent: its packets stay on one path
	LastReport      *time.Time `json:"last_report"`
	LastEvents      []string   `json:"last_events"`
	Suppressed      uint32     `json:"suppressed"`
	Shed            uint32     `json:"shed"`
	Lost            uint64     `json:"lost"`
	Drops           uint32     `json:"drops"`
	Marked          uint64     `json:"ecn_marked"` // packets that came with the mark of a queue: CE
}

func newFlowItem(worker int, f *inspect.Flow, watches []watch.Watch, known ways) FlowItem {
	k := &f.Key
	item := FlowItem{
		ID: inspect.FlowID(k), Watch: watchName(f, watches), Worker: workerName(worker), Protocol: inspect.ProtocolName(k.Proto()),
		Source: k.SrcAddr().String(), SourcePort: k.SrcPort(), Destination: k.DstAddr().String(), DestinationPort: k.DstPort(),
		Packets: f.Packets, Bytes: f.Bytes, LastSeen: timestamp(f.Seen), LatencyNs: some(f.EndRef, f.EndKnown),
		LastReport: someTime(f.LastReport), LastEvents: eventNames(f.LastEvents), Suppressed: f.Suppressed, Shed: f.Shed, Lost: f.Lost, Drops: f.Drops, Marked: f.Marked,
	}
	vni, inNetwork := k.VNI()
	item.VNI = some(vni, inNetwork)
	ns, hops := f.MaxHopLatency()
	item.MaxHopLatencyNs = some(ns, hops)
	if f.NumPaths == 0 {
		return item
	}
	item.Sprayed = newSprayItem(f)
	hash := f.Paths[0].Hash
	p := known[worker][hash]
	item.Path = some(pathID(worker, hash, p), true)
	if p != nil {
		item.Nodes = []uint32{}
		for _, h := range p.Known() {
			item.Nodes = append(item.Nodes, h.Node)
		}
	}
	return item
}

func workerName(w int) string { return fmt.Sprintf("w%d", w) }

// watchName returns the name of the flow's watch, or nil if no watch selects it or that is not
// known yet.
func watchName(f *inspect.Flow, watches []watch.Watch) *string {
	if !f.Matched || int(f.Watch) >= len(watches) {
		return nil
	}
	return &watches[f.Watch].Name
}

func eventNames(set event.Set) []string {
	names := []string{}
	for e := range event.NumEvents {
		if set.Has(e) {
			names = append(names, e.String())
		}
	}
	return names
}

// FlowTotals are of all flows that were selected, not of the page.
type FlowTotals struct {
	Flows   uint64 `json:"flows"`
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
	Table   uint64 `json:"flows_in_table"`
}

var flowOrders = []string{"packets", "bytes", "last_seen", "latency", "hop_latency", "lost", "ecn_marked"} // as inspect.Order counts

func flowFilter(p *parameters) inspect.Filter {
	return inspect.Filter{
		Watch: p.text("watch"), Source: p.prefix("source"), Destination: p.prefix("destination"), Address: p.prefix("address"), Protocol: p.protocol("protocol"),
		Port: number[uint16](p, "port", 16), SourcePort: number[uint16](p, "source_port", 16), DestPort: number[uint16](p, "destination_port", 16),
		MinLatency: p.least("min_latency_ns"), MinHop: p.least("min_hop_latency_ns"),
	}
}

// flows is GET /api/v1/flows.
func (in *API) flows(ctx context.Context, p *parameters) (any, error) {
	filter, way, g := flowFilter(p), p.way("path"), p.paging(flowOrders...)
	var after *inspect.Position
	if p.err == nil && g.after != nil {
		key, err := inspect.ParseFlowID(g.after.ID)
		if err != nil {
			p.fail("cursor: %v", err)
		}
		after = &inspect.Position{Value: g.after.Value, Key: key}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if filter.Watch != "" {
		if err := in.hasWatch(ctx, filter.Watch); err != nil {
			return nil, err
		}
	}
	var onPaths [][]uint64
	if !way.any() {
		var err error
		if onPaths, err = in.onPaths(ctx, &way); err != nil {
			return nil, err
		}
		filter.ByPath = true
		if way.id == "" && way.link == nil && way.congested == nil {
			filter.Node = way.node
		}
	}
	questions, err := in.ask(ctx, func(worker int) *inspect.Query {
		q := inspect.New(inspect.BestFlows|inspect.Ways, g.limit+1)
		q.Filter, q.After, q.Order = filter, after, inspect.Order(slices.Index(flowOrders, g.sort))
		if onPaths != nil {
			q.Filter.OnPaths = onPaths[worker]
		}
		return q
	})
	if err != nil {
		return nil, err
	}
	return flowPage(questions, g), nil
}

// hasWatch: there is a watch of that name in the rules of some worker. A question
// for nothing finds out at once, before all flows are looked at.
func (in *API) hasWatch(ctx context.Context, name string) error {
	questions, err := in.ask(ctx, func(int) *inspect.Query { return inspect.New(0, 0) })
	if err != nil {
		return err
	}
	var names []string
	for _, q := range questions {
		for i := range q.Watches {
			names = append(names, strconv.Quote(q.Watches[i].Name))
		}
	}
	if slices.Contains(names, strconv.Quote(name)) {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if more := len(names) - 20; more > 0 {
		names = append(names[:20], fmt.Sprintf("and %d more", more))
	}
	return badRequest("watch = %q: there is none of that name; there are %s", cli.Short(name), strings.Join(names, ", "))
}

// flowPage merges the workers' answers, each the first flows of its own.
func flowPage(questions []*inspect.PendingQuery, g paging) *page[FlowItem] {
	type found struct {
		*inspect.Found
		worker int
	}
	var all []found
	var totals FlowTotals
	for i, q := range questions {
		totals.Flows += q.Matched
		totals.Packets += q.Packets
		totals.Bytes += q.Bytes
		totals.Table += q.Scanned
		best := q.Best()
		for j := range best {
			all = append(all, found{&best[j], i})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		switch {
		case a.Before(&b.Position):
			return -1
		case b.Before(&a.Position):
			return 1
		}
		return 0
	})
	p := &page[FlowItem]{Items: []FlowItem{}, Totals: totals}
	if len(all) > g.limit {
		last := all[g.limit-1]
		p.Next = (&cursor{g.sort, last.Value, inspect.FlowID(&last.Key)}).String()
		all = all[:g.limit]
	}
	known := waysOf(questions)
	for _, f := range all {
		p.Items = append(p.Items, newFlowItem(f.worker, &f.Flow, questions[f.worker].Watches, known))
	}
	return p
}
