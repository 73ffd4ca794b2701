// The table of top's views, and the rows of each: links, collectors, workers, flows, paths,
// queues, hops, interfaces, clocks.

package top

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/status"
)

// named is a sink, with the names that its configuration has.
type named struct {
	*client.Sink
	*names.Book
}

// open finds the sink, and asks for its names.
func open(ctx context.Context, o *client.Options) (*named, error) {
	sink, err := o.Open()
	if err != nil {
		return nil, err
	}
	return &named{sink, o.Names(ctx)}, nil
}

// view is one screen: of the status that is asked for anyway, or of a list of the API.
type view struct {
	name     string
	key      byte
	path     string // of the list
	empty    string // what is said without rows
	below    string // what is said below them
	ofStatus func(s, before *status.Status) *table
	ofList   func(ctx context.Context, sink *named, path string) (*table, error)
}

var views = []view{
	{name: "links", key: '1', empty: "no link is configured", ofStatus: linksOf},
	{name: "flows", key: '2', path: "flows", empty: "no flow with INT is known: see links for whether INT arrives", below: "latency, and of the slowest hop: references, reported last or first (intsink why FLOW: when)", ofList: flowsOf},
	{name: "paths", key: '3', path: "paths", empty: "no path is known", ofList: pathsByNodes},
	{name: "queues", key: '4', path: "queues", empty: "no queue is known: they are looked at where a watch has congestion", ofList: queuesOf},
	{name: "hops", key: '5', path: "links", empty: "no link between nodes is known: they need timestamps and link_latency in a watch", ofList: hopsOf},
	{name: "collectors", key: '6', empty: "no collector is configured", ofStatus: collectorsOf},
	{name: "workers", key: '7', empty: "no worker runs", ofStatus: workersOf},
	{name: "interfaces", key: '8', path: "interfaces", empty: "no interface's load is known: it needs tx_utilization in INT", ofList: interfacesOf},
	{name: "clocks", key: '9', path: "nodes", empty: "no node is known", below: "each clock beside those of its neighbours; -: INT has no timestamps that tell", ofList: clocksOf},
}

// sorts are the orders of flows, as the API has them.
var sorts = []string{"packets", "bytes", "last_seen", "latency", "hop_latency", "lost", "ecn_marked"}

// Names are the views.
func Names() (all []string) {
	for i := range views {
		all = append(all, views[i].name)
	}
	return all
}

// rate is n per second since before; "-" where there is no before.
func rate(n, before uint64, seconds float64) string {
	if seconds <= 0 || n < before {
		return "-"
	}
	return count(float64(n-before) / seconds)
}

func linksOf(s, before *status.Status) *table {
	t := newTable("link", "direction", ">received/s", "?>forwarded/s", ">dropped/s", "?>received", "?>dropped", "?reasons", "?>INT", "?>marked", "?>malformed", "?>leaked")
	for i, l := range s.Links {
		for d, x := range l.Directions {
			var old status.Direction
			seconds := 0.0
			if before != nil && i < len(before.Links) && d < len(before.Links[i].Directions) {
				old, seconds = before.Links[i].Directions[d], s.Now.Sub(before.Now).Seconds()
			}
			dropped := total(x.Dropped)
			inbound := []string{"", "", "", ""}
			if d == 0 {
				inbound = []string{count(float64(total(l.INT))), count(float64(l.ECNMarked)), count(float64(total(l.Malformed))), count(float64(l.Leaked))}
			}
			t.add(append([]string{
				l.Name, x.Direction, rate(x.Received, old.Received, seconds), rate(x.Forwarded, old.Forwarded, seconds), rate(dropped, total(old.Dropped), seconds),
				count(float64(x.Received)), count(float64(dropped)), reasons(x.Dropped),
			}, inbound...)...)
		}
	}
	return t
}

