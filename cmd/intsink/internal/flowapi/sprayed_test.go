package flowapi

import (
	"slices"
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/flows"
)

// TestSprayedFlowInAnIncident: all paths of a sprayed flow that are known are looked at, and none is one that it left.
func TestSprayedFlowInAnIncident(t *testing.T) {
	known := map[uint64]*inspect.Path{}
	for n := range uint64(3) {
		known[n] = &inspect.Path{ID: n, Hops: 2}
		known[n].Way[0].Node, known[n].Way[1].Node = 101, uint32(201+n)
	}
	for _, c := range []struct {
		sprayed, more bool
		paths, left   int
		why           []string
	}{
		{false, false, 1, 2, []string{}},
		{true, false, 3, 0, []string{"packets of 1 of these flows are sprayed, of one over 4 paths; all paths that are known are looked at"}},
		{true, true, 3, 0, []string{"packets of 1 of these flows are sprayed, of one over more than 4 paths; all paths that are known are looked at"}},
	} {
		x := &Incident{Why: []string{}, sprayed: map[string]bool{}}
		f := &inspect.Flow{NumPaths: 4, Sprayed: c.sprayed, MorePaths: c.more}
		for n := range uint64(4) {
			f.Paths[n] = flows.LeftPath(n, 1, 0)
		}
		x.addWays(0, 2<<20, f, known)
		if x.saySprayed(); len(x.Paths) != c.paths || len(x.left) != c.left || !slices.Equal(x.Why, c.why) {
			t.Errorf("sprayed %v: %d paths, %d left, %q", c.sprayed, len(x.Paths), len(x.left), x.Why)
		}
	}
}
