// The command problems: prints what is wrong and what was, in 80 columns; the first lines of status.

package top

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/problem"
)

// ProblemOptions are the flags of the command problems.
type ProblemOptions struct {
	Sink client.Options
	All  bool // those that have ended, too
	JSON bool
	Kind string
}

// Problems prints the problems of a sink. One that is open is an error, so that scripts can ask.
func Problems(ctx context.Context, stdout io.Writer, o *ProblemOptions) error {
	sink, err := open(ctx, &o.Sink)
	if err != nil {
		return err
	}
	q := url.Values{}
	if !o.All {
		q.Set("open", "true")
	}
	if o.Kind != "" {
		q.Set("kind", o.Kind)
	}
	body, err := sink.Ask(ctx, http.MethodGet, "/api/v1/problems?"+q.Encode(), nil)
	if err != nil {
		return cli.Failed(err)
	}
	var a problem.Answer
	if err := sink.Decode(body, &a); err != nil {
		return cli.Failed(err)
	}
	sink.places(&a)
	text := string(body)
	if !o.JSON {
		text = strings.Join(problemLines(&a, a.Looked.At, sink.Book), "\n") + "\n"
	}
	if err := client.Print(stdout, text); err != nil {
		return err
	}
	if n := a.Totals.Open; n > 0 {
		return cli.Failed(fmt.Errorf("%s now", cli.Count(n, "problem")))
	}
	return nil
}

// width80 is how long a line of problems is at most.
const width80 = 80

// problemLines are a paragraph for each problem, or one line where there is none.
func problemLines(a *problem.Answer, now time.Time, book *names.Book) (lines []string) {
	if a.Totals.Open == 0 {
		n := 0
		for _, m := range a.Looked.Signs {
			n += m
		}
		lines = append(lines, fmt.Sprintf("nothing is wrong: %s looked at, at %s", cli.Count(n, "sign"), now.Format(time.RFC3339)))
	}
	lines = append(lines, Paragraphs(a.Items, now, book)...)
	if a.Totals.Left > 0 {
		lines = append(lines, fmt.Sprintf("and %s that there was no room for", cli.Count(int(a.Totals.Left), "problem")))
	}
	return lines
}

// Paragraphs say what is wrong, or was, where, for how long at now, and what shows it: in 80 columns.
func Paragraphs(problems []*problem.Problem, now time.Time, book *names.Book) (lines []string) {
	for _, p := range problems {
		lines = append(lines, problemLine(p, now))
		for _, text := range []string{p.Amount(), p.Evidence.Why, strings.Join(p.Evidence.Flows, " "), filledBy(&p.Evidence), hosts(&p.Evidence, book), way(&p.Evidence, book), p.Todo} {
			if text != "" {
				lines = append(lines, wrap(text, "    ", width80)...)
			}
		}
	}
	return lines
}

// places gives the places of problems the names of now, or none.
func (s *named) places(a *problem.Answer) {
	for i := range a.Items {
		s.Place(a.Items[i].Place)
	}
}

// hosts lists the named hosts of the flows in the evidence, as "sender > receiver", each pair once.
func hosts(e *problem.Evidence, book *names.Book) string {
	var all []string
	for _, f := range e.Flows {
		if pair := book.Flow(f); pair != "" && !slices.Contains(all, pair) {
			all = append(all, pair)
		}
	}
	return strings.Join(all, ", ")
}

// filledBy names the flows that fill a queue, up to three, with their share of its bytes; one at least, and others from a
// twentieth on.
func filledBy(e *problem.Evidence) string {
	var all []string
	for i, c := range e.Culprits[:min(3, len(e.Culprits))] {
		if i == 0 || c.Share >= 0.05 {
			all = append(all, fmt.Sprintf("%s with %.0f %% of its bytes", c.Flow, 100*c.Share))
		}
	}
	if all == nil {
		return ""
	}
	return "filled by " + strings.Join(all, ", ")
}

// way is what a path was and is.
func way(e *problem.Evidence, book *names.Book) string {
	if e.From == "" && e.To == "" {
		return ""
	}
	return fmt.Sprintf("before: %s; now: %s", book.Steps(e.From), book.Steps(e.To))
}

// problemLine says what is wrong, where and for how long, cut to the width of a terminal.
func problemLine(p *problem.Problem, now time.Time) string {
	mark, when := "! ", "for "+ago(now, p.Since)
	if p.Until != nil {
		mark, when = "  ", fmt.Sprintf("%s ago, for %s", ago(now, *p.Until), ago(*p.Until, p.Since))
	}
	where := p.Where()
	if where != "" {
		where += ": "
	}
	tail := " (" + when + ")"
	return mark + shorten(where+p.What, width80-len(mark)-len(tail)) + tail
}

// shorten is text in at most n characters.
func shorten(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n-3]) + "..."
}

// wrap breaks text at its spaces into lines of at most width characters that begin with indent.
func wrap(text, indent string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(indent+line+" "+word)) > width {
			lines, line = append(lines, indent+line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, indent+line)
}
