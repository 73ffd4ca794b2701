// List: makes problems of signs, logs and announces their begins and ends, keeps them.

package problem

import (
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Bounds of what is kept.
const (
	maxOpen  = 384 // of one group of signs: what packets tell takes no room from what the sink counts itself
	maxEnded = 512
	keepFor  = 24 * time.Hour
)

// OfNetwork is the group of signs that packets tell of.
const OfNetwork = "network"

// List knows what is wrong and what was. Its methods are safe for concurrent use.
type List struct {
	log      func() *slog.Logger // asked for each line: a reload changes it
	announce func(event string, p *Problem)

	Named func(place []Part) // puts names to a place; nil: there are none. Set before the first look

	mu      sync.Mutex
	id      uint64                       // of the problem that began last
	trouble map[string]*trouble          // by key of its sign
	open    map[string]map[*trouble]bool // those of trouble that are problems, by group
	ended   []*Problem                   // the oldest first
	left    uint64                       // problems that there was no room for
	signs   map[string]int               // of the last look of each group
	lines   lineBudget
	looked  time.Time
	changed bool // since it was written to the disk
	began   time.Time
}

// trouble is what is known of a sign: whether there is a problem, and what tells when there will be none.
type trouble struct {
	group   string
	told    bool     // whoever found it logs it
	subject string   // of its lines in the log
	over    string   // what the log says at its end
	problem *Problem // nil: none
	count   *counting
	state   *standing
	left    bool // it has found no room
	known   bool
	quiet   bool // no line of the log told of its begin, so none tells of its end
}

// The events that a List announces. Turn: what is wrong is now known to be of another kind.
const (
	Begin = "begin"
	Turn  = "turn"
	End   = "end"
	again = "again" // a line of the log, and no event: it came and went since the last line
)

// New makes an empty list, which logs to what log returns, and hands each problem that begins or ends to announce.
// What it hands over is the list's own no longer.
func New(log func() *slog.Logger, announce func(event string, p *Problem)) *List {
	return &List{log: log, announce: announce, trouble: map[string]*trouble{}, open: map[string]map[*trouble]bool{}, signs: map[string]int{}, began: time.Now()}
}

// Look compares what is found now with what was found before: signs are all that one group of signs has, which
// nobody else lists. A sign that is gone from the list is over.
func (l *List) Look(group string, signs []Sign, now time.Time) {
	l.tellQuiet(now)
	for _, e := range l.take(group, signs, now) {
		e.tell(l)
	}
}

// take does as Look, and returns what is to be told.
func (l *List) take(group string, signs []Sign, now time.Time) (told []edge) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, before := l.signs[group]
	l.signs[group], l.looked = len(signs), now
	if l.open[group] == nil {
		l.open[group] = map[*trouble]bool{}
	}
	present := make(map[string]bool, len(signs))
	look := func(s *Sign) {
		key := s.key()
		if present[key] {
			return
		}
		present[key] = true
		t := l.trouble[key]
		if t == nil {
			t = &trouble{group: group}
			l.trouble[key] = t
		}
		t.told, t.subject, t.over, t.known = s.Told, s.Subject, s.Over, s.Known
		if s.Count != nil {
			told = append(told, l.count(t, s, now, !before)...)
		} else {
			told = append(told, l.state(t, s, now)...)
		}
	}
	for i := range signs {
		if signs[i].Kind != MoreProblems {
			look(&signs[i])
		}
	}
	if s := l.withLeft(group, signs); s != nil {
		look(s)
	}
	for key, t := range l.trouble {
		if t.group == group && !present[key] {
			told = append(told, l.gone(key, t, now)...)
		}
	}
	l.forget(now)
	l.lines.choose(told, now)
	return told
}

// gone handles a sign that is not listed any more: a state that is well, or a counter that nobody counts any more.
func (l *List) gone(key string, t *trouble, now time.Time) (told []edge) {
	if t.count != nil {
		if t.problem != nil {
			told = l.end(t, t.count.grew, "what counted it is gone")
		}
		delete(l.trouble, key)
		return told
	}
	if t.problem != nil && !t.state.settled(now) {
		return nil
	}
	if t.problem != nil {
		told = l.end(t, t.state.until(), "")
	}
	delete(l.trouble, key)
	return told
}

