// Room: which problems stand in the list where there are more than it has room for, and which lines in the log.

package problem

import (
	"slices"
	"time"
)

// makeRoom ends the problem of t's group that matters least, where the group has no room and p matters more: what is over but for
// its settling goes first, and a warning before an error. It returns nil where it has ended none.
func (l *List) makeRoom(t *trouble, p *Problem, now time.Time) []edge {
	if len(l.open[t.group]) < maxOpen || p.Kind == MoreProblems {
		return []edge{}
	}
	var least *trouble
	for x := range l.open[t.group] {
		if x.problem.Kind != MoreProblems && (least == nil || x.matters() < least.matters() || x.matters() == least.matters() && x.problem.ID > least.problem.ID) {
			least = x
		}
	}
	if least == nil || least.matters() >= mattersOf(p.Severity, t.known) {
		return nil
	}
	least.left = least.count != nil || least.state.well.IsZero()
	if least.left {
		l.left++
	}
	return l.end(least, now, "made room for others")
}

// matters ranks a problem among those of its group: 0 is one that is over but for its settling.
func (t *trouble) matters() int {
	if t.state != nil && !t.state.well.IsZero() {
		return 0
	}
	return mattersOf(t.problem.Severity, t.known)
}

func mattersOf(s Severity, known bool) (rank int) {
	rank = 1
	if known {
		rank++
	}
	if s == Error {
		rank += 2
	}
	return rank
}

// withLeft is the sign that more is wrong than there is room for: of what whoever looked left out, and of the signs that have
// found no room; nil: there is room for all.
func (l *List) withLeft(group string, signs []Sign) (more *Sign) {
	n := 0
	for i := range signs {
		s := &signs[i]
		if s.Kind == MoreProblems {
			more = s
		} else if t := l.trouble[s.key()]; t != nil && t.left {
			n++
		}
	}
	switch {
	case n > 0 && more != nil:
		more.Value = new(*more.Value + float64(n))
	case n > 0:
		more = new(More(group, n, ""))
	}
	return more
}

// More is the sign that so many more problems of a group have no room; why has their kinds.
func More(group string, n int, why string) Sign {
	return Sign{
		Kind: MoreProblems, Subject: group, Place: At("signs", group), What: "more is wrong than there is room for", Over: "there is room for all that is wrong", Settle: Settle, Known: true,
		Value: new(float64(n)), Unit: "problems", Evidence: Evidence{Why: why},
		Todo: "look at what is listed first; where nodes, queues or paths are listed that you do not have, somebody makes them up: intsink top flows, intsink capture",
	}
}

// leastEnded is the place of the ended problem that goes first: of the kind that has most of them, the oldest, one whose place
// nobody knew before those that somebody did.
func (l *List) leastEnded() int {
	n, most := map[Kind]int{}, Kind("")
	for _, p := range l.ended {
		if n[p.Kind]++; n[p.Kind] > n[most] {
			most = p.Kind
		}
	}
	at := slices.IndexFunc(l.ended, func(p *Problem) bool { return p.Kind == most && p.network && !p.known })
	if at < 0 {
		at = slices.IndexFunc(l.ended, func(p *Problem) bool { return p.Kind == most })
	}
	return at
}

// How many lines a minute tell of begins of problems that packets tell of: at places that were known, and at others.
const (
	knownLines   = 60
	strangeLines = 20
)

// lineBudget is what is left of this minute's lines.
type lineBudget struct {
	since time.Time
	left  [2]int // at known places, and others
	quiet int    // begins that no line told
}

// choose marks the begins that get no line.
func (b *lineBudget) choose(told []edge, now time.Time) {
	if now.Sub(b.since) >= time.Minute || now.Before(b.since) {
		b.since, b.left = now, [2]int{knownLines, strangeLines}
	}
	for i := range told {
		e := &told[i]
		if e.trouble.quiet = e.of.quiet; e.event != Begin || !e.problem.network {
			continue
		}
		room := &b.left[1]
		if e.problem.known {
			room = &b.left[0]
		}
		if *room > 0 {
			*room--
			e.of.quiet, e.trouble.quiet = false, false
			continue
		}
		if e.of.quiet, e.trouble.quiet = true, true; !e.trouble.told {
			b.quiet++
		}
	}
}

// tellQuiet says how many begins no line told, once the minute is over.
func (l *List) tellQuiet(now time.Time) {
	l.mu.Lock()
	b := &l.lines
	n := b.quiet
	if now.Sub(b.since) < time.Minute {
		n = 0
	}
	b.quiet -= n
	l.mu.Unlock()
	if n > 0 {
		l.log().Warn("problems: more began within a minute than lines tell of", "more", n, "todo", "intsink problems lists them")
	}
}
