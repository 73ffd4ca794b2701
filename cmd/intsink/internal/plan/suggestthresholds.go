// --suggest: thresholds that fit a capture, and how often they would have fired in it.

package plan

import (
	"fmt"
	"io"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/intsink/internal/simulate"
	"intsink/conf"
	"intsink/conf/schema"
	"intsink/engine/usual"
)

// suggestion is thresholds that fit what is usual in a capture.
type suggestion struct {
	queues, hops, paths        int // that told enough
	hop, end, floor            time.Duration
	byOccupancy                bool // queues tell no latency
	hopUsual, endUsual, queued usual.Stat
}

// Least that is suggested: clocks and serialization of nodes are no finer.
const (
	leastBand  = 5 * time.Microsecond
	leastFloor = 50 * time.Microsecond
)

// suggest makes thresholds of what was usual: deadbands as wide as what 99 of 100 packets differ from the median, twice; a
// floor of congestion four times above what they have. What too few packets told stays as it is in c.
func suggest(u *usual.Usual, c *conf.Config) (s suggestion) {
	var occupancy usual.Stat
	s.hopUsual, _, s.hops = u.Typical(usual.Hop)
	s.endUsual, _, s.paths = u.Typical(usual.Path)
	s.queued, occupancy, s.queues = u.Typical(usual.Queue)
	s.byOccupancy = !s.queued.Known && occupancy.Known
	s.hop, s.end, s.floor = c.Events.HopLatency.Absolute, c.Events.EndToEnd.Absolute, c.Events.Congestion.RaiseLatency
	if s.hopUsual.Known {
		s.hop = band(s.hopUsual)
	}
	if s.endUsual.Known {
		s.end = band(s.endUsual)
	}
	if s.queued.Known {
		s.floor = rounded(4*time.Duration(s.queued.P99), leastFloor)
	}
	return s
}

func band(x usual.Stat) time.Duration { return rounded(2*time.Duration(x.P99-x.Median), leastBand) }

// rounded returns the first of 1, 2 and 5 times a power of ten that is neither below d nor below least, up to a second.
func rounded(d, least time.Duration) time.Duration {
	d = max(d, least)
	for x := time.Microsecond; x < time.Second; x *= 10 {
		for _, times := range []time.Duration{1, 2, 5} {
			if times*x >= d {
				return times * x
			}
		}
	}
	return time.Second
}

// apply makes the suggestion the thresholds of c, in place of those of all watches.
func (s *suggestion) apply(c *conf.Config) {
	c.Events.HopLatency.Absolute, c.Events.EndToEnd.Absolute = s.hop, s.end
	c.Events.Congestion.Raise, c.Events.Congestion.Clear, c.Events.Congestion.RaiseLatency = conf.AutoRaise, 0, s.floor
	for i := range c.Watches {
		c.Watches[i].Override = nil
	}
}

// print writes the block, with what the second plan has counted.
func (s *suggestion) print(w io.Writer, p *Result) error {
	fired := func(name string) string {
		e := p.Event(name)
		return fmt.Sprintf("%d in %.1f s, %d reports", e.Fired.Total, p.Seconds, e.Reports.Total)
	}
	attr := func(name string, d time.Duration) string { return fmt.Sprintf("%s = %q", name, schema.DurationText(d)) }
	usual := func(what string, x usual.Stat) string {
		if !x.Known {
			return what + " unknown, left as it is: fewer than 64 packets told"
		}
		return fmt.Sprintf("%s %v, of 99 in 100 at most %v", what, time.Duration(x.Median), time.Duration(x.P99))
	}
	floor := usual("latency in a queue", s.queued)
	if s.byOccupancy {
		floor = "queues tell their occupancy alone: it is held against what is usual once that is known"
	}
	_, err := fmt.Fprintf(w, `# %s: %.1f s, %d packets with INT, %d queues, %d hops, %d paths with enough of them
events {
  # %s: %s
  hop_latency { %s }
  # %s: %s
  end_to_end { %s }
  # %s: %s
  congestion {
    raise         = "auto"
    %s
  }
}
`, p.Capture, p.Seconds, p.Packets.INT, s.queues, s.hops, s.paths,
		usual("usual latency of a hop", s.hopUsual), fired("hop_latency"), attr("absolute", s.hop),
		usual("of a path", s.endUsual), fired("end_to_end"), attr("absolute", s.end),
		floor, fired("congestion"), attr("raise_latency", s.floor))
	return err
}

// runSuggest prints a block events that fits the capture. open is called twice.
func runSuggest(stdout, stderr io.Writer, config string, open func() (*pcapfile.Reader, error)) error {
	var s suggestion
	learn := func(p *planner) { s = suggest(p.Usual(), p.conf) }
	if _, err := planned(config, open, stderr, nil, learn); err != nil {
		return err
	}
	p, err := planned(config, open, io.Discard, s.apply, nil)
	if err != nil {
		return err
	}
	if err := s.print(stdout, p); err != nil {
		return cli.Failed(err)
	}
	return nil
}

// planned is planFor with a changed configuration, or with a look at the planner at its end.
func planned(config string, open func() (*pcapfile.Reader, error), stderr io.Writer, change func(*conf.Config), look func(*planner)) (*Result, error) {
	c, err := simulate.Load(config, "plan")
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(c)
	}
	return planOf(c, config, open, false, io.Discard, stderr, look)
}
