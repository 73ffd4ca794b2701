// Segments that take longer than usual: one problem for those that have a node in common, for a segment that comes and goes, and
// where nearly all are slow.

package network

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/usual"
)

// lineFor is how long one segment of a group has to be slow: less is no problem yet.
const lineFor = time.Duration(usual.LineFor)

// slowGroup is segments that are slow together.
type slowGroup struct {
	number uint64 // which problem they are
	pairs  [][2]uint32
	since  time.Time // of the oldest
	last   time.Time // when they were slow last
}

// slowSegments lists segments that take longer than usual. A wrong clock is a problem of its own: the segments of its node are none. The
// caller holds x.mu.
func (x *Network) slowSegments(k *Known, now time.Time) (all []problem.Sign) {
	var slow []usual.Slow
	for _, s := range k.Slow {
		if p := pairOf(&s); s.Kind == usual.Segment && (k.Believes == nil || k.Believes(p[0], p[1])) {
			slow = append(slow, s)
		}
	}
	x.slow = slices.DeleteFunc(x.slow, func(g slowGroup) bool { return now.Sub(g.last) > problem.AgainWithin })
	if s := x.segmentsEverywhere(slow, k.Segments, now); s != nil {
		return []problem.Sign{*s}
	}
	slices.SortStableFunc(slow, func(a, b usual.Slow) int { return x.elder(x.younger(&a), x.younger(&b)) })
	grows := segmentsGrow(slow, k.Segments, now)
	taken := map[uint64]bool{}
	for len(slow) > 0 {
		var together []usual.Slow
		together, slow = star(slow, k.Segments)
		together = x.knownOf(together, now)
		if _, since := worstSegment(together); now.UnixNano()-since < int64(lineFor) || grows && !x.isTold(together, now) {
			continue
		}
		if len(all) == maxOfKind {
			x.cutOff(problem.SlowSegment, len(slow)+len(together))
			break
		}
		g := x.groupOf(together, taken, now)
		taken[g.number] = true
		s := x.slowSegment(g, together)
		s.Known = x.isKnown(x.younger(&together[0]), now)
		all = append(all, s)
	}
	return all
}

// segmentsGrow reports whether it is waited for more segments to become slow.
func segmentsGrow(slow []usual.Slow, used []usual.Sight, now time.Time) bool {
	last := int64(0)
	for i := range slow {
		last = max(last, slow[i].Since)
	}
	of := len(segmentsOf(used))
	return of > 0 && grow(len(pairsOf(slow)), of, last, now)
}

// isTold reports whether one of these segments is of a problem that is open.
func (x *Network) isTold(all []usual.Slow, now time.Time) bool {
	return slices.ContainsFunc(x.slow, func(g slowGroup) bool {
		return now.Sub(g.last) <= settle && slices.ContainsFunc(all, func(s usual.Slow) bool { return slices.Contains(g.pairs, pairOf(&s)) })
	})
}

// segmentsEverywhere is the sign that nearly all segments are slow; nil: they are not.
func (x *Network) segmentsEverywhere(slow []usual.Slow, used []usual.Sight, now time.Time) *problem.Sign {
	of, pairs := len(segmentsOf(used)), pairsOf(slow)
	if _, ok := commonNode(pairs); ok && x.linesEverywhere.last.IsZero() || !x.linesEverywhere.holds(len(pairs), of, now) {
		return nil
	}
	worst, since := worstSegment(slow)
	if now.UnixNano()-since < int64(lineFor) {
		return nil
	}
	known := 0
	for i := range slow {
		if x.isKnown(x.younger(&slow[i]), now) {
			known++
		}
	}
	return &problem.Sign{
		Kind: problem.SlowSegment, Key: "segments everywhere", Subject: "network", What: "packets take longer than usual between nearly all nodes", Over: "packets get from node to node as usual again",
		Value: new(float64(worst.Latency)), Usual: usually(worst.Usual), Unit: "ns", Since: time.Unix(0, since), Settle: settle, Known: 2*known > len(slow),
		Evidence: problem.Evidence{Flows: x.slowed(time.Unix(0, since).Add(-time.Second)), Why: fmt.Sprintf("%d of the %d segments that packets pass are slow", len(pairs), max(of, len(pairs)))},
		Todo:     "look at what all segments have in common: what carries the lines, the source of the nodes' time, a load from the edge",
	}
}

// segmentsOf are the pairs of neighbours between which packets passed lately.
func segmentsOf(used []usual.Sight) map[[2]uint32]bool {
	all := map[[2]uint32]bool{}
	for i := range used {
		all[pairOf(&usual.Slow{Place: used[i].Place})] = true
	}
	return all
}

// knownOf leaves the segments out that made-up nodes joined to others, whose nodes are known.
func (x *Network) knownOf(together []usual.Slow, now time.Time) []usual.Slow {
	strange := func(s usual.Slow) bool { return !x.isKnown(x.younger(&s), now) }
	if known := slices.DeleteFunc(slices.Clone(together), strange); len(known) > 0 {
		return known
	}
	return together
}

// younger is the node of a segment that has been known for less long.
func (x *Network) younger(s *usual.Slow) uint32 {
	p := pairOf(s)
	if x.elder(p[0], p[1]) > 0 {
		return p[0]
	}
	return p[1]
}

func pairOf(s *usual.Slow) [2]uint32 {
	return [2]uint32{uint32(s.Key[0] >> 32), uint32(s.Key[1] >> 32)}
}