func collectorsOf(s, _ *status.Status) *table {
	t := newTable("collector", "?address", ">reports", "?>sealed", ">sent", ">lost", "reasons", "?>shed", "?events")
	for _, c := range s.Collectors {
		t.add(c.Name, c.Address, count(float64(c.Reports)), count(float64(c.Packets)), count(float64(c.PacketsSent)),
			count(float64(total(c.Dropped))), reasons(c.Dropped), count(float64(total(c.Shed))), reasons(c.Shed))
	}
	return t
}

// list is a page of the API.
type list[T any] struct{ Items []T }

func read[T any](ctx context.Context, sink *named, path string) ([]T, error) {
	var l list[T]
	err := sink.Read(ctx, path, &l)
	return l.Items, err
}

func flowsOf(ctx context.Context, sink *named, path string) (*table, error) {
	type flow struct {
		ID             string
		Packets, Bytes uint64
		Latency        *uint32 `json:"latency_ns"`
		MaxHop         *uint32 `json:"max_hop_latency_ns"`
		Nodes          []uint32
		Lost           uint64
		Marked         uint64    `json:"ecn_marked"`
		LastEvents     []string  `json:"last_events"`
		LastSeen       time.Time `json:"last_seen"`
	}
	var l struct {
		Items  []flow
		Totals struct{ Flows int }
	}
	err := sink.Read(ctx, path, &l)
	t := newTable("flow", "?>latency", "?>slowest", "?path", "?>lost", "?>packets", "?last report", "?>bytes", "?>marked", "?>seen")
	for _, f := range l.Items {
		t.add(f.ID, latencyText(f.Latency), latencyText(f.MaxHop), sink.Way(f.Nodes), count(float64(f.Lost)), count(float64(f.Packets)),
			lastReport(f.LastEvents), count(float64(f.Bytes)), marked(f.Marked, f.Packets), ago(time.Now(), f.LastSeen))
	}
	t.of = l.Totals.Flows
	lossy := slices.ContainsFunc(l.Items, func(f flow) bool { return f.Lost > 0 })
	for i := range t.columns { // the order is seen, and what is lost
		c := &t.columns[i]
		c.optional = c.optional && c.name != sortColumns[sortOf(path)] && !(lossy && c.name == "lost")
	}
	return t, err
}

// sortColumns are the columns that the orders of flows are by.
var sortColumns = map[string]string{"packets": "packets", "bytes": "bytes", "last_seen": "seen", "latency": "latency", "hop_latency": "slowest", "lost": "lost", "ecn_marked": "marked"}

func sortOf(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return ""
	}
	return u.Query().Get("sort")
}

// lastReport is what a flow was last reported for. That it began, new_flow, is not kept.
func lastReport(events []string) string {
	if len(events) == 0 {
		return "none since it began"
	}
	return strings.Join(events, ",")
}

func queuesOf(ctx context.Context, sink *named, path string) (*table, error) {
	items, err := read[struct {
		Node      uint32
		Egress    *uint16
		Queue     uint8
		Occupancy *uint32
		Latency   *uint32 `json:"latency_ns"`
		Congested bool
		Episodes  uint64
		Marked    uint64    `json:"ecn_marked"`
		LastSeen  time.Time `json:"last_seen"`
		Usual     struct {
			Latency *uint32 `json:"latency_ns"`
		}
	}](ctx, sink, path)
	t := newTable("node", "egress", ">queue", ">occupancy", ">latency", "?>usual", "state", "?>episodes", "?>marked", "?>seen")
	for _, q := range items {
		t.add(sink.Node(q.Node), sink.Interface(q.Node, q.Egress), fmt.Sprint(q.Queue), known(q.Occupancy), latencyText(q.Latency), latencyText(q.Usual.Latency),
			when(q.Congested, "congested"), count(float64(q.Episodes)), count(float64(q.Marked)), ago(time.Now(), q.LastSeen))
	}
	return t, err
}

