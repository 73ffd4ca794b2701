// Ladder: decides which mode the load of the workers asks for, with limits, hysteresis and backoff.

package failopen

import (
	"fmt"
	"time"

	"intsink/conf"
)

// Load says how busy the workers are; each value is that of the busiest worker.
type Load struct {
	Busy       float64       // share of the time behind polls that found packets
	Gap        time.Duration // longest between two polls, of the last second or two
	FullBursts float64       // share of the polls that found as many packets as a burst takes
}

// A value counts as calm if it is this far below its limit.
const (
	calmBusy       = 0.75
	calmGap        = 0.5
	calmFullBursts = 0.5
)

// maxBackoff is how often overload.clear is doubled at most, as the wait before the next step
// upwards.
const maxBackoff = 5

// Ladder goes down a step when the load has been above a limit for overload.enter, and up a step
// when it has been far below all limits for overload.clear. A step upwards that does not last
// doubles the wait for the next one: the load may be low only because less is done.
type Ladder struct {
	level   Mode
	over    time.Time // since when the load is above a limit; zero: it is not
	calm    time.Time // since when it is calm; zero: it is not
	up      time.Time // when the last step upwards was
	backoff uint
}

// Level returns the mode that the load asks for.
func (l *Ladder) Level() Mode { return l.level }

// Look takes the present load and returns why the level has changed; "": it has not.
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

// down goes down a step. If the last step upwards was a short time ago, the next one will wait
// longer.
func (l *Ladder) down(c *conf.Overload, over string, now time.Time) string {
	if !l.up.IsZero() && now.Sub(l.up) < c.Clear<<l.backoff+c.Enter && l.backoff < maxBackoff {
		l.backoff++
	}
	l.level, l.over, l.up = l.level+1, now, time.Time{}
	return fmt.Sprintf("%s for %v", over, c.Enter)
}

// lowestOf returns the lowest mode that the load may lead to.
func lowestOf(c *conf.Overload) Mode {
	m, err := ParseMode(string(c.Mode))
	if err != nil {
		return Full // conf.NeverDegrade
	}
	return m
}

// judge returns which limit the load is above, "" for none, and whether it is far below all.
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
