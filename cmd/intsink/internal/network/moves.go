// Moves: flows that leave a node for another way, and nodes that are gone.

package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"intsink/engine/aside/inspect"
)

const (
	window   = 10 * time.Second // in which flows that leave a node and those that come are compared
	fewMoves = 9                // fewer flows may leave a node by chance
	goneFor  = 5 * time.Second  // a node that is unseen for so long, and its neighbours are not, may be gone
	gapTimes = 3                // as many times its longest gap at least
	leftFor  = 2 * time.Minute  // flows left a node that is gone not longer before
	nearby   = 2 * time.Second  // a neighbour that was seen so lately carries traffic
)

// move is a flow that has another path.
type move struct {
	at           time.Time
	flow         string
	origin       uint32   // that it comes from, as of a change
	left, gained []spot   // that are on one of its ways only
	way          []uint32 // that it left
}

// move takes up that a flow has another path. home is the way that it was on before it began to move; nil: nobody knows.
func (x *Network) move(now time.Time, flow string, home []uint32, was, is *inspect.Path) {
	from, to := nodesOf(was), nodesOf(is)
	origin := x.comesFrom(was, now)
	x.changes.add(now, origin, flow, was, is)
	m := move{now, flow, origin, without(spotsOf(from), spotsOf(to)), without(spotsOf(to), spotsOf(from)), from}
	if x.returns(m.gained, home) {
		m.left = nil // what it left was the way around
	}
	if len(x.moves) >= maxMoves {
		x.fewerMoves()
	}
	x.moves = append(x.moves, m)
	for _, s := range m.left {
		if n := x.of(s, true); n != nil {
			n.leftLast, n.from, n.to = now, text(from), text(to)
			n.edge = s.from == from[0] || s.from == from[len(from)-1]
			n.mute = slices.Equal(to, slices.DeleteFunc(slices.Clone(from), func(id uint32) bool { return id == s.from }))
		}
	}
	for _, s := range m.gained {
		if n := x.of(s, false); n != nil {
			n.cameLast = now
		}
	}
	for _, id := range to {
		if n := x.node(id); n != nil {
			n.sight(now)
		}
	}
}

// lostFor is how long after a flow has moved its losses count for the way that it left. A loss is reported up to a second late
// (event.Loss), so in that time nearly all were lost before the move.
const lostFor = 2 * time.Second

// wayOfLoss returns the way on which a flow has lost the packets that a report of now counts. way is the flow's present one.
func (x *Network) wayOfLoss(now time.Time, flow string, way []uint32) []uint32 {
	for _, m := range slices.Backward(x.moves) {
		if m.flow == flow && now.Sub(m.at) <= lostFor {
			return m.way
		}
	}
	return way
}

// of returns what is known of flows that left a spot; nil: nothing, or there is no room.
func (x *Network) of(s spot, make bool) *node {
	if !s.isLink {
		return x.node(s.from)
	}
	n := x.links[s]
	if n == nil && make && len(x.links) < maxMoves {
		n = &node{}
		x.links[s] = n
	}
	return n
}

// fewerMoves forgets the older half of those that come from the node that most of them come from.
func (x *Network) fewerMoves() {
	of, most := map[uint32]int{}, uint32(strangers)
	for i := range x.moves {
		origin := x.moves[i].origin
		if of[origin]++; of[origin] > of[most] {
			most = origin
		}
	}
	n := (of[most] + 1) / 2
	x.moves = slices.DeleteFunc(x.moves, func(m move) bool {
		goes := m.origin == most && n > 0
		if goes {
			n--
		}
		return goes
	})
}

// returns takes up that a flow comes to these spots, and reports whether it goes back to one of its home that flows have left, be it
// hours ago. When half of them have, it is over that they left.
func (x *Network) returns(gained []spot, home []uint32) (back bool) {
	homes := spotsOf(home)
	for _, s := range gained {
		n := x.links[s]
		if !s.isLink {
			n = x.nodes[s.from]
		}
		if n == nil || n.away == 0 || home != nil && !slices.Contains(homes, s) {
			continue
		}
		back = true
		if n.away--; 2*n.away <= n.movedFlows {
			n.movedLast, n.movedFlows = time.Time{}, 0
		}
	}
	return back
}

