// The verdict of an incident, and the numbers that decide it.

package flowapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"intsink/cmd/internal/problem"
)

// judge decides. Something that is wrong decides alone; that nothing is wrong is said only where everything was looked at.
func (x *Incident) judge() {
	if c := &x.Coverage; c.Gone > 0 {
		x.say("%d of these flows ended, or have no room in the table any more: episodes, problems and changes of paths of this time name them", c.Gone)
	}
	if all := x.findings(); len(all) > 0 {
		x.Verdict, x.At, x.Title = all[0].verdict, all[0].at, headline(all)
		return
	}
	if x.lacks() {
		x.Verdict, x.Title = CannotSay, "not enough coverage to say"
		return
	}
	worst := &x.Places[0]
	for i := range x.Places {
		if x.Places[i].times > worst.times {
			worst = &x.Places[i]
		}
	}
	x.say("median of a step %s at most: %s, at %s", ns(*worst.WorstNs), times(worst), worst.Place)
	if worst.slower {
		x.Verdict, x.At, x.Title = NetworkSlower, worst.Place, fmt.Sprintf("network slower than usual at %s, below the %s from which on you want to hear of it", worst.Place, ns(worst.floor))
		return
	}
	x.Verdict, x.Title = NetworkNormal, "network normal: look at the hosts"
	lost := "no packet lost in this time"
	if unseen := x.Coverage.Unseen(); unseen != "" {
		x.Title, lost = "network normal in what the sink saw: look at the hosts", "no packet lost that the sink would have seen: "+unseen
	}
	x.say("%d of %d hops and segments told of this time, none was slow; no episode, %s", x.Coverage.Told, x.Coverage.Places, lost)
}

func (x *Incident) say(format string, args ...any) {
	x.Why = append(x.Why, fmt.Sprintf(format, args...))
}

// findings are what is wrong, as the headline has it: what is wrong now first, then by how bad it is.
func (x *Incident) findings() (all []finding) {
	slow := x.slowPlaces()
	for _, p := range x.Problems {
		for _, f := range x.ofProblem(p) {
			if !slices.ContainsFunc(slow, func(s finding) bool { return s.at == f.at }) {
				all = append(all, f)
			}
		}
	}
	for _, e := range x.Episodes {
		if node := fmt.Sprintf("node %d", e.Node); !slices.ContainsFunc(slow, func(f finding) bool { return f.at == node }) {
			slow = append(slow, finding{verdict: NetworkSlow, at: fmt.Sprintf("queue %d of %s", e.Queue, node), over: e.End != nil && !x.isSlowNow(node)})
		}
	}
	x.sayEpisodes()
	if x.Lost > 0 && x.lossNow {
		x.say("%d packets of these flows were lost since each began, and packets were lost in this time", x.Lost)
	}
	all = append(all, slow...)
	slices.SortStableFunc(all, func(a, b finding) int { return cmp.Or(a.rank()-b.rank(), cmp.Compare(b.times, a.times)) })
	return all
}

