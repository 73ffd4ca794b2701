// Clocks: one problem for each node whose clock is wrong; one for nodes that disagree where nothing tells whose it is.

package network

import (
	"fmt"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/clock"
)

// Clocks are what was judged of clocks.
type Clocks struct {
	Wrong    []clock.Verdict
	Apart    []clock.Disagreement // pairs of neighbours whose clocks disagree, where nothing tells which of both is wrong
	Compared map[uint32]int       // with how many neighbours' each node's clock was, lately
}

// mostClocks is how many clocks are problems of their own: where more are wrong, what they follow is.
const mostClocks = 8

// signs are the clocks that are wrong; isKnown tells whether a node has been there for long.
func (c *Clocks) signs(isKnown func(uint32) bool) (all []problem.Sign) {
	if len(c.Wrong) > mostClocks {
		v, since := &c.Wrong[0], c.Wrong[0].Since
		for i := range c.Wrong {
			if w := &c.Wrong[i]; abs(w.Offset) > abs(v.Offset) {
				v = w
			}
			since = min(since, c.Wrong[i].Since)
		}
		s := clockSign("clocks", v.Offset, since)
		s.Evidence.Why = fmt.Sprintf("%d clocks are wrong, that of node %d by most", len(c.Wrong), v.Node)
		s.Todo = "look at what these clocks have in common: their time source, and the way to it"
		return append(all, s)
	}
	for i := range c.Wrong {
		v := &c.Wrong[i]
		s := clockSign(fmt.Sprintf("clock %d", v.Node), v.Offset, v.Since)
		s.Place, s.Evidence.Why, s.Known = place("node", v.Node), clockText(v), isKnown(v.Node)
		all = append(all, s)
	}
	if len(c.Apart) == 0 {
		return all
	}
	worst, since := &c.Apart[0], c.Apart[0].Since
	for i := range c.Apart {
		if x := &c.Apart[i]; x.Ns < worst.Ns {
			worst = x
		}
		since = min(since, c.Apart[i].Since)
	}
	s := clockSign("clocks apart", worst.Ns, since)
	s.Evidence.Why = fmt.Sprintf("packets seem to reach node %d before they leave node %d; whose clock it is, nothing tells", worst.To, worst.From)
	if len(c.Apart) == 1 {
		s.Place = place("from", worst.From, "to", worst.To)
	} else {
		s.Evidence.Why += fmt.Sprintf("; so it is on %d segments", len(c.Apart))
	}
	return append(all, s)
}

// states are the clocks of nodes in JSON.
func (c *Clocks) states() map[uint32]clockState {
	all := map[uint32]clockState{}
	for node, n := range c.Compared {
		all[node] = clockState{Clock: "right", Neighbours: n}
	}
	for i := range c.Apart {
		a := &c.Apart[i]
		for _, node := range [...]uint32{a.From, a.To} {
			all[node] = clockState{Clock: "disputed", OffNs: max(abs(a.Ns), all[node].OffNs), Neighbours: c.Compared[node], Since: clockSince(a.Since)}
		}
	}
	for i := range c.Wrong {
		v := &c.Wrong[i]
		s := clockState{Clock: "ahead", OffNs: abs(v.Offset), DriftNs: v.Drift, Neighbours: v.Pairs, Since: clockSince(v.Since)}
		if v.Offset < 0 {
			s.Clock = "behind"
		}
		all[v.Node] = s
	}
	return all
}

func clockSince(ns int64) *time.Time { return new(time.Unix(0, ns).UTC()) }

func clockSign(key string, offset, since int64) problem.Sign {
	return problem.Sign{
		Kind: problem.ClockWrong, Key: key, Subject: "clocks", What: "its clock is not that of its neighbours: nothing is concluded from segments to and from it", Over: "the clock is right again",
		Value: new(float64(abs(offset))), Unit: "ns", Since: time.Unix(0, since), Settle: settle,
		Todo: "look at ptp4l or chronyd of the node, at its time source, and at the scale: TAI is 37 s ahead of UTC",
	}
}

// clockText says which way a clock is off, and whether that grows.
func clockText(v *clock.Verdict) string {
	way := "ahead"
	if v.Offset < 0 {
		way = "behind"
	}
	text := fmt.Sprintf("%s %s, by %d neighbours", problem.Latency(float64(abs(v.Offset))), way, v.Pairs)
	if abs(v.Drift)*10 > abs(v.Offset)/10 {
		text += fmt.Sprintf("; it drifts by %s a second", problem.Latency(float64(abs(v.Drift))))
	}
	return text
}

func abs(x int64) int64 { return max(x, -x) }