// connected takes the first of all, and those that have a node in common with one that is taken.
func connected(all []usual.Slow) (taken, rest []usual.Slow) {
	nodes := map[uint32]bool{}
	take := func(s *usual.Slow) {
		p := pairOf(s)
		nodes[p[0]], nodes[p[1]] = true, true
		taken = append(taken, *s)
	}
	take(&all[0])
	rest = slices.Clone(all[1:])
	for grown := true; grown; {
		grown = false
		rest = slices.DeleteFunc(rest, func(s usual.Slow) bool {
			p := pairOf(&s)
			if !nodes[p[0]] && !nodes[p[1]] {
				return false
			}
			take(&s)
			grown = true
			return true
		})
	}
	return taken, rest
}

// star divides connected slow segments into the segments of one node, and the rest. A node that all have in common comes first. Without
// one, it is the node with the largest share of its segments slow; of several such nodes, the node with the most slow segments.
func star(all []usual.Slow, used []usual.Sight) (taken, rest []usual.Slow) {
	taken, rest = connected(all)
	if _, ok := commonNode(pairsOf(taken)); ok || len(taken) == 1 {
		return taken, rest
	}
	slow, of := map[uint32]int{}, map[uint32]int{}
	segments := segmentsOf(used)
	for i := range taken {
		segments[pairOf(&taken[i])] = true
	}
	for p := range segments {
		isSlow := slices.ContainsFunc(taken, func(s usual.Slow) bool { return pairOf(&s) == p })
		for _, node := range p {
			if of[node]++; isSlow {
				slow[node]++
			}
		}
	}
	best := slices.MaxFunc(sortedKeys(slow), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(min(slow[a], 2), min(slow[b], 2)), cmp.Compare(slow[a]*of[b], slow[b]*of[a]), cmp.Compare(slow[a], slow[b]))
	})
	passes := func(s usual.Slow) bool { p := pairOf(&s); return slices.Contains(p[:], best) }
	rest = append(slices.DeleteFunc(slices.Clone(taken), passes), rest...)
	return slices.DeleteFunc(taken, func(s usual.Slow) bool { return !passes(s) }), rest
}

// groupOf is the group that has most of these segments, had one at a look of late, and is none of taken; or a new one. What is well for
// as long as a problem settles begins anew with those that are slow then.
func (x *Network) groupOf(all []usual.Slow, taken map[uint64]bool, now time.Time) *slowGroup {
	var g *slowGroup
	most := 0
	for i := range x.slow {
		n := 0
		for k := range all {
			if slices.Contains(x.slow[i].pairs, pairOf(&all[k])) {
				n++
			}
		}
		if n > most && !taken[x.slow[i].number] {
			g, most = &x.slow[i], n
		}
	}
	_, since := worstSegment(all)
	if g == nil {
		x.group++
		x.slow = append(x.slow, slowGroup{number: x.group})
		g = &x.slow[len(x.slow)-1]
	}
	if now.Sub(g.last) > settle {
		g.pairs, g.since = nil, time.Unix(0, since)
	}
	for i := range all {
		if p := pairOf(&all[i]); !slices.Contains(g.pairs, p) && len(g.pairs) < maxWays {
			g.pairs = append(g.pairs, p)
		}
	}
	g.last = now
	return g
}

// worstSegment is the segment that takes most times what is usual, and when the oldest began to be slow.
func worstSegment(all []usual.Slow) (worst usual.Slow, since int64) {
	times := func(s *usual.Slow) float64 { return float64(s.Latency) / float64(max(s.Usual.Median, 1)) }
	for i := range all {
		if s := &all[i]; i == 0 || times(s) > times(&worst) {
			worst = *s
		}
		if since == 0 || all[i].Since < since {
			since = all[i].Since
		}
	}
	return worst, since
}

// slowSegment returns the sign of group g. all are the segments of g that are slow now.
func (x *Network) slowSegment(g *slowGroup, all []usual.Slow) problem.Sign {
	worst, _ := worstSegment(all)
	p := pairOf(&worst)
	s := problem.Sign{
		Kind: problem.SlowSegment, Key: fmt.Sprintf("segments %d", g.number), Subject: "network", What: "packets take longer between the nodes than usual", Over: "packets get from node to node as usual again",
		Place: place("from", p[0], "to", p[1]), Value: new(float64(worst.Latency)), Usual: usually(worst.Usual), Unit: "ns", Since: g.since, Settle: settle,
		Evidence: problem.Evidence{Flows: x.slowed(g.since.Add(-time.Second), p[0], p[1])},
		Todo:     "look at what lies between the nodes: the line, what it is carried by, the clocks of both",
	}
	pairs := g.pairs
	node, ok := commonNode(pairs)
	if !ok {
		pairs = pairsOf(all)
		node, ok = commonNode(pairs)
	}
	if ok {
		s.Place, s.What = place("node", node), "packets take longer to it, or from it, than usual"
		s.Evidence.Flows, s.Evidence.Why = x.slowed(g.since.Add(-time.Second), node), fmt.Sprintf("%d segments of the node are slow", len(pairs))
		s.Todo = "look at the node: where it does not tell how long packets stay in it, that is in the time to the next one; then at its clock and lines"
	}
	return s
}

// pairsOf are the nodes of these segments: two lines between the same nodes are one pair.
func pairsOf(all []usual.Slow) (pairs [][2]uint32) {
	for i := range all {
		if p := pairOf(&all[i]); !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// commonNode is the node that all pairs have, of three nodes at least: what lies between two is no node.
func commonNode(pairs [][2]uint32) (node uint32, ok bool) {
	if len(pairs) < 2 || !slices.ContainsFunc(pairs, func(p [2]uint32) bool {
		return !slices.Contains(pairs[0][:], p[0]) || !slices.Contains(pairs[0][:], p[1])
	}) {
		return 0, false
	}
	for _, node := range pairs[0] {
		if !slices.ContainsFunc(pairs, func(p [2]uint32) bool { return !slices.Contains(p[:], node) }) {
			return node, true
		}
	}
	return 0, false
}
