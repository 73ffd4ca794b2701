// The verdict of an incident, and the numbers that decide it.

package flowapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/verdict"
)

// judge decides. Something that is wrong decides alone; that nothing is wrong is said only where everything was looked at.
func (x *Incident) judge() {
	if c := &x.Coverage; c.Gone > 0 {
		x.say("%d of these flows ended, or have no room in the table any more: episodes, problems and changes of paths of this time name them", c.Gone)
	}
	x.saySprayed()
	if all := x.findings(); len(all) > 0 {
		x.Verdict, x.At, x.Title = all[0].Verdict, all[0].At, verdict.Headline(all)
		return
	}
	if x.sayLacking() {
		x.Verdict, x.Title = verdict.CannotSay, "not enough coverage to say"
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
		x.Verdict, x.At, x.Title = verdict.NetworkSlower, worst.Place, fmt.Sprintf("network slower than usual at %s, below the %s from which on you want to hear of it", worst.Place, ns(worst.floor))
		return
	}
	x.Verdict, x.Title = verdict.NetworkNormal, "network normal: look at the hosts"
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
func (x *Incident) findings() (all []verdict.Finding) {
	slow := x.slowPlaces()
	for _, p := range x.Problems {
		for _, f := range x.ofProblem(p) {
			if !slices.ContainsFunc(slow, func(s verdict.Finding) bool { return s.At == f.At }) {
				all = append(all, f)
			}
		}
	}
	for _, e := range x.Episodes {
		if node := fmt.Sprintf("node %d", e.Node); !slices.ContainsFunc(slow, func(f verdict.Finding) bool { return f.At == node }) {
			slow = append(slow, verdict.Finding{Verdict: verdict.NetworkSlow, At: fmt.Sprintf("queue %d of %s", e.Queue, node), Over: e.End != nil && !x.isSlowNow(node)})
		}
	}
	x.sayEpisodes()
	if x.Lost > 0 && x.lossNow {
		x.say("%d packets of these flows were lost since each began, and packets were lost in this time", x.Lost)
	}
	all = append(all, slow...)
	verdict.Sort(all)
	return all
}

// ofProblem says a problem, and what it is for the headline.
func (x *Incident) ofProblem(p *problem.Problem) (all []verdict.Finding) {
	f := verdict.Finding{Verdict: string(p.Kind), At: p.Where(), Over: p.Until != nil}
	switch p.Kind {
	case problem.NodeGone:
		x.say("%s", x.goneText(p))
		return []verdict.Finding{f}
	case problem.PathChanged: // over, it is how the network is now
		x.say("%s: %s%s", f.At, p.What, x.leftText(p))
		if !f.Over && (x.names(p) || len(x.leavers(p)) > 0) {
			return []verdict.Finding{f}
		}
	case problem.FlowsSilent:
		x.say("%s: %s, since %s: %s, %s", f.At, p.What, p.Since.UTC().Format(clock), p.Amount(), p.Evidence.Why)
		return []verdict.Finding{f}
	case problem.LossBetween, problem.Loop:
		x.say("%s: %s", f.At, cmp.Or(strings.TrimSuffix(p.What+", "+p.Amount(), ", "), p.What))
		if f.At != "" {
			return []verdict.Finding{f}
		}
	case problem.UsualChanged: // nothing is slow beside it, but it may have been slow for long
		if !f.Over && x.crosses(p.Place) {
			x.say("%s: %s: %s", p.Where(), p.What, p.Amount())
		}
	case problem.InterfaceBusy: // over, the way has room
		if !f.Over && x.crosses(p.Place) {
			x.say("%s: %s: %s", f.At, p.What, p.Amount())
			return []verdict.Finding{f}
		}
	case problem.SlowHop, problem.SlowSegment, problem.QueueCongested:
		named := x.names(p) && x.Coverage.Gone > 0 // flows that are in the table are looked at themselves
		if !named && (f.Over || !x.crosses(p.Place)) {
			return nil
		}
		if named || !f.Over {
			f.Verdict, f.At = verdict.NetworkSlow, verdict.Place(p)
			x.say("%s", strings.TrimSuffix(fmt.Sprintf("%s: %s, %s", p.Where(), p.What, p.Amount()), ", "))
			if named && p.Value != nil && p.Usual != nil {
				f.Times = *p.Value / max(*p.Usual, 1)
			}
			return []verdict.Finding{f}
		}
	}
	return nil
}

// slowPlaces are the hops and segments that are slow, the worst first: of the ways through a node or segment, the worst stands
// for all.
func (x *Incident) slowPlaces() (all []verdict.Finding) {
	worst, ways := map[string]*PlaceItem{}, map[string]int{}
	for i := range x.Places {
		if p := &x.Places[i]; p.SlowSteps > 0 {
			if ways[p.Place]++; worst[p.Place] == nil || p.times > worst[p.Place].times {
				worst[p.Place] = p
			}
		}
	}
	for at, p := range worst {
		all = append(all, verdict.Finding{Verdict: verdict.NetworkSlow, At: at, Over: !x.isSlowNow(at), Times: p.times})
	}
	slices.SortFunc(all, func(a, b verdict.Finding) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.At, b.At))
	})
	for i := range all {
		p, of := worst[all[i].At], ""
		if n := ways[all[i].At]; n > 1 {
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

// sayLacking says what is missing for a verdict, and reports whether anything is.
func (x *Incident) sayLacking() bool {
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
