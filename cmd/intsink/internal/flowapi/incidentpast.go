// What was kept of the time of an incident: episodes, problems, changes of paths; flows that only these know.

package flowapi

import (
	"fmt"
	"slices"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/engine/episode"
)

// addGone adds flows that a filter selects and that are in no table any more, as far as something of this time names them,
// and the ways that they are known to have taken.
func (in *API) addGone(x *Incident, filters []inspect.Filter) {
	var gone []string
	add := func(flow string) {
		if len(gone) == mostIncidentFlows || slices.Contains(x.Flows, flow) || slices.Contains(gone, flow) {
			return
		}
		if key, err := inspect.ParseFlowID(flow); err == nil && slices.ContainsFunc(filters, func(f inspect.Filter) bool { return f.Fits(&key) }) {
			gone = append(gone, flow)
		}
	}
	for _, e := range in.episodesIn(x) {
		e.eachFlow(add)
	}
	for _, p := range in.problemsIn(x) {
		eachFlow(p, add)
	}
	ways := in.lastWays(x, add)
	if in.Silent != nil {
		in.Silent(func(_ time.Time, flow string, way *inspect.Path) {
			if add(flow); slices.Contains(gone, flow) {
				ways[flow] = newPathItem(0, way.ID, way)
			}
		})
	}
	x.Flows, x.Coverage.Gone = append(x.Flows, gone...), len(gone)
	for _, flow := range gone {
		if way, known := ways[flow]; known {
			x.addPath(way)
		} else {
			x.Coverage.WithoutPath++
		}
	}
}

// lastWays are the ways at the end of the time of flows whose paths changed, as the changes of paths have them. Flows that had
// a change in the time are shown to see.
func (in *API) lastWays(x *Incident, see func(flow string)) map[string]PathItem {
	ways, known := map[string]PathItem{}, map[string]bool{}
	if in.Changes == nil {
		return ways
	}
	in.Changes(func(at time.Time, flows []string, from, to *inspect.Path) bool {
		way := to
		if at.After(x.To) {
			way = from
		}
		for _, flow := range flows {
			if !at.After(x.To) && !at.Before(x.From) {
				see(flow)
			}
			if !known[flow] {
				ways[flow], known[flow] = newPathItem(0, way.ID, way), !at.After(x.To)
			}
		}
		return true
	})
	return ways
}

// episodesIn are the episodes in the time.
func (in *API) episodesIn(x *Incident) (all []*EpisodeItem) {
	b := in.workers[0].Episodes()
	ended, _ := b.Ended(0)
	for _, r := range append(ended, b.Open()...) {
		e := NewEpisodeItem(&r)
		if e.Begin.After(x.To) || e.End != nil && e.End.Before(x.From) || !in.wasFull(&r) {
			continue
		}
		e.Windows = nil
		all = append(all, e)
	}
	return all
}

// wasFull reports whether the queue was fuller than usual in an episode, as far as packets told: else its node was slow.
func (in *API) wasFull(r *episode.Record) bool {
	mean, known := r.Occupancy()
	return !known || in.usualOccupancy(r.Queue).IsFuller(mean)
}

// eachFlow shows the culprits and victims of an episode.
func (e *EpisodeItem) eachFlow(see func(flow string)) {
	for _, c := range e.Culprits {
		see(c.Flow)
	}
	for _, v := range e.Victims {
		see(v.Flow)
	}
	for _, f := range e.inIt {
		see(f)
	}
}

// addEpisodes adds episodes in the time that one of the flows filled, or waited in.
func (in *API) addEpisodes(x *Incident) {
	for _, e := range in.episodesIn(x) {
		met := false
		e.eachFlow(func(flow string) { met = met || slices.Contains(x.Flows, flow) })
		if met && len(x.Episodes) < maxLimit {
			x.Episodes = append(x.Episodes, e)
		}
	}
}

// problemsIn are the problems that were in the time.
func (in *API) problemsIn(x *Incident) (all []*problem.Problem) {
	if in.Problems == nil {
		return nil
	}
	for _, p := range in.Problems() {
		if !p.Since.After(x.To) && (p.Until == nil || !p.Until.Before(x.From)) {
			all = append(all, p)
		}
	}
	return all
}

// eachFlow shows the flows that a problem names.
func eachFlow(p *problem.Problem, see func(flow string)) {
	for _, flow := range p.Evidence.Flows {
		see(flow)
	}
	for _, c := range p.Evidence.Culprits {
		see(c.Flow)
	}
	for _, v := range p.Evidence.Victims {
		see(v.Flow)
	}
}

// names reports whether a problem names one of the flows.
func (x *Incident) names(p *problem.Problem) (named bool) {
	eachFlow(p, func(flow string) { named = named || slices.Contains(x.Flows, flow) })
	return named
}

// addProblems adds the problems that were in the time, at a node of the paths or from one node of a path to a later one, those
// that name one of the flows, and those of nodes that one of them left for another way.
func (in *API) addProblems(x *Incident) {
	for _, p := range in.problemsIn(x) {
		named, passed := x.names(p), x.passes(p.Place)
		leaves := (p.Kind == problem.NodeGone || p.Kind == problem.PathChanged) && len(x.leavers(p)) > 0
		if named && len(p.Place) > 0 || passed || leaves {
			x.Problems = append(x.Problems, p)
		}
		if p.Kind == problem.LossBetween { // where the ways have nothing in common it has no place, and names only some of its flows
			x.lossNow = x.lossNow || named || passed || len(p.Place) == 0 && len(p.Evidence.Flows) >= problem.MostFlows
		}
	}
}

// crosses reports whether some path passes a place, by the interfaces that the place names as far as the path tells them.
func (x *Incident) crosses(place []problem.Part) bool {
	if !x.passes(place) || place[0].What != "node" {
		return x.passes(place)
	}
	return slices.ContainsFunc(x.Paths, func(p PathItem) bool {
		return slices.ContainsFunc(p.Nodes, func(n pathHopItem) bool {
			return fmt.Sprint(n.Node) == place[0].ID && !slices.ContainsFunc(place[1:], func(q problem.Part) bool {
				return q.What == "ingress" && n.Ingress != nil && fmt.Sprint(*n.Ingress) != q.ID || q.What == "egress" && n.Egress != nil && fmt.Sprint(*n.Egress) != q.ID
			})
		})
	})
}

// passes reports whether some path has the node of a place, or goes from one to the other.
func (x *Incident) passes(place []problem.Part) bool {
	if len(place) == 0 {
		return false
	}
	for i := range x.Paths {
		at := func(p problem.Part) int {
			return slices.IndexFunc(x.Paths[i].Nodes, func(n pathHopItem) bool { return fmt.Sprint(n.Node) == p.ID })
		}
		switch first := at(place[0]); {
		case first < 0:
		case place[0].What == "node", place[0].What == "from" && len(place) > 1 && at(place[1]) >= first:
			return true
		}
	}
	return false
}
