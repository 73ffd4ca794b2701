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
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/status"
)

// ProblemOptions are the flags of the command problems.
type ProblemOptions struct {
	Sink  client.Options
	All   bool // those that have ended, too
	JSON  bool
	Kind  string
	Since string // those that were wrong then or later, ended or not: a time, or how long ago; "": of now, or all
}

// Problems prints the problems of a sink. One that is open is an error, so that scripts can ask.
func Problems(ctx context.Context, stdout io.Writer, o *ProblemOptions) error {
	sink, err := open(ctx, &o.Sink)
	if err != nil {
		return err
	}
	q := url.Values{}
	if o.Since != "" {
		since := o.Since
		if d, err := time.ParseDuration(since); err == nil && d >= 0 {
			since = time.Now().Add(-d).UTC().Format(time.RFC3339)
		} else if _, err := time.Parse(time.RFC3339, since); err != nil {
			return cli.WrongUsage(fmt.Errorf("--since %q: must be a time such as 2026-11-22T03:31:09Z, or how long ago it was, such as 168h", cli.Short(since)))
		}
		q.Set("since", since)
	} else if !o.All {
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
		lines := problemLines(&a, a.Looked.At, sink.Book)
		var now status.Status
		if a.Totals.Open == 0 && sink.Read(ctx, "/api/v1/status", &now) == nil { // nothing is wrong, in what was looked at
			lines = slices.Insert(lines, 1, lacking(&now)...)
		}
		text = strings.Join(lines, "\n") + "\n"
	}
	if err := client.Print(stdout, text); err != nil {
		return err
	}
	if n := a.Totals.Open; n > 0 {
		return cli.Failed(fmt.Errorf("%s now", cli.Count(n, "problem")))
	}
	return sink.Whole()
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
		lines = append(lines, problemTitle(p, now)...)
		for _, text := range []string{p.Amount(), p.Evidence.Why, filledBy(&p.Evidence), waiting(&p.Evidence), p.FlowsLine(), hosts(&p.Evidence, book), way(&p.Evidence, book), p.Todo} {
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

// fillers are the flows that fill a queue, up to three: one at least, and others from a twentieth of its bytes on.
func fillers(e *problem.Evidence) (all []problem.Culprit) {
	for i, c := range e.Culprits[:min(3, len(e.Culprits))] {
		if i == 0 || c.Share >= 0.05 {
			all = append(all, c)
		}
	}
	return all
}

// filledBy names who fills a queue, with their share of its bytes.
func filledBy(e *problem.Evidence) string {
	var all []string
	for _, c := range fillers(e) {
		all = append(all, fmt.Sprintf("%s with %.0f %% of its bytes", c.Flow, 100*c.Share))
	}
	if all == nil {
		return ""
	}
	if share := 100 * float64(e.Others) / float64(max(e.Bytes, 1)); share >= 1 {
		all = append(all, fmt.Sprintf("flows without a record with %.0f %%", share))
	}
	return "filled by " + strings.Join(all, ", ")
}

// waiting names the flows that wait in a queue that others fill, the three that waited longest.
func waiting(e *problem.Evidence) string {
	var all []string
	for _, v := range e.Victims {
		fills := slices.ContainsFunc(fillers(e), func(c problem.Culprit) bool { return c.Flow == v.Flow })
		if !fills && len(all) < 3 {
			all = append(all, fmt.Sprintf("%s by %s in all", v.Flow, problem.Latency(float64(v.AddedNs))))
		}
	}
	if all == nil {
		return ""
	}
	return "delays " + strings.Join(all, ", ")
}

// way is what a path was and is.
func way(e *problem.Evidence, book *names.Book) string {
	if e.From == "" && e.To == "" {
		return ""
	}
	return fmt.Sprintf("for example from %s to %s", book.Steps(e.From), book.Steps(e.To))
}

// problemTitle says what is wrong, where, since when and for how long.
func problemTitle(p *problem.Problem, now time.Time) []string {
	mark := "! "
	if p.Until != nil {
		mark = "  "
	}
	where := p.Where()
	if where != "" {
		where += ": "
	}
	lines, at := wrap(where+p.What, "    ", width80), "("+times(p, now)+")"
	lines[0] = mark + strings.TrimPrefix(lines[0], "    ")
	if last := &lines[len(lines)-1]; len([]rune(*last))+1+len(at) <= width80 {
		*last += " " + at
	} else {
		lines = append(lines, "    "+at)
	}
	return lines
}

// times is the time of a problem, in UTC as all times of the sink: with the date where that is not today's.
func times(p *problem.Problem, now time.Time) string {
	at := func(t time.Time) string {
		if t.UTC().Truncate(24*time.Hour) != now.UTC().Truncate(24*time.Hour) {
			return t.UTC().Format(time.DateTime)
		}
		return t.UTC().Format(time.TimeOnly)
	}
	lasted := func(d time.Duration) string {
		if d < time.Second {
			return "less than a second"
		}
		return ago(now, now.Add(-d))
	}
	again := ""
	if p.Times > 1 {
		again = fmt.Sprintf(", %d times", p.Times)
	}
	if p.Again != nil && p.Until == nil {
		return fmt.Sprintf("since %s UTC, %s; first %s%s, wrong for %s in all", at(*p.Again), lasted(now.Sub(*p.Again)), at(p.Since), again, lasted(p.Lasted(now)))
	}
	if p.Again != nil {
		again += fmt.Sprintf(", wrong for %s of it", lasted(p.Lasted(now)))
	}
	if p.Until != nil {
		return fmt.Sprintf("%s to %s UTC, %s%s", at(p.Since), at(*p.Until), lasted(p.Until.Sub(p.Since)), again)
	}
	return fmt.Sprintf("since %s UTC, %s%s", at(p.Since), lasted(now.Sub(p.Since)), again)
}

// wrap breaks text at its spaces into lines of at most width characters that begin with indent. A word that is longer is cut.
func wrap(text, indent string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if r, room := []rune(word), width-len(indent); len(r) > room {
			word = string(r[:room-3]) + "..."
		}
		if line != "" && len([]rune(indent+line+" "+word)) > width {
			lines, line = append(lines, indent+line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, indent+line)
}
