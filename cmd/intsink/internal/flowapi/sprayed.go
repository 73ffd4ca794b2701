// Flows that are sprayed over several paths, in answers about flows.

package flowapi

import (
	"intsink/cmd/internal/cli"
	"intsink/engine/aside/inspect"
)

// SprayItem is over how many paths the packets of a flow are sprayed.
type SprayItem struct {
	Paths int  `json:"paths"`
	More  bool `json:"more"` // there are more, which it does not remember
}

// String says how many.
func (s *SprayItem) String() string {
	if s.More {
		return "more than " + cli.Count(s.Paths, "path")
	}
	return cli.Count(s.Paths, "path")
}

// newSprayItem returns nil for a flow that stays on one path.
func newSprayItem(f *inspect.Flow) *SprayItem {
	if !f.Sprayed {
		return nil
	}
	return &SprayItem{int(f.NumPaths), f.MorePaths}
}

// addWays adds the paths of a flow: of one that is sprayed all that it knows, else the current one, and what it left for that.
func (x *Incident) addWays(worker int, asked int64, flow *inspect.Flow, known map[uint64]*inspect.Path) {
	s := newSprayItem(flow)
	if s == nil {
		x.addPath(newPathItem(worker, flow.Paths[0].Hash, known[flow.Paths[0].Hash]))
		x.addLeft(asked, flow, known)
		return
	}
	for _, p := range flow.Paths[:flow.NumPaths] {
		if way := known[p.Hash]; way != nil {
			x.addPath(newPathItem(worker, p.Hash, way))
		}
	}
	if x.sprayed[inspect.FlowID(&flow.Key)] = true; s.Paths >= x.widest.Paths {
		x.widest = SprayItem{s.Paths, s.More || s.Paths == x.widest.Paths && x.widest.More}
	}
}

// saySprayed says how many of the flows are sprayed.
func (x *Incident) saySprayed() {
	if n := len(x.sprayed); n > 0 {
		x.say("packets of %d of these flows are sprayed, of one over %v; all paths that are known are looked at", n, &x.widest)
	}
}
