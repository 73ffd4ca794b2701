// The verdict of an incident, and the numbers that decide it.

package flowapi

import (
	"cmp"
	"fmt"
	"strings"

	"intsink/cmd/intsink/internal/problem"
	"intsink/engine/usual"
)

// judge decides. Something that is slow decides alone; that nothing is slow is said only where everything was looked at.
func (x *Incident) judge() {
	if c := &x.Coverage; c.Gone > 0 {
		x.say("%d of these flows ended, or have no room in the table any more: episodes, problems and changes of paths of this time name them", c.Gone)
	}
	if x.Verdict, x.At = NetworkSlow, ""; x.isSlow() {
		return
	}
	if x.Verdict = CannotSay; x.lacks() {
		return
	}
	x.Verdict = NetworkNormal
	worst := &x.Places[0]
	for i := range x.Places {
		if x.Places[i].times > worst.times {
			worst = &x.Places[i]
		}
	}
	x.say("%s at most: %s, at %s", ns(*worst.WorstNs), times(worst), worst.Place)
	x.say("%d of %d hops and segments told of this time, none was slow; no episode, no packet lost in this time", x.Coverage.Told, x.Coverage.Places)
}

func (x *Incident) say(format string, args ...any) {
	x.Why = append(x.Why, fmt.Sprintf(format, args...))
}

// isSlow finds what is slow, the worst first.
func (x *Incident) isSlow() bool {
	x.slowNodes()
	worst := 0.0
	for i := range x.Places {
		p := &x.Places[i]
		if p.SlowSteps == 0 {
			continue
		}
		if p.times > worst {
			worst, x.At = p.times, p.Place
		}
		x.say("%s: %s, %s, in %d of %d steps", p.Place, ns(*p.WorstNs), times(p), p.SlowSteps, p.Steps)
	}
	if len(x.Episodes) > 0 && x.At == "" {
		x.At = fmt.Sprintf("queue %d of node %d", x.Episodes[0].Queue, x.Episodes[0].Node)
	}
	x.sayEpisodes()
	for _, p := range x.Problems {
		switch p.Kind {
		case problem.LossBetween, problem.Loop, problem.NodeGone, problem.PathChanged:
			if x.At == "" && p.Kind != problem.PathChanged && (p.Kind != problem.NodeGone || x.passes(p.Place)) { // what left a node in time is not slow
				x.At = p.Where()
			}
			x.say("%s: %s", p.Where(), p.What)
		case problem.SlowHop, problem.SlowSegment:
			if x.Coverage.Gone > 0 && x.names(p) {
				x.At = cmp.Or(x.At, p.Where())
				x.say("%s: %s, %s", p.Where(), p.What, p.Amount())
			}
		}
	}
	if x.Lost > 0 && x.lossNow {
		x.say("%d packets of these flows were lost since each began, and packets were lost in this time", x.Lost)
	}
	return x.At != ""
}

// slowNodes marks hops as slow that have no usual latency of their own, where their node has the problem slow_hop and they
// take far longer than that problem says is usual: their flows began after the node had become slow.
func (x *Incident) slowNodes() {
	for _, p := range x.Problems {
		if p.Kind != problem.SlowHop || p.Usual == nil || p.Unit != "ns" {
			continue
		}
		others := usual.Stat{Known: true, Median: uint32(*p.Usual), P99: uint32(*p.Usual)}
		for i := range x.Places {
			h := &x.Places[i]
			if h.Kind == "hop" && fmt.Sprint(h.node) == p.Place[0].ID && h.UsualNs == nil && h.WorstNs != nil && others.IsFar(*h.WorstNs) {
				h.UsualNs, h.SlowSteps = &others.Median, h.Steps
				h.times = float64(*h.WorstNs) / float64(max(others.Median, 1))
				x.Coverage.WithoutUsual--
			}
		}
	}
}

// lacks says what is missing for a verdict.
func (x *Incident) lacks() bool {
	c, said := &x.Coverage, len(x.Why)
	switch {
	case c.Flows == 0 && c.Gone == 0:
		x.say("no such flow is known: none with INT is in the table now, and nothing that was kept of this time names one")
	case c.Flows == 0:
		x.say("whether packets of these flows were lost is not known any more")
	case c.WithoutPath > 0 && c.Gone == 0:
		x.say("the path of %d of %d flows is not known: their INT is cut, or has no node ids", c.WithoutPath, c.Flows)
	}
	if c.WithoutPath > 0 && c.Gone > 0 {
		x.say("the path of %d of %d flows is not known", c.WithoutPath, c.Flows+c.Gone)
	}
	if c.Told < c.Places {
		x.say("%d of %d hops and segments had no sample with a latency in this time", c.Places-c.Told, c.Places)
	}
	if c.WithoutUsual > 0 {
		x.say("of %d hops and segments nobody knows yet what is usual", c.WithoutUsual)
	}
	if x.Lost > 0 && x.lossNow {
		return true // said above: where is not known
	}
	return len(x.Why) > said || len(x.Places) == 0
}

func times(p *PlaceItem) string {
	if p.UsualNs == nil {
		return "what is usual is not known"
	}
	return fmt.Sprintf("%.1f x its usual %s", p.times, ns(*p.UsualNs))
}

func ns(v uint32) string { return problem.Latency(float64(v)) }

// words are the verdicts as people read them.
var words = map[string]string{NodeIsGone: "%s is gone: no packet comes through it", NetworkSlow: "network slow at %s", NetworkNormal: "network normal: look at the hosts", CannotSay: "not enough coverage to say"}

// Title is the verdict as people read it.
func (x *Incident) Title() string { return strings.Replace(words[x.Verdict], "%s", x.At, 1) }
