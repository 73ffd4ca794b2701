// counting: when the growth of a counter begins and ends to be a problem.

package problem

import (
	"math"
	"time"
)

const (
	calmAfter = 10 * time.Second // without growth: then a loss may be over
	proofs    = 2                // looks at which something has to have come through: the first packet to a collector that is gone seems to get there
)

// counting is a counter that should not grow.
type counting struct {
	name   string    // of the log's attribute
	value  uint64    // when last looked at
	lost   uint64    // by which it grew in the problem
	before float64   // lost before a restart
	grew   time.Time // when it last did

	through uint64  // of the sign, when last looked at
	pace    float64 // by which that grew in a second, of late
	looked  time.Time
	proved  int // looks since grew at which through had grown
}

// count handles the sign of a counter. It starts from its first value, or from 0 where it is of something that was made
// since the last look.
func (l *List) count(t *trouble, s *Sign, now time.Time, first bool) (told []edge) {
	c := t.count
	if c == nil {
		c = &counting{value: s.Count.Value, name: s.Count.Name}
		if c.name == "" {
			c.name = "lost"
		}
		t.count = c
		c.keepPace(s.Count, now)
		if first || !s.Count.FromZero {
			return nil
		}
		c.value = 0
	}
	if s.Count.FromZero && s.Count.Value < c.value {
		c.value = 0 // another one has taken the name
	}
	grown := s.Count.Value > c.value
	growth := s.Count.Value - c.value
	c.keepPace(s.Count, now)
	c.prove(s.Count, grown)
	c.value = s.Count.Value
	switch {
	case grown && t.problem == nil:
		c.lost, c.grew, c.before = growth, now, 0
		p := s.problem(now)
		p.Unit, p.Value = s.Count.Unit, new(float64(growth))
		return l.begin(t, p, now)
	case grown:
		c.lost, c.grew = c.lost+growth, now
		t.problem.Value, t.problem.Evidence = new(c.before+float64(c.lost)), s.Evidence.bounded()
		l.changed = true
	case t.problem != nil && now.Sub(c.grew) >= calmAfter && c.proved >= proofs:
		return l.end(t, c.grew, "")
	}
	return nil
}

// prove counts the looks since the counter last grew at which something came through.
func (c *counting) prove(s *Count, grown bool) {
	switch {
	case s.Through == nil:
		c.proved = proofs
		return
	case grown:
		c.proved = 0
	case *s.Through > c.through:
		c.proved++
	}
	c.through = *s.Through
}

// paceOver is the time over which a pace is a mean, mostly.
const paceOver = time.Minute

// keepPace takes up how much came through since the last look.
func (c *counting) keepPace(s *Count, now time.Time) {
	if s.Through == nil {
		return
	}
	passed := now.Sub(c.looked).Seconds()
	switch {
	case c.looked.IsZero():
		c.through = *s.Through
	case passed <= 0:
		return
	case *s.Through >= c.through:
		share := 1 - math.Exp(-passed/paceOver.Seconds())
		c.pace += share * (float64(*s.Through-c.through)/passed - c.pace)
	}
	c.looked = now
}