// begin opens the problem of t, or goes on with the one that it is again.
func (l *List) begin(t *trouble, p Problem, now time.Time) (told []edge) {
	if told = l.makeRoom(t, &p, now); told == nil && len(l.open[t.group]) >= maxOpen {
		if !t.left {
			l.left++
		}
		t.left = true
		return nil
	}
	t.left, p.network, p.known = false, t.group == OfNetwork, t.known
	if old := l.earlier(&p, now); old != nil {
		times, began := max(p.Times, 1), p.Since
		p.ID, p.Since, p.Times, p.Before, p.Again = old.ID, old.Since, old.Times, old.Before, old.Again
		if old.Ended != endedByStop {
			p.Before, p.Again = int64(old.Lasted(now)), &began
			p.Times = max(old.Times, 1) + times
			if t.state != nil {
				t.state.before = max(old.Times, 1)
			}
		}
		if p.Value != nil && old.Value != nil && t.count != nil {
			p.Value = new(*p.Value + *old.Value)
			t.count.before = *old.Value
		}
	} else {
		l.id++
		p.ID = l.id
	}
	if p.Times == 1 {
		p.Times = 0 // the problem itself says as much
	}
	if t.state != nil {
		t.state.toldTimes = max(p.Times, 1)
	}
	if p.Place = slices.Clone(p.Place); l.Named != nil {
		l.Named(p.Place)
	}
	t.problem = &p
	l.open[t.group][t] = true
	l.changed = true
	return append(told, edge{Begin, t, *t, p})
}

// end closes the problem of t; why is empty where all is well.
func (l *List) end(t *trouble, until time.Time, why string) []edge {
	p := t.problem
	t.problem = nil
	delete(l.open[t.group], t)
	until = until.UTC()
	p.Until, p.Ended = &until, why
	l.ended = append(l.ended, p)
	l.changed = true
	return []edge{{End, t, *t, *p}}
}

// resumeFor is how long after a start a problem may begin that is the one from before it.
const resumeFor = 2 * time.Minute

// AgainWithin is how long after its end a problem may begin that is the one from before: what comes and goes is one.
const AgainWithin = 5 * time.Minute

// earlier takes the problem out of those that ended which p is again, after a stop or a short while; nil: there is none.
func (l *List) earlier(p *Problem, now time.Time) *Problem {
	at := slices.IndexFunc(l.ended, func(e *Problem) bool {
		lately := now.Sub(*e.Until) <= AgainWithin
		if e.Ended == endedByStop {
			lately = now.Sub(l.began) <= resumeFor
		}
		return lately && e.Kind == p.Kind && e.at() == p.at()
	})
	if at < 0 {
		return nil
	}
	old := l.ended[at]
	l.ended = slices.Delete(l.ended, at, at+1)
	return old
}

// forget drops what ended a day ago, and what is beyond the room for it.
func (l *List) forget(now time.Time) {
	for len(l.ended) > maxEnded {
		l.changed = true
		at := l.leastEnded()
		l.ended = slices.Delete(l.ended, at, at+1)
	}
	old := 0
	for old < len(l.ended) && now.Sub(*l.ended[old].Until) > keepFor {
		old++
	}
	if old > 0 {
		l.ended = slices.Delete(l.ended, 0, old)
		l.changed = true
	}
}

// edge is the begin or the end of a problem, as it was then.
type edge struct {
	event   string
	of      *trouble
	trouble trouble
	problem Problem
}

// tell logs and announces e.
func (e *edge) tell(l *List) {
	if l.announce != nil && e.event != again {
		l.announce(e.event, &e.problem)
	}
	if e.trouble.told || e.trouble.quiet {
		return
	}
	p, args := &e.problem, attrs(e.problem.Place)
	if c := e.trouble.count; c != nil {
		args = append(args, c.name, c.lost)
	}
	if p.Evidence.Why != "" {
		args = append(args, "why", p.Evidence.Why)
	}
	if len(p.Evidence.Culprits) > 0 {
		args = append(args, "culprit", p.Evidence.Culprits[0].Name())
	} else if len(p.Evidence.Flows) > 0 {
		args = append(args, "flow", p.Evidence.Flows[0])
	}
	if p.Value != nil && e.trouble.count == nil {
		args = append(args, "value", p.Amount())
	}
	if p.Times > 1 {
		args = append(args, "times", p.Times)
	}
	switch {
	case e.event == End:
		l.log().Info(e.trouble.subject+": "+e.trouble.over, append(args, "for", p.Lasted(*p.Until).Round(time.Second))...)
	case e.event == again:
		l.log().Info(e.trouble.subject+": "+p.What+", again and again", args...)
	case p.Severity == Error:
		l.log().Error(e.trouble.subject+": "+p.What, e.withTodo(args)...)
	default:
		l.log().Warn(e.trouble.subject+": "+p.What, e.withTodo(args)...)
	}
}

func (e *edge) withTodo(args []any) []any {
	if e.problem.Todo != "" {
		args = append(args, "todo", e.problem.Todo)
	}
	return args
}

// Change is the begin or end of a problem as the event stream and webhooks tell it.
type Change struct {
	Event   string   `json:"event"` // Begin, Turn or End
	Problem *Problem `json:"problem"`
}