// without returns the elements of a that b has not.
func without[T comparable](a, b []T) (rest []T) {
	for _, n := range a {
		if !slices.Contains(b, n) {
			rest = append(rest, n)
		}
	}
	return rest
}

// text is a way as people write it.
func text(way []uint32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(way), " ", " > "), "[]")
}

// balance finds the spots that flows leave, and fewer come to than chance explains: flows that change between ways of
// equal cost come and go alike. Few flows are enough where all that passed a spot have left it, and others stay where they are.
// A link that all flows share that left its node is the spot, where others pass the node still. The caller holds x.mu.
func (x *Network) balance(now time.Time) {
	x.moves = slices.DeleteFunc(x.moves, func(m move) bool { return now.Sub(m.at) > window })
	left, gained, movers := map[spot]map[string]bool{}, map[spot]map[string]bool{}, map[string]bool{}
	for i := range x.moves {
		m := &x.moves[i]
		for _, s := range m.left {
			put(left, s, m.flow)
			movers[m.flow] = true
		}
		for _, s := range m.gained {
			put(gained, s, m.flow)
		}
	}
	stay := func(s spot) int {
		if c := x.crowded[s]; c != nil {
			return len(c.flows)
		}
		return 0
	}
	var told []spot
	for s, flows := range left {
		out, in := float64(len(flows)), float64(len(gained[s]))
		others := float64(max(len(x.followed)-len(flows), 0))
		all := in == 0 && stay(s) == 0 && math.Pow((float64(len(movers))-out+1)/(others+2), out) <= byChance
		if all || out >= fewMoves && out-in >= 3*math.Sqrt(out+in) {
			told = append(told, s)
		}
	}
	slices.SortFunc(told, func(a, b spot) int {
		o := order(a) - order(b)
		if node := max(stay(a)*order(b), stay(b)*order(a)); node > 0 { // others pass the node
			o = -o
		}
		return cmp.Or(cmp.Compare(len(left[b]), len(left[a])), o, cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	explained := map[string]bool{}
	for _, s := range told {
		news := 0
		for flow := range left[s] {
			if !explained[flow] {
				news++
			}
			explained[flow] = true
		}
		if n := x.of(s, true); n != nil && 2*news > len(left[s]) {
			n.leaves(now, left[s])
		}
	}
}

// leaves takes up which flows left a spot lately.
func (n *node) leaves(now time.Time, flows map[string]bool) {
	if now.Sub(n.movedLast) > 2*quiet {
		n.movedSince, n.moved, n.movedFlows = now, nil, 0
	}
	n.away += max(len(flows)-n.movedFlows, 0)
	n.movedLast, n.movedFlows = now, max(n.movedFlows, len(flows))
	for flow := range flows {
		if len(n.moved) < maxFlows && !slices.Contains(n.moved, flow) {
			n.moved = append(n.moved, flow)
		}
	}
	slices.Sort(n.moved)
}

func put(m map[spot]map[string]bool, s spot, flow string) {
	if m[s] == nil {
		m[s] = map[string]bool{}
	}
	m[s][flow] = true
}

// missing finds the nodes that are gone: flows left them, they are not seen any more, and a neighbour is. A node that is
// seen again is not. The caller holds x.mu.
func (x *Network) missing(now time.Time) {
	for _, n := range x.nodes {
		unseen := now.Sub(n.seen)
		switch {
		case n.gone && unseen <= goneFor: // back: that flows left it was a part of that
			n.gone, n.movedLast, n.movedFlows = false, time.Time{}, 0
		case n.gone:
		case n.sights < 3 || unseen <= max(goneFor, gapTimes*n.gap) || !n.deserted(now):
		default:
			n.gone = x.neighbourSeen(n, now)
		}
	}
}

// deserted tells whether flows left n about when it was last seen, and none had come to it shortly before, as flows do that
// change between ways of equal cost. Hosts that move leave the ends of their ways, and a node that writes no INT is on the way still.
func (n *node) deserted(now time.Time) bool {
	return !n.edge && !n.mute && now.Sub(n.leftLast) <= leftFor && !n.leftLast.Before(n.seen.Add(-goneFor)) && n.leftLast.Sub(n.cameLast) >= window
}

func (x *Network) neighbourSeen(n *node, now time.Time) bool {
	for id := range n.next {
		if m := x.nodes[id]; m != nil && now.Sub(m.seen) <= nearby {
			return true
		}
	}
	return false
}
