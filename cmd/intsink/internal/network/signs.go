// Signs of the network, for package problem.

package network

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/flows"
)

// settle is how long what is found has to be well before it is over.
const settle = 5 * time.Second

// Look takes up what the workers know now, and lists what is wrong.
func (x *Network) Look(tables []*inspect.PendingQuery, k *Known, now time.Time) (all []problem.Sign) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.look(tables, k, now)
	x.latency.forget(now)
	x.strange.forget(now)
	x.crowded = x.crowds()
	x.silent(now)
	x.balance(now)
	x.missing(now)
	x.cut = nil
	all = append(x.silentSigns(now), x.nodeSigns(now)...)
	all = append(all, x.loops(tables, now)...)
	full, slow := x.queues(tables, k, now)
	all = append(append(all, full...), x.busy(k, now)...)
	slowNow := append(x.slowHops(k, slow, now), x.slowSegments(k, now)...)
	x.keepWaiting(slowNow)
	all = append(all, slowNow...)
	all = append(all, x.usualChanged(k, now)...)
	x.clocks = k.Clocks.states()
	all = append(all, k.Clocks.signs(func(id uint32) bool { return x.isKnown(id, now) })...)
	all = append(all, x.twice(k.Own, now)...)
	return append(append(all, x.happened(now)...), x.more()...)
}

// twice is the sign of a node that has the sink's own id. The caller holds x.mu.
func (x *Network) twice(own uint32, now time.Time) []problem.Sign {
	n := x.nodes[own]
	if own == 0 || n == nil || now.Sub(n.seen) > hopLately {
		return nil
	}
	return []problem.Sign{{
		Kind: problem.NodeIDTwice, Key: "own node id", Subject: "network", Place: place("node", own), What: "packets pass a node that has the sink's own id", Over: "no packet passes it any more",
		Since: n.first, Seen: n.seen, Settle: settle, Known: x.isKnown(own, now), Todo: "give the sink an id that no node has: node { id }, which takes a restart",
	}}
}

// nodeSigns are of nodes that are gone, and those that flows leave.
func (x *Network) nodeSigns(now time.Time) []problem.Sign {
	var gone, left []found
	for _, id := range x.ids() {
		n := x.nodes[id]
		for _, s := range n.signs(id, now) {
			f := found{id, uint64(n.movedFlows), func() problem.Sign { return s }}
			if s.Kind == problem.NodeGone {
				gone = append(gone, f)
			} else {
				left = append(left, f)
			}
		}
	}
	for s, n := range x.links {
		if n.movedLast.IsZero() || now.Sub(n.movedLast) > 2*quiet {
			if now.Sub(n.leftLast) > leftFor && (n.away == 0 || len(x.links) > maxMoves/2 || now.Sub(n.leftLast) > forget) {
				delete(x.links, s)
			}
			continue
		}
		left = append(left, found{s.from, uint64(n.movedFlows), func() problem.Sign { return n.leftSign(s) }})
	}
	slices.SortStableFunc(left, func(a, b found) int { return cmp.Compare(a.node, b.node) })
	return append(x.choose(problem.NodeGone, gone, now), x.choose(problem.PathChanged, left, now)...)
}

// Nodes is how many nodes are known.
func (x *Network) Nodes() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.nodes)
}

func place(parts ...any) (all []problem.Part) {
	for i := 0; i < len(parts); i += 2 {
		all = append(all, problem.Part{What: parts[i].(string), ID: fmt.Sprint(parts[i+1])})
	}
	return all
}

// signs are a node that is gone, or else one that flows leave.
func (n *node) signs(id uint32, now time.Time) []problem.Sign {
	switch {
	case n.gone:
		s := problem.Sign{
			Kind: problem.NodeGone, Key: fmt.Sprintf("node %d", id), Subject: "network", Place: place("node", id), What: "no packet comes through it any more; flows went elsewhere", Over: "packets come through the node again", Settle: settle, Since: n.seen,
			Evidence: problem.Evidence{Why: "last seen " + n.seen.UTC().Format(time.RFC3339), Flows: slices.Clone(n.moved), From: n.from, To: n.to},
			Todo:     "look at the node, and at its links to its neighbours",
		}
		if n.movedFlows > 0 {
			s.Value, s.Unit = new(float64(n.movedFlows)), "flows"
		}
		return []problem.Sign{s}
	case now.Sub(n.movedLast) <= 2*quiet && !n.movedLast.IsZero():
		return []problem.Sign{n.leftSign(spot{from: id, to: id})}
	}
	return nil
}

