// standing: when a state begins and ends to be a problem.

package problem

import "time"

// standing is a state that should not be.
type standing struct {
	looks  int           // in a row at which it was wrong
	well   time.Time     // since when it is well; zero: it is wrong
	seen   time.Time     // what showed it last; zero: the last look at which it was wrong
	settle time.Duration // how long it has to be well
}

// inARow is at how many looks in a row a state has to be wrong that nobody knows the begin of: what is wrong at one look
// may just be starting.
const inARow = 2

// state handles the sign of a state, which is wrong.
func (l *List) state(t *trouble, s *Sign, now time.Time) []edge {
	if t.state == nil {
		t.state = &standing{}
	}
	t.state.looks++
	t.state.well, t.state.seen, t.state.settle = time.Time{}, s.Seen, s.Settle
	if t.problem != nil {
		p, turned := t.problem, t.problem.Kind != s.Kind
		p.Value, p.Usual, p.Unit, p.What, p.Todo, p.Evidence, p.Place = s.Value, s.Usual, s.Unit, s.What, s.Todo, s.Evidence.bounded(), append([]Part{}, s.Place...)
		if l.Named != nil {
			l.Named(p.Place)
		}
		if !turned {
			return nil
		}
		p.Kind, p.Severity, l.changed = s.Kind, severityOf(s.Kind), true
		return []edge{{Turn, t, *t, *p}}
	}
	if s.Since.IsZero() && t.state.looks < inARow {
		return nil
	}
	since := s.Since
	if since.IsZero() {
		since = now
	}
	return l.begin(t, s.problem(since), now)
}

// until is when it was over.
func (s *standing) until() time.Time {
	if s.seen.IsZero() {
		return s.well
	}
	return s.seen
}

// settled tells whether a state that is well has been so for long enough.
func (s *standing) settled(now time.Time) bool {
	if s.well.IsZero() {
		s.well, s.looks = now, 0
	}
	return now.Sub(s.well) >= s.settle
}
