// The time of an incident beside an earlier one: what each place did then, and where it takes longer now.

package flowapi

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/series"
)

// EarlierItem is what a hop or segment did in the earlier time.
type EarlierItem struct {
	MedianNs *uint32 `json:"median_ns"` // null: no sample told
	P99Ns    *uint32 `json:"p99_ns"`    // of its worst step
	MaxNs    *uint32 `json:"max_ns"`    //
	Steps    int     `json:"steps"`     // seconds of steps that a sample told of
}

// far is how many times as long as then a place takes that is named.
const far = 2

// earlier is a parameter that says how much earlier a time is; 0 where it is absent.
func (p *parameters) earlier(name string) time.Duration {
	s := p.text(name)
	d, err := time.ParseDuration(cmp.Or(s, "0s"))
	if err != nil || d < 0 || s != "" && d < time.Minute {
		p.fail("%s = %q: must be how much earlier the time is to compare with, such as 24h, and a minute at least", name, cli.Short(s))
	}
	return d
}

// compare adds to each place what it did d earlier, and says where that was less.
func (in *API) compare(x *Incident, now time.Time, d time.Duration) error {
	from, to := x.From.Add(-d).Truncate(time.Minute), x.To.Add(-d).Truncate(time.Minute).Add(time.Minute)
	spans, err := incidentSpans(now, from, to)
	if err != nil {
		return badRequest("compare: the time before begins at %s: what places did is kept for %d hours", from.UTC().Format(time.DateTime), series.Minutes/60)
	}
	x.ComparedNs = int64(d)
	told, worse := 0, []string{}
	for i := range x.Places {
		p := &x.Places[i]
		then := in.placeItem(p.Kind, p.Place, p.place, spans)
		p.Before = &EarlierItem{then.MedianNs, then.P99Ns, then.MaxNs, then.Steps}
		if then.MedianNs == nil || p.MedianNs == nil {
			continue
		}
		told++
		if times := float64(*p.MedianNs) / float64(max(*then.MedianNs, 1)); times >= far {
			worse = append(worse, fmt.Sprintf("%s: median %s, %s before it was %s: %.1f x", p.Place, ns(*p.MedianNs), cli.Lasted(int(d/time.Second)), ns(*then.MedianNs), times))
		}
	}
	slices.Sort(worse)
	for _, line := range slices.Compact(worse) {
		x.say("%s", line)
	}
	x.say("%s", comparison(len(x.Places), told, len(worse), d))
	return nil
}

// comparison says how many places could be compared, and whether the others take as long as then.
func comparison(places, told, worse int, d time.Duration) string {
	before := cli.Lasted(int(d / time.Second))
	switch {
	case told == 0:
		return fmt.Sprintf("%s before nothing is known of any of these places", before)
	case worse == 0:
		return fmt.Sprintf("none of %d hops and segments takes twice as long as %s before%s", told, before, unknownThen(places-told))
	}
	return fmt.Sprintf("the other %d hops and segments take less than twice as long as %s before%s", told-worse, before, unknownThen(places-told))
}

func unknownThen(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; of %d more there is no sample then, or now", n)
}
