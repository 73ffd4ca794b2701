// Mark and Worse: what became worse since a moment, for whoever judges a change.

package problem

import (
	"slices"
	"strings"
	"time"
)

// Mark is what was wrong at a moment and in the hour before it.
type Mark struct {
	at  time.Time
	was map[string]before // by key of the sign
}

// before is a problem as a Mark has it.
type before struct {
	rate float64 // what it lost in a second; 0 of a state
	lost float64 // until the mark, of one that was open
}

const (
	markReach = time.Hour
	// shortest is the time that a rate is counted over at least: one packet in the first second is no rate.
	shortest = 10 * time.Second
	// moreThan is how many times the rate of before a loss has to have to be worse than before.
	moreThan = 2
)

// ofChange are the kinds that a change of the configuration may bring about. A worker that does not poll is judged
// apart from problems.
var ofChange = []Kind{ReportsLost, CollectorAway, PacketsDropped, PacketsMissed, PortErrors, LinkDown, TableFull, FlowsRefused, LessDone, INTDamaged, ChecksumBad, INTLeaked, ClockWrong, Degraded}

// ByChange tells whether a change of the configuration may have brought p about. What somebody asked for is no fault.
func (p *Problem) ByChange() bool {
	return slices.Contains(ofChange, p.Kind) && !(p.Kind == LessDone && strings.HasPrefix(p.Evidence.Why, "asked for"))
}

// Mark returns what is wrong now, and was in the last hour.
func (l *List) Mark(now time.Time) *Mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &Mark{at: now, was: map[string]before{}}
	for _, p := range l.ended {
		if now.Sub(*p.Until) > markReach || p.Kind == ConfigOnTrial {
			continue
		}
		key := keyOf(p)
		m.was[key] = before{rate: max(m.was[key].rate, p.rate(*p.Until))}
	}
	for key, t := range l.trouble {
		if t.problem != nil {
			m.was[key] = before{rate: max(m.was[key].rate, t.problem.rate(now)), lost: t.problem.total()}
		}
	}
	return m
}

// Worse lists what began after m and had not been wrong in the hour before it, and what loses at least twice as fast as it
// did before, whether or not it is over by now.
func (l *List) Worse(m *Mark, now time.Time) (all []Problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	passed := max(now.Sub(m.at), shortest).Seconds()
	look := func(key string, p *Problem) {
		was, known := m.was[key]
		lost := p.total()
		if p.Since.Before(m.at) {
			lost -= was.lost
		}
		if !known && !p.Since.Before(m.at) || known && lost/passed > moreThan*was.rate && lost > 0 && was.rate > 0 {
			all = append(all, *p)
		}
	}
	for _, p := range l.ended {
		if !p.Until.Before(m.at) {
			look(keyOf(p), p)
		}
	}
	for key, t := range l.trouble {
		if t.problem != nil {
			look(key, t.problem)
		}
	}
	slices.SortFunc(all, func(a, b Problem) int { return int(a.ID) - int(b.ID) })
	return slices.DeleteFunc(all, func(p Problem) bool { return p.Kind == ConfigOnTrial })
}

// keyOf is the key of the sign of p, where that has none of its own.
func keyOf(p *Problem) string { return (&Sign{Kind: p.Kind, Place: p.Place}).key() }

// total is what p lost, 0 of a state.
func (p *Problem) total() float64 {
	if p.Value == nil || !slices.Contains(losses, p.Unit) {
		return 0
	}
	return *p.Value
}

// losses are the units of what is counted; other values are levels.
var losses = []string{"reports", "packets", "flows", "latencies"}

// rate is what p lost in a second until now.
func (p *Problem) rate(now time.Time) float64 {
	return p.total() / max(now.Sub(p.Since), shortest).Seconds()
}

// Line is p for people, on one line.
func (p *Problem) Line() string {
	line := p.Where() + ": " + p.What
	if text := p.Amount(); text != "" {
		line += ", " + text
	}
	if p.Evidence.Why != "" {
		line += " (" + p.Evidence.Why + ")"
	}
	return line
}
