// Mark and Worse: what became worse since a moment, for whoever judges a change.

package problem

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Mark is what was wrong at a moment and in the hour before it.
type Mark struct {
	at  time.Time
	was map[string]before // by key of the sign

	through map[string]uint64 // what had come through, by key of the sign
	paces   Paces
}

// Paces are how much came through in a second, where the network alone can make what is counted beside it, by key of the sign: a
// program on trial gets them from the one before it.
type Paces map[string]float64

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

// ofChange are the kinds that a change of the configuration may bring about. A worker that does not poll is judged apart from
// problems. Floods of flows, clocks of nodes and INT of hosts are what others do, whatever the configuration is.
var ofChange = []Kind{ReportsLost, CollectorAway, PacketsDropped, PacketsMissed, PortErrors, LinkDown, LessDone, INTDamaged, ChecksumBad, Degraded}

// ByChange tells whether a change of the configuration may have brought p about. What somebody asked for is no fault, nor is what
// a few packets can make, or the network alone.
func (p *Problem) ByChange() bool {
	if !slices.Contains(ofChange, p.Kind) || p.Kind == LessDone && strings.HasPrefix(p.Evidence.Why, "asked for") {
		return false
	}
	return p.grown == nil || p.grown.counts(p)
}

// growth is what was lost since a mark, and what came through meanwhile.
type growth struct {
	lost, through, passed float64
	pace                  float64 // of what came through before
}

// What is lost counts as brought about by a change from so many on, and where it is so large a share of all.
const (
	leastLost  = 10
	leastShare = 0.001
)

// counts tells whether so much is lost that a change may be the reason. What packets themselves decide, such as unsound INT, anybody
// can send as much of as he likes: there what was sound before has to be missing, and to come as what is counted.
func (g *growth) counts(p *Problem) bool {
	switch {
	case p.Kind == ChecksumBad:
		return true // the sink's own fault, however few they are
	case g.lost < leastLost:
		return false
	case p.ofContent():
		return g.pace > 0 && g.passed >= shortest.Seconds() && g.through/g.passed < g.pace/2 && g.lost/g.passed > g.pace/4
	}
	return g.lost > leastShare*(g.lost+g.through)
}

// ofContent tells whether packets themselves decide over what p counts.
func (p *Problem) ofContent() bool {
	if p.Kind == PacketsDropped && len(p.Place) > 0 {
		reason := p.Place[len(p.Place)-1].ID
		return reason == "malformed" || reason == "tx_too_long"
	}
	return p.Kind == INTDamaged || p.Kind == PortErrors
}

// Paces returns those of now.
func (l *List) Paces() Paces {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := Paces{}
	for key, t := range l.trouble {
		if t.count != nil && t.count.pace >= 1 && t.group != OfNetwork {
			all[key] = math.Round(t.count.pace)
		}
	}
	return all
}

// Mark returns what is wrong now, and was in the last hour.
func (l *List) Mark(now time.Time) *Mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &Mark{at: now, was: map[string]before{}, through: map[string]uint64{}, paces: Paces{}}
	for _, p := range l.ended {
		if now.Sub(*p.Until) > markReach || p.Kind == ConfigOnTrial {
			continue
		}
		key := keyOf(p)
		m.was[key] = before{rate: max(m.was[key].rate, p.rate(*p.Until))}
	}
	for key, t := range l.trouble {
		if t.count != nil {
			m.through[key], m.paces[key] = t.count.through, t.count.pace
		}
		if t.problem != nil {
			m.was[key] = before{rate: max(m.was[key].rate, t.problem.rate(now)), lost: t.problem.total()}
		}
	}
	return m
}

// Before has m know what came through before this process was there.
func (m *Mark) Before(p Paces) *Mark {
	m.paces = p
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
			x := *p
			x.grown = l.grownSince(m, key, lost, now)
			all = append(all, x)
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

// grownSince is what came through beside what was lost since m; nil: key is of no counter.
func (l *List) grownSince(m *Mark, key string, lost float64, now time.Time) *growth {
	t := l.trouble[key]
	if t == nil || t.count == nil {
		return nil
	}
	return &growth{lost: lost, through: float64(t.count.through - min(t.count.through, m.through[key])), passed: now.Sub(m.at).Seconds(), pace: m.paces[key]}
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
