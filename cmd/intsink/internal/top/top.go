// Run of top: asks the sink again and again, prints a headline and a view, interactive or
// once.

package top

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/status"
)

// Options are the flags and arguments of top.
type Options struct {
	Sink  client.Options
	View  string
	Sort  string // of flows
	Once  bool
	Rows  int
	Every time.Duration
}

// Run shows the sink until q is typed, or once.
func Run(ctx context.Context, stdout io.Writer, o *Options) error {
	if !slices.Contains(Names(), o.View) {
		return fmt.Errorf("there is no view %q: name one of %s", o.View, strings.Join(Names(), ", "))
	}
	if !slices.Contains(sorts, o.Sort) {
		return fmt.Errorf("--sort %q: must be one of %s", o.Sort, strings.Join(sorts, ", "))
	}
	if o.Rows < 1 || o.Rows > 1000 {
		return fmt.Errorf("--rows %d: must be 1 to 1000", o.Rows)
	}
	if o.Every < 100*time.Millisecond {
		return fmt.Errorf("--every %v: must be 100ms or more", o.Every)
	}
	sink, err := open(ctx, &o.Sink)
	if err != nil {
		return err
	}
	v := &viewer{sink: sink, view: o.View, sort: o.Sort}
	if !o.Once {
		return interact(ctx, v, o)
	}
	screen := cli.ScreenOf(stdout)
	if views[slices.Index(Names(), v.view)].ofStatus != nil {
		if v.before, err = v.ask(ctx); err == nil {
			err = pause(ctx)
		}
	}
	var lines []string
	if err == nil {
		lines, err = v.lines(ctx, o.Rows, screen.Width)
	}
	if err != nil {
		return cli.Failed(err)
	}
	return cmp.Or(client.Print(stdout, screen.Text(strings.Join(lines, "\n")+"\n")), sink.Whole())
}

// viewer asks a sink for one view after the other.
type viewer struct {
	sink   *named
	view   string
	sort   string
	before *status.Status // for rates
	colour bool
}

// between is the time between two answers that rates are made of, where they are asked for once.
const between = 500 * time.Millisecond

func pause(ctx context.Context) error {
	select {
	case <-time.After(between):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *viewer) ask(ctx context.Context) (*status.Status, error) {
	var s status.Status
	return &s, v.sink.Read(ctx, "/api/v1/status", &s)
}

// lines asks for what the view shows and returns it as text, at most rows of it, as wide as the screen (0: any).
func (v *viewer) lines(ctx context.Context, rows, width int) ([]string, error) {
	s, err := v.ask(ctx)
	if err != nil {
		return nil, err
	}
	lines := []string{headline(s), ""}
	view := views[slices.Index(Names(), v.view)]
	var body *table
	if view.ofStatus != nil {
		body = view.ofStatus(s, v.before)
	} else {
		parameters := url.Values{"limit": {fmt.Sprint(rows)}}
		if v.view == "flows" {
			parameters.Set("sort", v.sort)
		}
		body, err = view.ofList(ctx, v.sink, "/api/v1/"+view.path+"?"+parameters.Encode())
	}
	if err != nil {
		return nil, err
	}
	v.before = s
	if below := cmp.Or(body.below, view.below); below != "" && len(body.rows) > 0 {
		if body.of > len(body.rows) {
			below = fmt.Sprintf("%d of %d, by %s; %s", len(body.rows), body.of, v.sort, below)
		}
		lines = append(append(lines, body.lines(rows, width, view.empty)...), "")
		if width == 0 || body.below == "" {
			return append(lines, below), nil
		}
		return append(lines, wrap(below, "", width)...), nil
	}
	lines = append(lines, body.lines(rows, width, view.empty)...)
	return lines, nil
}

// headline is the state of the sink in one line.
func headline(s *status.Status) string {
	up := s.Now.Sub(s.Started).Round(time.Second)
	state := "NOT READY: " + s.Ready
	if s.Ready == "ok" {
		state = "ready"
	}
	flows, capacity := uint64(0), 0
	for _, w := range s.Workers {
		flows += w.Flows
		capacity += w.FlowCapacity
	}
	who := fmt.Sprintf("node %d", s.Node)
	if len(s.Sinks) > 0 {
		who = cli.Count(len(s.Sinks), "sink")
	}
	return fmt.Sprintf("intsink %s  %s  up %v  %s  %s  %s of %s flows  %d of %d mbufs in use",
		s.Version, who, up, state, cli.Count(len(s.Workers), "worker"), count(float64(flows)), count(float64(capacity)), s.MbufsInUse, s.Mbufs)
}
