// timeline: counts reports of each event in equal steps of a capture's time, which get
// longer with it.

package plan

import (
	"time"

	"intsink/engine"
	"intsink/engine/event"
)

// maxSteps bounds a timeline, and with it the size of the page that is drawn of it.
const maxSteps = 150

// firstStep is the step of a timeline that begins; each is two or five times the one before.
const firstStep = int64(time.Millisecond)

// timeline counts the reports of each event in equal steps of the capture's time. A capture
// that is too long for maxSteps makes the steps longer: 1, 2, 10, 20, 100, 200 ms, 1 s, ...
type timeline struct {
	start, step int64
	by          int // how many steps lengthen makes one
	steps       [][event.NumEvents]uint64
	counted     [event.NumEvents]uint64 // so far, in all steps
}

// newTimeline begins with the first packet of a capture.
func newTimeline(start int64) *timeline { return &timeline{start: start, step: firstStep, by: 2} }

// enters reports whether at is in another step than now: then note must be called before
// anything is counted for at.
func (l *timeline) enters(now, at int64) bool {
	return (max(at, now)-l.start)/l.step != (now-l.start)/l.step
}

// note adds the reports since the last call to the step of time at. Times never go back.
func (l *timeline) note(at int64, c *engine.Counters) {
	for (at-l.start)/l.step >= maxSteps {
		l.lengthen()
	}
	for int64(len(l.steps)) <= (at-l.start)/l.step {
		l.steps = append(l.steps, [event.NumEvents]uint64{})
	}
	s := &l.steps[(at-l.start)/l.step]
	for e, n := range c.Reported {
		s[e] += n - l.counted[e]
	}
	l.counted = c.Reported
}

// lengthen makes two or five steps one, in turns.
func (l *timeline) lengthen() {
	merged := l.steps[:0]
	for i, counts := range l.steps {
		if i%l.by == 0 {
			merged = append(merged, counts)
			continue
		}
		for e, n := range counts {
			merged[len(merged)-1][e] += n
		}
	}
	l.steps, l.step, l.by = merged, l.step*int64(l.by), 7-l.by
}

// of is the series of one event.
func (l *timeline) of(e event.Event) []uint64 {
	out := make([]uint64, len(l.steps))
	for i := range l.steps {
		out[i] = l.steps[i][e]
	}
	return out
}
