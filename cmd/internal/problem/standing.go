// standing: when a state begins and ends to be a problem.

package problem

import "time"

// standing is a state that should not be.
type standing struct {
	looks  int           // in a row at which it was wrong
	well   time.Time     // since when it is well; zero: it is wrong
	seen   time.Time     // what showed it last; zero: the last look at which it was wrong
	settle time.Duration // how long it has to be well

	before, times int       // how often it was so: in earlier episodes of the problem, in the one at hand
	episode       uint32    // that one
	told          time.Time // when the log last told
	toldTimes     int
}

// tellEvery is how often the log tells of a state that comes and goes.
const tellEvery = time.Minute

// count takes up how often it was so in an episode, and returns how often it was in all.
func (s *standing) count(times int, episode uint32) int {
	if episode != s.episode {
		s.before, s.episode = s.before+s.times, episode
	}
	s.times = times
	return s.before + times
}

// again has the log tell of a state that came and went, once a minute.
func (t *trouble) again(now time.Time) []edge {
	s, p := t.state, t.problem
	if p.Times <= s.toldTimes || now.Sub(s.told) < tellEvery {
		return nil
	}
	s.told, s.toldTimes = now, p.Times
	return []edge{{again, t, *t, *p}}
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
		was := p.Evidence.Flows
		p.Value, p.Usual, p.Unit, p.What, p.Todo, p.Evidence, p.Place = s.Value, s.Usual, s.Unit, s.What, s.Todo, s.Evidence.bounded(), append([]Part{}, s.Place...)
		if len(p.Evidence.Flows) == 0 && !turned { // nobody tells of them any more
			p.Evidence.Flows = was
		}
		if l.Named != nil {
			l.Named(p.Place)
		}
		if s.Times > 0 {
			if times := t.state.count(s.Times, s.Evidence.Episode); times > 1 {
				p.Times = times
			}
		}
		if !turned {
			return t.again(now)
		}
		p.Kind, p.Severity, l.changed = s.Kind, s.Kind.Severity(), true
		return []edge{{Turn, t, *t, *p}}
	}
	if s.Since.IsZero() && t.state.looks < inARow {
		return nil
	}
	since := s.Since
	if since.IsZero() {
		since = now
	}
	p := s.problem(since)
	p.Times = t.state.count(s.Times, s.Evidence.Episode)
	t.state.told = now
	return l.begin(t, p, now)
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