// ofProblem says a problem, and what it is for the headline.
func (x *Incident) ofProblem(p *problem.Problem) (all []finding) {
	f := finding{verdict: string(p.Kind), at: p.Where(), over: p.Until != nil}
	switch p.Kind {
	case problem.NodeGone:
		x.say("%s", x.goneText(p))
		return []finding{f}
	case problem.PathChanged: // over, it is how the network is now
		x.say("%s: %s%s", f.at, p.What, x.leftText(p))
		if !f.over && (x.names(p) || len(x.leavers(p)) > 0) {
			return []finding{f}
		}
	case problem.FlowsSilent:
		x.say("%s: %s, since %s: %s, %s", f.at, p.What, p.Since.UTC().Format(clock), p.Amount(), p.Evidence.Why)
		return []finding{f}
	case problem.LossBetween, problem.Loop:
		x.say("%s: %s", f.at, cmp.Or(strings.TrimSuffix(p.What+", "+p.Amount(), ", "), p.What))
		if f.at != "" {
			return []finding{f}
		}
	case problem.UsualChanged: // nothing is slow beside it, but it may have been slow for long
		if !f.over && x.crosses(p.Place) {
			x.say("%s: %s: %s", p.Where(), p.What, p.Amount())
		}
	case problem.SlowHop, problem.SlowSegment, problem.QueueCongested:
		named := x.names(p) && x.Coverage.Gone > 0 // flows that are in the table are looked at themselves
		if !named && (f.over || !x.crosses(p.Place)) {
			return nil
		}
		if named || !f.over {
			f.verdict, f.at = NetworkSlow, placeOf(p)
			x.say("%s", strings.TrimSuffix(fmt.Sprintf("%s: %s, %s", p.Where(), p.What, p.Amount()), ", "))
			if named && p.Value != nil && p.Usual != nil {
				f.times = *p.Value / max(*p.Usual, 1)
			}
			return []finding{f}
		}
	}
	return nil
}

// placeOf is the place of a problem as places and episodes call it.
func placeOf(p *problem.Problem) string {
	if len(p.Place) == 0 {
		return "nearly all nodes"
	}
	switch last := p.Place[len(p.Place)-1]; {
	case last.What == "queue":
		return fmt.Sprintf("queue %s of node %s", last.ID, p.Place[0].ID)
	case p.Place[0].What == "node":
		return "node " + p.Place[0].ID
	}
	return p.Where()
}

// slowPlaces are the hops and segments that are slow, the worst first: of the ways through a node or segment, the worst stands
// for all.
func (x *Incident) slowPlaces() (all []finding) {
	worst, ways := map[string]*PlaceItem{}, map[string]int{}
	for i := range x.Places {
		if p := &x.Places[i]; p.SlowSteps > 0 {
			if ways[p.Place]++; worst[p.Place] == nil || p.times > worst[p.Place].times {
				worst[p.Place] = p
			}
		}
	}
	for at, p := range worst {
		all = append(all, finding{NetworkSlow, at, !x.isSlowNow(at), p.times})
	}
	slices.SortFunc(all, func(a, b finding) int { return cmp.Or(cmp.Compare(b.times, a.times), strings.Compare(a.at, b.at)) })
	for i := range all {
		p, of := worst[all[i].at], ""
		if n := ways[all[i].at]; n > 1 {
			of = fmt.Sprintf(", the worst of %d slow ways", n)
		}
		x.say("%s: median of a step up to %s, %s, for %s%s", p.Place, ns(*p.WorstNs), times(p), p.Slow(), of)
	}
	return all
}

// isSlowNow reports whether a place is slow: it has a problem that says so, or was slow when a sample told last.
func (x *Incident) isSlowNow(at string) bool {
	for _, p := range x.Problems {
		if len(p.Place) > 0 && "node "+p.Place[0].ID == at && p.Until == nil && slices.Contains([]problem.Kind{problem.SlowHop, problem.QueueCongested}, p.Kind) {
			return true
		}
	}
	return x.untilNow && slices.ContainsFunc(x.Places, func(p PlaceItem) bool { return p.Place == at && p.slowAtEnd })
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
	if c.Doubtful > 0 {
		x.say("%d hops take long, and have done since the sink saw them first: whether that is as it should be nobody knows", c.Doubtful)
	}
	if x.Lost > 0 && x.lossNow {
		return true // said above: where is not known
	}
	return len(x.Why) > said || len(x.Places) == 0
}

func times(p *PlaceItem) string {
	switch {
	case p.UsualNs != nil:
		return fmt.Sprintf("%.1f x its usual %s", p.times, ns(*p.UsualNs))
	case p.held > 0:
		return fmt.Sprintf("what is usual is not known, %.1f x the %s of nodes like it", p.times, ns(p.held))
	}
	return "what is usual is not known"
}

func ns(v uint32) string { return problem.Latency(float64(v)) }