func hopsOf(ctx context.Context, sink *named, path string) (*table, error) {
	items, err := read[struct {
		From     uint32    `json:"from_node"`
		Egress   *uint16   `json:"from_egress"`
		To       uint32    `json:"to_node"`
		Ingress  *uint16   `json:"to_ingress"`
		Latency  *uint32   `json:"latency_ns"`
		Ref      *uint32   `json:"reference_ns"`
		Skews    uint64    `json:"clock_skews"`
		LastSeen time.Time `json:"last_seen"`
	}](ctx, sink, path)
	t := newTable("from", "to", ">latency", "?>reference", "?>clock skews", "?>seen")
	for _, l := range items {
		t.add(sink.Node(l.From)+":"+sink.Interface(l.From, l.Egress), sink.Node(l.To)+":"+sink.Interface(l.To, l.Ingress), latencyText(l.Latency), latencyText(l.Ref),
			count(float64(l.Skews)), ago(time.Now(), l.LastSeen))
	}
	return t, err
}

func interfacesOf(ctx context.Context, sink *named, path string) (*table, error) {
	var l struct {
		Items []struct {
			Node     uint32
			Egress   *uint16
			Load     uint32 `json:"tx_utilization"`
			Unit     *string
			Busy     bool
			LastSeen time.Time `json:"last_seen"`
		}
		Totals struct{ Hint string }
	}
	err := sink.Read(ctx, path, &l)
	t := newTable("node", "egress", ">utilization", "state", "?>seen")
	t.below = l.Totals.Hint
	for _, i := range l.Items {
		load, state := fmt.Sprint(i.Load), when(i.Busy, "busy")
		if i.Unit != nil {
			load += " %"
		} else if !i.Busy {
			state = "unit not known"
			t.below = cmp.Or(t.below, "unit not known: as the node writes it, judged where a node_model has tx_utilization_full")
		}
		t.add(sink.Node(i.Node), sink.Interface(i.Node, i.Egress), load, state, ago(time.Now(), i.LastSeen))
	}
	return t, err
}

// clocksOf are the clocks of nodes: the wrong ones first, those that nothing is known of last.
func clocksOf(ctx context.Context, sink *named, path string) (*table, error) {
	type node struct {
		Node       uint32
		Clock      string
		Off        int64      `json:"clock_off_ns"`
		Drift      int64      `json:"clock_drift_ns"`
		Neighbours int        `json:"clock_neighbours"`
		Since      *time.Time `json:"clock_since"`
	}
	items, err := read[node](ctx, sink, path)
	slices.SortStableFunc(items, func(a, b node) int {
		return cmp.Or(cmp.Compare(b.Off, a.Off), cmp.Compare(min(b.Neighbours, 1), min(a.Neighbours, 1)))
	})
	t := newTable("node", "clock", ">by", "?>a second", "?>neighbours", "?>for")
	for _, n := range items {
		by, drift, lasts := "", "", ""
		if n.Since != nil {
			by, drift, lasts = span(n.Off), span(n.Drift), ago(time.Now(), *n.Since)
		}
		t.add(sink.Node(n.Node), cmp.Or(n.Clock, "-"), by, drift, fmt.Sprint(n.Neighbours), lasts)
	}
	return t, err
}

// span is a time that may be negative, or too long for latencyText.
func span(ns int64) string {
	switch {
	case ns < 0:
		return "-" + span(-ns)
	case ns == 0:
		return "-"
	}
	return problem.Latency(float64(ns))
}

func total(m map[string]uint64) (n uint64) {
	for _, x := range m {
		n += x
	}
	return n
}

// reasons are the counters that are not 0, the largest first.
func reasons(m map[string]uint64) string {
	var names []string
	for name, n := range m {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = name + " " + count(float64(m[name]))
	}
	return strings.Join(names, ", ")
}

// marked is how many of a flow's packets queues have marked (ECN: CE).
func marked(n, packets uint64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%s, %.2g %%", count(float64(n)), 100*float64(n)/float64(max(packets, n)))
}

func known(n *uint32) string {
	if n == nil {
		return "-"
	}
	return count(float64(*n))
}

func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}
