// Which mode the load of the workers asks for: limits, hysteresis, backoff.

package failopen

import (
	"fmt"
	"time"

	"intsink/conf"
)

// Load is how loaded the workers are: of each value the worst worker's.
type Load struct {
	Busy       float64       // share of the time behind polls that found packets
	Gap        time.Duration // longest between two polls, of the last second or two
	FullBursts float64       // share of the polls that found as many packets as a burst takes
}

// How far below its limit a value has to be to count as calm.
const (
	calmBusy       = 0.75
	calmGap        = 0.5
	calmFullBursts = 0.5
)

// maxBackoff doublings of overload.clear are the longest wait before the ladder is tried
// upwards again.
const maxBackoff = 5

// Ladder goes down a step where the load was above a limit all the time for overload.enter,
// and up one where it was far below all limits for overload.clear. Each return that does not
// last doubles the wait for the next: less work looks like calm.
type Ladder struct {
	level   Mode
	over    time.Time // since when the load is above a limit; zero: it is not
	calm    time.Time // since when it is calm; zero: it is not
	up      time.Time // when the last step upwards was
	backoff uint
}

// Level is the mode that the load asks for.
func (l *Ladder) Level() Mode { return l.level }

// Look takes the load of now in, and says why the level changed; "": it did not.
func (l *Ladder) Look(c *conf.Overload, load Load, now time.Time) (why string) {
	lowest := lowestOf(c)
	if lowest == Full {
		was := l.level
		*l = Ladder{}
		if was != Full {
			return "overload.mode is off"
		}
		return ""
	}
	over, calm := judge(c, load)
	if over == "" {
		l.over = time.Time{}
	} else if l.over.IsZero() {
		l.over = now
	}
	if !calm {
		l.calm = time.Time{}
	} else if l.calm.IsZero() {
		l.calm = now
	}
	wait := c.Clear << l.backoff
	switch {
	case l.level > lowest:
		l.level = lowest
		return "overload.mode is " + string(c.Mode)
	case over != "" && l.level < lowest && now.Sub(l.over) >= c.Enter:
		return l.down(c, over, now)
	case calm && l.level > Full && now.Sub(l.calm) >= wait:
		l.level, l.calm, l.up = l.level-1, now, now
		return fmt.Sprintf("calm for %v", wait)
	case calm && l.level == Full && l.backoff > 0 && now.Sub(l.calm) >= 2*wait:
		l.backoff = 0
	}
	return ""
}

// down is a step downwards; soon after one upwards, the next step upwards waits longer.
func (l *Ladder) down(c *conf.Overload, over string, now time.Time) string {
	if !l.up.IsZero() && now.Sub(l.up) < c.Clear<<l.backoff+c.Enter && l.backoff < maxBackoff {
		l.backoff++
	}
	l.level, l.over, l.up = l.level+1, now, time.Time{}
	return fmt.Sprintf("%s for %v", over, c.Enter)
}

// lowestOf is how far the load may take the ladder.
func lowestOf(c *conf.Overload) Mode {
	m, err := ParseMode(string(c.Mode))
	if err != nil {
		return Full // conf.NeverDegrade
	}
	return m
}

// judge says which limit the load is above, "" for none, and whether it is far below all.
func judge(c *conf.Overload, load Load) (over string, calm bool) {
	calm = true
	look := func(value, limit, calmAt float64, text string, args ...any) {
		if limit <= 0 {
			return
		}
		if value >= limit && over == "" {
			over = fmt.Sprintf(text, args...)
		}
		calm = calm && value < limit*calmAt
	}
	look(load.Busy, c.Busy, calmBusy, "busy %.2f, at least %.2f", load.Busy, c.Busy)
	look(load.Gap.Seconds(), c.PollGap.Seconds(), calmGap, "a poll gap of %v, at least %v", load.Gap, c.PollGap)
	look(load.FullBursts, c.FullBursts, calmFullBursts, "full bursts %.2f, at least %.2f", load.FullBursts, c.FullBursts)
	return over, calm
}
