// Standing: how long each node has been known, which of what is wrong has room as a sign, which node goes where there are too many.

package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/problem"
)

// Whoever sends packets makes nodes up. A node is known once it has been there for knownAfter and was seen at knownSights looks.
const (
	knownAfter  = time.Minute
	knownSights = 20
)

// A new node takes the place of another one once it was seen at so many looks, none of them patience apart.
const (
	sightsToStay = 3
	patience     = 4 * time.Second
)

// isKnown reports whether a node has been there for long.
func (x *Network) isKnown(id uint32, now time.Time) bool {
	n := x.nodes[id]
	return n != nil && n.sights >= knownSights && now.Sub(n.first) >= knownAfter
}

// areKnown reports whether all nodes of a way are known.
func (x *Network) areKnown(way []uint32, now time.Time) bool {
	return len(way) > 0 && !slices.ContainsFunc(way, func(id uint32) bool { return !x.isKnown(id, now) })
}

// newcomer is a node that there is no room for.
type newcomer struct {
	last   time.Time
	sights int
}

// newcomers takes up nodes that there was no room for at their sights, and lets those stay that were seen again and again: each in
// the place of the node that was seen at the fewest looks. The caller holds x.mu.
func (x *Network) newcomersSeen(sights map[uint32]time.Time, now time.Time) {
	was := x.newcomers
	x.newcomers = map[uint32]newcomer{}
	for id, c := range was {
		if now.Sub(c.last) < patience {
			x.newcomers[id] = c
		}
	}
	for _, id := range sortedKeys(sights) {
		at := sights[id]
		if c := was[id]; x.nodes[id] == nil && at.After(c.last) && now.Sub(at) < patience {
			x.newcomers[id] = newcomer{at, c.sights + 1}
		}
	}
	x.left = uint64(len(x.newcomers))
	var stay []uint32
	for _, id := range sortedKeys(x.newcomers) {
		if x.newcomers[id].sights >= sightsToStay {
			stay = append(stay, id)
		}
	}
	if len(stay) == 0 {
		return
	}
	least := x.ids()
	slices.SortStableFunc(least, func(a, b uint32) int { return cmp.Compare(x.nodes[a].worth(now), x.nodes[b].worth(now)) })
	for i, id := range stay[:min(len(stay), len(least)/8)] {
		x.drop(least[i])
		n := x.node(id)
		n.sight(x.newcomers[id].last)
		n.sights, n.stayed = sightsToStay, now
		delete(x.newcomers, id)
	}
}

// worth is at how many looks a node was seen. One that has just got the place of another one keeps it for a while: else newcomers
// would take each other's.
func (n *node) worth(now time.Time) int {
	if now.Sub(n.stayed) < knownAfter {
		return math.MaxInt
	}
	return n.sights
}

// drop forgets a node. The caller holds x.mu.
func (x *Network) drop(id uint32) {
	for other := range x.nodes[id].next {
		if m := x.nodes[other]; m != nil {
			delete(m.next, id)
		}
	}
	delete(x.nodes, id)
}

// found is something that is wrong, before it is a sign.
type found struct {
	node   uint32 // of its place
	weight uint64 // traffic that shows it, in a unit of its kind
	sign   func() problem.Sign
}

// maxOfKind is how many signs there are of one kind: half of them of the nodes that have been known for longest, half of those
// that most traffic shows.
const maxOfKind = 64

// choose makes signs of all that is found of a kind, or of as many as there is room for. The caller holds x.mu.
func (x *Network) choose(kind problem.Kind, all []found, now time.Time) (signs []problem.Sign) {
	if len(all) > maxOfKind {
		x.cutOff(kind, len(all)-maxOfKind)
		all = x.most(all)
	}
	for i := range all {
		s := all[i].sign()
		s.Known = x.isKnown(all[i].node, now)
		signs = append(signs, s)
	}
	return signs
}

func (x *Network) cutOff(kind problem.Kind, n int) {
	if x.cut == nil {
		x.cut = map[problem.Kind]int{}
	}
	x.cut[kind] += n
}

// most are those of all that there is room for, in their order.
func (x *Network) most(all []found) (kept []found) {
	rank := make([]int, len(all))
	for i := range rank {
		rank[i] = i
	}
	slices.SortStableFunc(rank, func(a, b int) int { return x.elder(all[a].node, all[b].node) })
	slices.SortStableFunc(rank[maxOfKind/2:], func(a, b int) int { return cmp.Compare(all[b].weight, all[a].weight) })
	slices.Sort(rank[:maxOfKind])
	for _, i := range rank[:maxOfKind] {
		kept = append(kept, all[i])
	}
	return kept
}

// elder compares nodes by how long they have been known, those that were seen at few looks last.
func (x *Network) elder(a, b uint32) int {
	m, n := x.nodes[a], x.nodes[b]
	switch {
	case m == nil && n == nil:
		return 0
	case m == nil:
		return 1
	case n == nil:
		return -1
	}
	return cmp.Or(cmp.Compare(min(n.sights, knownSights), min(m.sights, knownSights)), m.first.Compare(n.first), cmp.Compare(n.sights, m.sights))
}

// more is the sign that there was no room for all.
func (x *Network) more() []problem.Sign {
	if len(x.cut) == 0 {
		return nil
	}
	var why []string
	n := 0
	for k, of := range x.cut {
		n += of
		why = append(why, fmt.Sprintf("%s %d", k, of))
	}
	slices.Sort(why)
	return []problem.Sign{problem.More(problem.OfNetwork, n, strings.Join(why, ", "))}
}
