// The command paths: prints paths as a table, or as a graph in DOT.

package top

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/names"
)

// maxPaths is how many paths the API gives at once.
const maxPaths = 1000

// pathItem is a path: flows that share it took the same interfaces of the same nodes.
type pathItem struct {
	ID             string
	Nodes          []struct{ Node uint32 }
	Flows, Packets uint64
	Sprayed        uint64  `json:"sprayed_flows"`
	Max            *uint32 `json:"max_latency_ns"`
	Congested      bool
	LastSeen       time.Time `json:"last_seen"`
}

func (p *pathItem) ids() (all []uint32) {
	for _, n := range p.Nodes {
		all = append(all, n.Node)
	}
	return all
}

// byNodes adds up the paths that cross the same nodes; their IDs are as many as the paths.
func byNodes(paths []pathItem) []pathItem {
	var all []pathItem
	at := map[string]int{}
	for _, p := range paths {
		way := fmt.Sprint(p.ids())
		i, ok := at[way]
		if !ok || p.Nodes == nil {
			at[way] = len(all)
			all = append(all, p)
			continue
		}
		x := &all[i]
		x.ID += " " + p.ID
		x.Flows, x.Sprayed, x.Packets, x.Congested = x.Flows+p.Flows, x.Sprayed+p.Sprayed, x.Packets+p.Packets, x.Congested || p.Congested
		if p.Max != nil && (x.Max == nil || *x.Max < *p.Max) {
			x.Max = p.Max
		}
		if p.LastSeen.After(x.LastSeen) {
			x.LastSeen = p.LastSeen
		}
	}
	slices.SortStableFunc(all, func(a, b pathItem) int { return cmp.Compare(highest(&b), highest(&a)) })
	return all
}

// state says what is to be known of the flows on a path.
func (p *pathItem) state() string {
	text := when(p.Congested, "congested")
	if p.Sprayed > 0 {
		text = strings.TrimPrefix(text+fmt.Sprintf(", %d sprayed", p.Sprayed), ", ")
	}
	return text
}

func highest(p *pathItem) uint32 {
	if p.Max == nil {
		return 0
	}
	return *p.Max
}

// pathsByNodes is the view of paths: those with the highest latency first.
func pathsByNodes(ctx context.Context, sink *named, _ string) (*table, error) {
	items, err := read[pathItem](ctx, sink, fmt.Sprintf("/api/v1/paths?limit=%d", maxPaths))
	return pathTable(byNodes(items), sink.Book, false), err
}

// pathTable has how many paths are in a row, or where each has its own, its id.
func pathTable(items []pathItem, book *names.Book, each bool) *table {
	last := "?>paths"
	if each {
		last = "?id"
	}
	t := newTable("path", ">flows", "?>packets", ">highest latency", "state", last, "?>seen")
	for i := range items {
		p := &items[i]
		of := p.ID
		if !each {
			of = fmt.Sprint(len(strings.Fields(p.ID)))
		}
		t.add(book.Way(p.ids()), count(float64(p.Flows)), count(float64(p.Packets)), latencyText(p.Max), p.state(), of, ago(time.Now(), p.LastSeen))
	}
	return t
}

// linkItem is the latency from one node to another.
type linkItem struct {
	From    uint32  `json:"from_node"`
	To      uint32  `json:"to_node"`
	Latency *uint32 `json:"latency_ns"`
}

// Paths prints the paths of a sink: as a table, those that cross the same nodes in one row unless each is asked for, or with dot as
// a graph in the language of Graphviz, nodes from left to right, edges as wide as their flows are many.
func Paths(ctx context.Context, stdout io.Writer, o *client.Options, dot, each bool) error {
	sink, err := open(ctx, o)
	if err != nil {
		return err
	}
	paths, err := read[pathItem](ctx, sink, fmt.Sprintf("/api/v1/paths?limit=%d", maxPaths))
	if err != nil {
		return cli.Failed(err)
	}
	if !dot {
		if !each {
			paths = byNodes(paths)
		}
		screen := cli.ScreenOf(stdout)
		return cmp.Or(client.Print(stdout, screen.Text(strings.Join(pathTable(paths, sink.Book, each).lines(maxPaths, screen.Width, "no path is known"), "\n")+"\n")), sink.Whole())
	}
	links, err := read[linkItem](ctx, sink, fmt.Sprintf("/api/v1/links?limit=%d", maxPaths))
	if err != nil {
		return cli.Failed(err)
	}
	return cmp.Or(client.Print(stdout, graph(paths, links, sink.Book)), sink.Whole())
}

// graph is the map of paths in the DOT language.
func graph(paths []pathItem, links []linkItem, book *names.Book) string {
	type edge struct{ from, to uint32 }
	flows, nodes, congested := map[edge]uint64{}, map[uint32]bool{}, map[edge]bool{}
	for _, p := range paths {
		for i, n := range p.Nodes {
			nodes[n.Node] = true
			if i > 0 {
				e := edge{p.Nodes[i-1].Node, n.Node}
				flows[e] += p.Flows
				congested[e] = congested[e] || p.Congested
			}
		}
	}
	latency := map[edge]*uint32{}
	for _, l := range links {
		e := edge{l.From, l.To}
		if l.Latency != nil && (latency[e] == nil || *l.Latency > *latency[e]) {
			latency[e] = l.Latency
		}
	}
	var b strings.Builder
	b.WriteString("digraph paths {\n  rankdir = LR\n  node [shape = circle]\n")
	for _, n := range slices.Sorted(maps.Keys(nodes)) {
		name := ""
		if text := book.Node(n); text != fmt.Sprint(n) {
			name = fmt.Sprintf(" [label = %q]", text)
		}
		fmt.Fprintf(&b, "  %d%s\n", n, name)
	}
	order := func(a, b edge) int {
		if a.from != b.from {
			return int(int64(a.from) - int64(b.from))
		}
		return int(int64(a.to) - int64(b.to))
	}
	for _, e := range slices.SortedFunc(maps.Keys(flows), order) {
		label := cli.Count(int(flows[e]), "flow")
		if latency[e] != nil {
			label += "\\n" + latencyText(latency[e])
		}
		colour := ""
		if congested[e] {
			colour = `, color = "red"`
		}
		fmt.Fprintf(&b, "  %d -> %d [label = \"%s\", penwidth = %d%s]\n", e.from, e.to, label, width(flows[e]), colour)
	}
	b.WriteString("}\n")
	return b.String()
}

// width is a line's: 1, and one more for each four times as many flows.
func width(flows uint64) int {
	w := 1
	for ; flows >= 4; flows /= 4 {
		w++
	}
	return w
}