// leftSign is that flows left a spot.
func (n *node) leftSign(at spot) problem.Sign {
	s := problem.Sign{
		Kind: problem.PathChanged, Key: fmt.Sprintf("node %d", at.from), Subject: "network", Place: at.place(), What: "flows leave it for another way", Over: "no more flows leave it", Since: n.movedSince, Seen: n.movedLast,
		Value: new(float64(n.movedFlows)), Unit: "flows", Evidence: problem.Evidence{Flows: slices.Clone(n.moved), From: n.from, To: n.to},
		Todo: "look at the place, and at its links; the ways of now: intsink paths",
	}
	switch {
	case at.isLink:
		s.Key = "link " + at.String()
	case n.mute:
		s.What, s.Todo = "it writes no INT any more; the ways of its flows are as before without it", "look at the node's INT: its configuration, or what resets it"
	}
	return s
}

// loops are nodes that a path passes twice.
func (x *Network) loops(tables []*inspect.PendingQuery, now time.Time) []problem.Sign {
	var all []found
	seen := map[uint32]int{} // where in all the node is
	lately := map[uint64]bool{}
	for _, f := range x.followed {
		if now.Sub(time.Unix(0, f.seen)) <= 2*quiet {
			lately[f.path.ID] = true
		}
	}
	for _, q := range tables {
		for i := range q.Ways {
			way := nodesOf(&q.Ways[i].Value)
			if now.Sub(time.Unix(0, flows.Since(q.Now, q.Ways[i].Seen))) > 2*quiet && !lately[q.Ways[i].Value.ID] { // of a way that no flow came onto since, flows tell
				continue
			}
			for k, id := range way {
				if slices.Index(way, id) == k {
					continue
				}
				at, known := seen[id]
				if !known {
					at, seen[id] = len(all), len(all)
					all = append(all, found{node: id, sign: func() problem.Sign { return loopSign(id, way) }})
				}
				all[at].weight++
			}
		}
	}
	return x.choose(problem.Loop, all, now)
}

func loopSign(id uint32, way []uint32) problem.Sign {
	return problem.Sign{
		Kind: problem.Loop, Subject: "network", Place: place("node", id), What: "packets pass it twice", Over: "no more packets pass the node twice", Settle: settle,
		Evidence: problem.Evidence{To: text(way)}, Todo: "look at the routes of the nodes on this way",
	}
}

// unknown is what a node writes that has no value.
const unknown = 1<<32 - 1

// happened are losses and hop limits of the last seconds.
func (x *Network) happened(now time.Time) (all []problem.Sign) {
	if x.losses.count > 0 && !x.missedAt.IsZero() && x.losses.last.Sub(x.missedAt) <= ownLoss && x.missedAt.Sub(x.losses.last) <= ownLoss {
		x.losses = losses{} // the sink's own, which has a problem of its own
	}
	if l := &x.losses; l.count > 0 && now.Sub(l.last) <= quiet && !l.isFew(x.pace()) && x.isNotOwn(l.began) {
		s := l.sign()
		s.Known = l.known
		all = append(all, s)
	}
	if h := &x.hops; h.count > 0 && now.Sub(h.last) <= quiet {
		all = append(all, problem.Sign{
			Kind: problem.TooManyHops, Key: "hops", Subject: "network", Place: between(h.ways), What: "packets pass more hops than their INT source allows", Over: "packets pass fewer hops again", Since: h.began, Seen: h.last, Known: h.known,
			Value: new(float64(h.count)), Unit: "reports", Evidence: problem.Evidence{Flows: slices.Clone(h.flows)},
			Todo: "raise the source's Remaining Hop Count, or look for a detour",
		})
	}
	return all
}

// between is the part of the network that all ways have: its first and last node.
func between(ways [][]uint32) []problem.Part {
	if len(ways) == 0 {
		return nil
	}
	var common []uint32
	for _, n := range ways[0] {
		if !slices.ContainsFunc(ways, func(w []uint32) bool { return !slices.Contains(w, n) }) {
			common = append(common, n)
		}
	}
	if len(common) == 0 {
		return nil
	}
	return place("from", common[0], "to", common[len(common)-1])
}
