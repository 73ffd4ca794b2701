// Run: asks the sink whether it was the network, and prints a page of text, JSON or HTML.

// Package incident is the command incident: one page that says whether the network was slow for flows, a host or a node,
// where, by how much, and what is not known.
package incident

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/problem"
)

// Options are the flags of incident.
type Options struct {
	Sink       client.Options
	Flow, Host string
	Node       string
	From, To   string
}

// Run asks the sink and writes the page.
func Run(ctx context.Context, stdout io.Writer, o *Options) error {
	q, asked := url.Values{}, 0
	for name, v := range map[string]string{"flow": o.Flow, "host": o.Host, "node": o.Node, "from": o.From, "to": o.To} {
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
		return errors.New("write one of --flow A,B, --host ADDRESS, --node ID")
	}
	return client.Show(ctx, stdout, &o.Sink, client.Question{Path: "/api/v1/incident?" + q.Encode()}, func(x *flowapi.Incident) string {
		return Page(x, o.Sink.Format, o.Sink.Names(ctx))
	})
}

// Page is the incident as text, or as a page of HTML that needs nothing else.
func Page(x *flowapi.Incident, format string, book *names.Book) string {
	title, body := book.Text(x.Title()), text(x, book)
	if format == "text" {
		return title + "\n\n" + body
	}
	title = html.EscapeString(title)
	return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"><title>" + title + "</title></head>\n<body><main><h1>" + title + "</h1>\n<pre>" + html.EscapeString(body) + "</pre></main></body></html>\n"
}

func text(x *flowapi.Incident, book *names.Book) string {
	var b strings.Builder
	const at = "2006-01-02 15:04:05"
	fmt.Fprintf(&b, "%s, %s to %s UTC\n", x.About, x.From.Format(at), x.To.Format(at))
	for _, why := range x.Why {
		fmt.Fprintf(&b, "  %s\n", book.Text(why))
	}
	for i := range x.Paths {
		var nodes []string
		for _, n := range x.Paths[i].Nodes {
			nodes = append(nodes, book.Node(n.Node))
		}
		fmt.Fprintf(&b, "\npath %s: %s", x.Paths[i].ID, strings.Join(nodes, " > "))
	}
	fmt.Fprintln(&b)
	if len(x.Places) > 0 {
		fmt.Fprintln(&b)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "PLACE\tUSUAL\tMEDIAN\tP99\tMAX\tSLOW STEPS")
		for i := range x.Places {
			p := &x.Places[i]
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d of %d\n", book.Text(p.Place), latency(p.UsualNs), latency(p.MedianNs), latency(p.P99Ns), latency(p.MaxNs), p.SlowSteps, p.Steps)
		}
		w.Flush()
	}
	for _, p := range x.Problems {
		own := *p // others read p
		own.Place = slices.Clone(p.Place)
		book.Place(own.Place)
		until := "now"
		if p.Until != nil {
			until = p.Until.Format("15:04:05")
		}
		fmt.Fprintf(&b, "\nproblem %d, %s to %s: %s: %s %s", p.ID, p.Since.Format("15:04:05"), until, own.Where(), p.What, p.Amount())
	}
	c := &x.Coverage
	fmt.Fprintf(&b, "\ncoverage: %s, %d without a path; %d of %d hops and segments told, %d without what is usual; %d packets lost\n",
		cli.Count(c.Flows, "flow"), c.WithoutPath, c.Told, c.Places, c.WithoutUsual, x.Lost)
	return b.String()
}

func latency(v *uint32) string {
	if v == nil {
		return "-"
	}
	return problem.Latency(float64(*v))
}
