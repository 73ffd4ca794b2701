// PrintSummary: prints the counters of replay as text, and as JSON in a last line
// (Summary).

package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/problem"
	"intsink/engine"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
)

// Summary is the machine-readable last line of replay.
type Summary struct {
	Received  uint64            `json:"received"`
	Forwarded uint64            `json:"forwarded"`
	Dropped   map[string]uint64 `json:"dropped"`
	Reports   map[string]uint64 `json:"reports"`

	Problems []*problem.Problem `json:"problems"`          // of the network, as GET /api/v1/problems lists them
	Unknown  string             `json:"unknown,omitempty"` // where nobody can tell whether something was wrong
}

// PrintSummary prints the counters of the first link, which is all that replay
// runs, and what was wrong in its network, by lines of text and in the JSON. Entries that are zero are left out.
func (r *Worker) PrintSummary(w io.Writer, c *engine.Counters, watches []FlowsOfWatch, wrong []*problem.Problem, lines []string) error {
	l := &c.Links[0]
	d := &l.Direction[burst.ToHost]
	s := Summary{Received: d.Received, Forwarded: d.Forwarded, Dropped: map[string]uint64{}, Reports: map[string]uint64{}, Problems: wrong, Unknown: r.look.Unknown}
	for r, n := range d.Dropped {
		if n > 0 {
			s.Dropped[burst.DropReason(r).String()] = n
		}
	}
	for e, n := range c.Reported {
		if n > 0 {
			s.Reports[event.Event(e).String()] = n
		}
	}
	r.printText(w, c, watches)
	if l.INT == [inthdr.NumTypes]uint64{} && d.Received > 0 {
		fmt.Fprint(w, "problems   nobody can tell: ")
		r.Unmarked.Explain(w)
	} else {
		fmt.Fprintf(w, "problems   %s\n", problemCount(wrong, s.Unknown))
	}
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	return json.NewEncoder(w).Encode(s)
}

// problemCount says how many problems there were, and how many last; unknown is where nobody can tell.
func problemCount(all []*problem.Problem, unknown string) string {
	last := 0
	for _, p := range all {
		if p.Until == nil {
			last++
		}
	}
	switch {
	case len(all) > 0 && unknown != "":
		return fmt.Sprintf("%d, of which %d at the end; there may be more: %s", len(all), last, unknown)
	case unknown != "":
		return "none found, but " + unknown
	case len(all) == 0:
		return "none: nothing in the network was far from what it did before"
	}
	return fmt.Sprintf("%d, of which %d at the end", len(all), last)
}

// day is a time of the capture with its date.
func day(ns int64) string { return time.Unix(0, ns).UTC().Format(time.DateTime) }

func (r *Worker) printText(w io.Writer, c *engine.Counters, watches []FlowsOfWatch) {
	l := &c.Links[0]
	d := &l.Direction[burst.ToHost]
	fmt.Fprintf(w, "packets    received %d, forwarded %d\n", d.Received, d.Forwarded)
	if r.Now > 0 {
		fmt.Fprintf(w, "time       %s to %s UTC\n", day(r.Begin), day(r.Now))
	}
	for r, n := range d.Dropped {
		if n > 0 {
			fmt.Fprintf(w, "dropped    %d %s: %s\n", n, burst.DropReason(r), burst.DropReason(r).Doc())
		}
	}
	for t, n := range l.INT {
		if n > 0 {
			fmt.Fprintf(w, "INT        %d %s\n", n, inthdr.Type(t))
		}
	}
	for r, n := range l.Malformed {
		if n > 0 {
			fmt.Fprintf(w, "malformed  %d %s: %s\n", n, inthdr.Reason(r), inthdr.Reason(r).Doc())
		}
	}
	if line := LayoutlessLine(&l.Counters); line != "" {
		fmt.Fprintf(w, "IFA        %s\n", line)
	}
	fmt.Fprintf(w, "flows      %d in the table, %d evicted\n", c.Flows, c.Evictions)
	if len(watches) > 0 {
		fmt.Fprintf(w, "by watch   %s\n", TextOfWatches(watches))
	}
	for i := range c.Collectors {
		col := &c.Collectors[i]
		fmt.Fprintf(w, "collector  %s in %s\n", cli.Count(int(col.Reports), "report"), cli.Count(int(col.Packets), "packet"))
	}
}
