// Run: asks the sink whether it was the network, and prints a page of text, JSON or HTML.

// Package incident is the command incident: one page that says whether the network was slow for flows, a host or a node,
// where, by how much, and what is not known.
package incident

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/verdict"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/names"
	"intsink/conf"
)

// Options are the flags of incident.
type Options struct {
	Sink       client.Options
	Flow, Host string
	Node       string
	From, To   string
	Compare    string // how much earlier the time is to compare with
}

// Run asks the sink and writes the page.
func Run(ctx context.Context, stdout io.Writer, o *Options) error {
	q, asked := url.Values{}, 0
	for name, v := range map[string]string{"flow": o.Flow, "host": o.Host, "node": o.Node, "from": o.From, "to": o.To, "compare": o.Compare} {
		if v != "" {
			q.Set(name, v)
		}
	}
	for _, name := range []string{"flow", "host", "node"} {
		if q.Has(name) {
			asked++
		}
	}
	if asked != 1 {
		return errors.New("write one of --flow A,B or --flow FLOW, --host ADDRESS, --node ID")
	}
	return client.Show(ctx, stdout, &o.Sink, client.Question{Path: "/api/v1/incident?" + q.Encode()}, func(x *flowapi.Incident) string {
		return Page(x, o.Sink.Format, o.Sink.Names(ctx))
	})
}

// Pages is the part of a sink that makes pages of its incidents.
type Pages struct{ Config func() *conf.Config }

// Page is the incident as text, or as a page of HTML, with the names of the configuration in force.
func (p Pages) Page(x *flowapi.Incident, format string) string {
	return Page(x, format, names.Of(&p.Config().Names))
}

// Page is the incident as text, or as a page of HTML that needs nothing else.
func Page(x *flowapi.Incident, format string, book *names.Book) string {
	title, body := book.Text(x.Title), text(x, book)
	if format == "text" {
		return title + "\n\n" + cli.Screen{Width: 80}.Text(body)
	}
	return verdict.Page(title, body)
}

func text(x *flowapi.Incident, book *names.Book) string {
	var b strings.Builder
	const at = "2006-01-02 15:04:05"
	fmt.Fprintf(&b, "%s, %s to %s UTC\n", x.About, x.From.Format(at), x.To.Format(at))
	for _, why := range x.Why {
		fmt.Fprintf(&b, "  %s\n", book.Text(why))
	}
	paths(&b, x, book)
	places(&b, x, book)
	for _, p := range x.Problems {
		own := *p // others read p
		own.Place = slices.Clone(p.Place)
		book.Place(own.Place)
		until := "now"
		if p.Until != nil {
			until = p.Until.Format("15:04:05")
		}
		fmt.Fprintf(&b, "\nproblem %d, %s to %s: %s", p.ID, p.Since.Format("15:04:05"), until, strings.TrimSuffix(own.Where()+": "+p.What+", "+p.Amount(), ", "))
	}
	c := &x.Coverage
	gone := ""
	if c.Gone > 0 {
		gone = fmt.Sprintf(", %d more that ended", c.Gone)
	}
	fmt.Fprintf(&b, "\ncoverage: %s%s, %d of unknown path; %d of %d hops and segments had samples in this time", cli.Count(c.Flows, "flow"), gone, c.WithoutPath, c.Told, c.Places)
	if c.WithoutUsual > 0 {
		fmt.Fprintf(&b, ", of %d of them it is not learned yet what is usual", c.WithoutUsual)
	}
	if unseen := c.Unseen(); unseen != "" {
		fmt.Fprintf(&b, "; %s", unseen)
	}
	fmt.Fprintf(&b, "; %s lost since these flows began\n", cli.Count(int(x.Lost), "packet"))
	if x.Recorded != nil {
		b.WriteString(x.Recorded.Text(x.From))
	}
	return b.String()
}

// paths has a line for the paths that cross the same nodes.
func paths(b *strings.Builder, x *flowapi.Incident, book *names.Book) {
	var order []string
	ids := map[string][]string{}
	unknown := 0
	for i := range x.Paths {
		if len(x.Paths[i].Nodes) == 0 {
			unknown++
			continue
		}
		var nodes []uint32
		for _, n := range x.Paths[i].Nodes {
			nodes = append(nodes, n.Node)
		}
		way := book.Way(nodes)
		if ids[way] == nil {
			order = append(order, way)
		}
		ids[way] = append(ids[way], x.Paths[i].ID)
	}
	for _, way := range order {
		if len(ids[way]) == 1 {
			fmt.Fprintf(b, "\npath %s: %s", ids[way][0], way)
		} else {
			fmt.Fprintf(b, "\n%d paths: %s", len(ids[way]), way)
		}
	}
	if unknown > 0 {
		fmt.Fprintf(b, "\n%s of unknown nodes", cli.Count(unknown, "path"))
	}
	if len(x.Paths) > 0 {
		fmt.Fprintln(b)
	}
}

// places is a table with a row for each node and link: of the ways through it, the worst.
func places(b *strings.Builder, x *flowapi.Incident, book *names.Book) {
	var order []string
	worst, ways := map[string]*flowapi.PlaceItem{}, map[string]int{}
	for i := range x.Places {
		p := &x.Places[i]
		if w := worst[p.Place]; w == nil {
			order, worst[p.Place] = append(order, p.Place), p
		} else if isWorse(p, w) {
			worst[p.Place] = p
		}
		ways[p.Place]++
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintln(b)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	before := ""
	if x.ComparedNs > 0 {
		before = strings.ToUpper(cli.Lasted(int(x.ComparedNs/1e9))) + " BEFORE\tP99 THEN\t"
	}
	fmt.Fprintf(w, "PLACE\tUSUAL\tMEDIAN\tP99\tMAX\t%sSLOW\tWORST OF\n", before)
	for _, at := range order {
		p, then := worst[at], ""
		if p.Before != nil {
			then = latency(p.Before.MedianNs) + "\t" + latency(p.Before.P99Ns) + "\t"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s%s\t%s\n", book.Text(at), latency(p.UsualNs), latency(p.MedianNs), latency(p.P99Ns), latency(p.MaxNs), then, p.Slow(), cli.Count(ways[at], "way"))
	}
	w.Flush()
	b.WriteString("SLOW: for how long, of the time that samples told of, half of all packets took eight times as long as usual: by seconds, and by minutes what is more than ten minutes ago. A way is from one interface to another.\n")
}

// isWorse reports whether p was slow more often than o, or as often and then slower.
func isWorse(p, o *flowapi.PlaceItem) bool {
	return cmp.Or(cmp.Compare(p.SlowSteps, o.SlowSteps), cmp.Compare(worst(p), worst(o))) > 0
}

func worst(p *flowapi.PlaceItem) uint32 {
	if p.WorstNs == nil {
		return 0
	}
	return *p.WorstNs
}

func latency(v *uint32) string {
	if v == nil {
		return "-"
	}
	return problem.Latency(float64(*v))
}
