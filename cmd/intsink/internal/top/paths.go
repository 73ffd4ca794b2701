// The command paths: prints paths as a table, or as a graph in DOT.

package top

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
)

// maxPaths is how many paths the API gives at once.
const maxPaths = 1000

// pathItem is what the map needs of a path.
type pathItem struct {
	ID        string
	Nodes     []struct{ Node uint32 }
	Flows     uint64
	Congested bool
}

// linkItem is the latency from one node to another.
type linkItem struct {
	From    uint32  `json:"from_node"`
	To      uint32  `json:"to_node"`
	Latency *uint32 `json:"latency_ns"`
}

// Paths prints the paths of a sink: as a table, or with dot as a graph in the language of
// Graphviz, nodes from left to right, edges as wide as their flows are many.
func Paths(ctx context.Context, stdout io.Writer, o *client.Options, dot bool) error {
	sink, err := o.Open()
	if err != nil {
		return err
	}
	if !dot {
		t, err := pathsOf(ctx, sink, fmt.Sprintf("/api/v1/paths?limit=%d", maxPaths))
		if err != nil {
			return cli.Failed(err)
		}
		return print(stdout, strings.Join(t.lines(maxPaths, "no path is known"), "\n")+"\n")
	}
	paths, err := read[pathItem](ctx, sink, fmt.Sprintf("/api/v1/paths?limit=%d", maxPaths))
	if err != nil {
		return cli.Failed(err)
	}
	links, err := read[linkItem](ctx, sink, fmt.Sprintf("/api/v1/links?limit=%d", maxPaths))
	if err != nil {
		return cli.Failed(err)
	}
	return print(stdout, graph(paths, links))
}

func print(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return cli.Failed(err)
	}
	return nil
}

// graph is the map of paths in the DOT language.
func graph(paths []pathItem, links []linkItem) string {
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
		fmt.Fprintf(&b, "  %d\n", n)
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
