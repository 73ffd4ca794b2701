// What the sink itself did not see of the time of an incident: before it began, while it stood still, packets that it missed.

package flowapi

import (
	"fmt"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/problem"
	"intsink/engine/series"
)

// blindFor is how long nobody has to have looked at the counters, which is done each second, to be told.
const blindFor = 5 * time.Second

// addBlind adds what the sink did not see: its counters have no growth then.
func (in *API) addBlind(x *Incident, now time.Time) {
	for _, p := range in.problemsIn(x) {
		if p.Kind == problem.PacketsMissed && p.Value != nil {
			x.Coverage.Missed += uint64(*p.Value)
		}
	}
	span, err := series.NewSpan(now, x.From, x.To, 0)
	if err != nil {
		return
	}
	began, blind := false, 0
	counts := in.Counts.Of("reports", span)
	for i := range counts {
		if !counts[i].Known {
			blind++
			continue
		}
		x.Coverage.add(time.Duration(blind)*span.Step(), !began, span.Begin())
		began, blind = true, 0
	}
	if began {
		x.Coverage.add(time.Duration(blind)*span.Step(), false, span.Begin())
	}
}

// add takes up that nobody looked for so long; first: from the begin on.
func (c *CoverageItem) add(blind time.Duration, first bool, begin time.Time) {
	switch {
	case blind < blindFor:
	case first:
		c.Since = new(begin.Add(blind).UTC())
	default:
		c.BlindSeconds += int(blind.Seconds())
	}
}

// Unseen says what the sink did not see; "": it saw all.
func (c *CoverageItem) Unseen() string {
	var all []string
	if c.Since != nil {
		all = append(all, "nothing is known of before "+c.Since.Format(clock))
	}
	if c.BlindSeconds > 0 {
		all = append(all, fmt.Sprintf("the sink did not look for %d s", c.BlindSeconds))
	}
	if c.Missed > 0 {
		all = append(all, "the sink itself missed "+cli.Count(int(c.Missed), "packet"))
	}
	return strings.Join(all, "; ")
}
