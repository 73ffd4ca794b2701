// Which nodes the flows of an incident left for another way, and when: as each flow has its last ways, and as the changes of
// paths have it.

package flowapi

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/flows"
)

// departure is a flow that left a node for another way.
type departure struct {
	flow     string
	node     uint32
	at       time.Time // of the last packet on the old way
	from, to string    // nodes of both ways
}

// addLeft adds which nodes a flow of the table has left: it remembers the ways that it took.
func (x *Incident) addLeft(asked int64, flow *inspect.Flow, known map[uint64]*inspect.Path) {
	now := known[flow.Paths[0].Hash]
	for _, p := range flow.Paths[1:flow.NumPaths] {
		if was := known[p.Hash]; was != nil {
			x.leave(inspect.FlowID(&flow.Key), timestamp(flows.SinceLong(asked, p.Seen())), was, now)
		}
	}
}

// leave adds the nodes that are on one way only.
func (x *Incident) leave(flow string, at time.Time, from, to *inspect.Path) {
	for _, h := range from.Known() {
		has := func(d departure) bool { return d.flow == flow && d.node == h.Node }
		if !on(to, h.Node) && !slices.ContainsFunc(x.left, has) {
			x.left = append(x.left, departure{flow, h.Node, at, wayText(from), wayText(to)})
		}
	}
}

func on(way *inspect.Path, node uint32) bool {
	return slices.ContainsFunc(way.Known(), func(h inspect.PathHop) bool { return h.Node == node })
}

func wayText(way *inspect.Path) (text string) {
	for i, h := range way.Known() {
		if i > 0 {
			text += " > "
		}
		text += fmt.Sprint(h.Node)
	}
	return text
}

// addDepartures adds what the changes of paths know of these flows.
func (in *API) addDepartures(x *Incident) {
	if in.Changes == nil {
		return
	}
	these := make(map[string]bool, len(x.Flows))
	for _, flow := range x.Flows {
		these[flow] = !x.sprayed[flow]
	}
	in.Changes(func(at time.Time, moved []string, from, to *inspect.Path) bool {
		for _, flow := range moved {
			if these[flow] {
				x.leave(flow, at, from, to)
			}
		}
		return true
	})
}

// aboutThen is how long before a problem of a node a flow may have left it for that.
const aboutThen = time.Minute

// leavers are the flows that left the node of a problem when that began, or later.
func (x *Incident) leavers(p *problem.Problem) (all []departure) {
	if len(p.Place) == 0 {
		return nil
	}
	for _, d := range x.left {
		id := strconv.FormatUint(uint64(d.node), 10)
		if (id == p.Place[0].ID || p.Place[0].What == "from" && id == p.Place[1].ID) && !d.at.Before(p.Since.Add(-aboutThen)) && (p.Until == nil || !d.at.After(*p.Until)) {
			all = append(all, d)
		}
	}
	return all
}

// goneText says since when a node is gone, or when it was, and how many of the flows left it.
func (x *Incident) goneText(p *problem.Problem) string {
	if p.Until != nil {
		return fmt.Sprintf("%s was gone from %s to %s%s", p.Where(), p.Since.UTC().Format(clock), p.Until.UTC().Format(clock), x.leftText(p))
	}
	return fmt.Sprintf("%s is gone: the last packet came through it at %s%s", p.Where(), p.Since.UTC().Format(clock), x.leftText(p))
}

// leftText says how many of the flows left the node of a problem, and how one of them went.
func (x *Incident) leftText(p *problem.Problem) string {
	all := x.leavers(p)
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of these flows left it, for example from %s to %s", len(all), all[0].from, all[0].to)
}
