// Moves: flows that leave a node for another way, and nodes that are gone.

package network

import (
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
	left, gained []uint32 // nodes that are on one of its ways only
}

// move takes up that a flow has another path.
func (x *Network) move(now time.Time, flow string, was, is *inspect.Path) {
	from, to := nodesOf(was), nodesOf(is)
	origin := x.comesFrom(was, now)
	x.changes.add(now, origin, flow, was, is)
	m := move{now, flow, origin, without(from, to), without(to, from)}
	if x.returns(now, m.gained) {
		m.left = nil // what it left was the way around
	}
	if len(x.moves) >= maxMoves {
		x.fewerMoves()
	}
	x.moves = append(x.moves, m)
	for _, id := range m.left {
		if n := x.node(id); n != nil {
			n.leftLast, n.from, n.to = now, text(from), text(to)
		}
	}
	for _, id := range m.gained {
		if n := x.node(id); n != nil {
			n.cameLast = now
		}
	}
	for _, id := range to {
		if n := x.node(id); n != nil {
			n.sight(now)
		}
	}
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

// returns takes up that a flow comes to these nodes, and reports whether flows have left one of them lately: then it goes back
// to where it was. When half of them have, it is over that they left.
func (x *Network) returns(now time.Time, gained []uint32) (back bool) {
	for _, id := range gained {
		n := x.nodes[id]
		if n == nil || !n.gone && (n.movedLast.IsZero() || now.Sub(n.movedLast) > 2*quiet) {
			continue
		}
		back = true
		if n.back++; 2*n.back >= n.movedFlows {
			n.movedLast, n.movedFlows, n.back = time.Time{}, 0, 0
		}
	}
	return back
}

// without returns the elements of a that b has not.
func without(a, b []uint32) (rest []uint32) {
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

// balance finds the nodes that flows leave, and fewer come to than chance explains: flows that change between ways of
// equal cost come and go alike. The caller holds x.mu.
func (x *Network) balance(now time.Time) {
	x.moves = slices.DeleteFunc(x.moves, func(m move) bool { return now.Sub(m.at) > window })
	left, gained := map[uint32]map[string]bool{}, map[uint32]map[string]bool{}
	for i := range x.moves {
		m := &x.moves[i]
		for _, id := range m.left {
			put(left, id, m.flow)
		}
		for _, id := range m.gained {
			put(gained, id, m.flow)
		}
	}
	for id, flows := range left {
		n, out, in := x.nodes[id], float64(len(flows)), float64(len(gained[id]))
		if n == nil || out < fewMoves || out-in < 3*math.Sqrt(out+in) {
			continue
		}
		if now.Sub(n.movedLast) > 2*quiet {
			n.movedSince, n.moved, n.movedFlows, n.back = now, nil, 0, 0
		}
		n.movedLast, n.movedFlows = now, max(n.movedFlows, len(flows))
		for flow := range flows {
			if len(n.moved) < maxFlows && !slices.Contains(n.moved, flow) {
				n.moved = append(n.moved, flow)
			}
		}
		slices.Sort(n.moved)
	}
}

func put(m map[uint32]map[string]bool, id uint32, flow string) {
	if m[id] == nil {
		m[id] = map[string]bool{}
	}
	m[id][flow] = true
}

// missing finds the nodes that are gone: flows left them, they are not seen any more, and a neighbour is. A node that is
// seen again is not. The caller holds x.mu.
func (x *Network) missing(now time.Time) {
	for _, n := range x.nodes {
		unseen := now.Sub(n.seen)
		switch {
		case n.gone && unseen <= goneFor: // back: that flows left it was a part of that
			n.gone, n.movedLast, n.movedFlows, n.back = false, time.Time{}, 0, 0
		case n.gone:
		case n.sights < 3 || unseen <= max(goneFor, gapTimes*n.gap) || !n.deserted(now):
		default:
			n.gone = x.neighbourSeen(n, now)
		}
	}
}

// deserted tells whether flows left n about when it was last seen, and none had come to it shortly before, as flows do that
// change between ways of equal cost.
func (n *node) deserted(now time.Time) bool {
	return now.Sub(n.leftLast) <= leftFor && !n.leftLast.Before(n.seen.Add(-goneFor)) && n.leftLast.Sub(n.cameLast) >= window
}

func (x *Network) neighbourSeen(n *node, now time.Time) bool {
	for id := range n.next {
		if m := x.nodes[id]; m != nil && now.Sub(m.seen) <= nearby {
			return true
		}
	}
	return false
}
