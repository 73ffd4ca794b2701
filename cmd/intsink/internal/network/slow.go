// Hops that take longer than usual: one problem for a node, however many ways through it are slow.

package network

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/usual"
)

const slowFor = 500 * time.Millisecond // less is no problem yet

// sightings are the flows that took longer lately, with their ways.
type sightings struct {
	all  []sighting
	next int
}

type sighting struct {
	at   time.Time
	flow string
	way  []uint32
}

// maxSightings is how many are kept.
const maxSightings = 512

func (s *sightings) add(now time.Time, flow string, way []uint32) {
	if len(s.all) < maxSightings {
		s.all = append(s.all, sighting{now, flow, way})
		return
	}
	s.all[s.next] = sighting{now, flow, way}
	s.next = (s.next + 1) % maxSightings
}

// forget drops all of them once the last one is old.
func (s *sightings) forget(now time.Time) {
	if len(s.all) > 0 && !slices.ContainsFunc(s.all, func(x sighting) bool { return now.Sub(x.at) <= leftFor }) {
		*s = sightings{}
	}
}

// through lists flows that took longer since a time, and pass all of these nodes.
func (s *sightings) through(since time.Time, nodes ...uint32) (flows []string) {
	for i := range s.all {
		x := &s.all[i]
		passes := func(n uint32) bool { return slices.Contains(x.way, n) }
		if x.at.Before(since) || slices.ContainsFunc(nodes, func(n uint32) bool { return !passes(n) }) || slices.Contains(flows, x.flow) {
			continue
		}
		if flows = append(flows, x.flow); len(flows) == maxFlows {
			break
		}
	}
	return flows
}

// slowed lists flows that took longer since a time, and pass all of these nodes: those on ways that are known first.
func (x *Network) slowed(since time.Time, nodes ...uint32) []string {
	all := x.latency.through(since, nodes...)
	for _, f := range x.strange.through(since, nodes...) {
		if len(all) < maxFlows && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// keepWaiting has the flows in the evidence of signs that were there before: those that took longer lately are others, or none,
// while nothing has changed. The caller holds x.mu.
func (x *Network) keepWaiting(signs []problem.Sign) {
	was := x.waiting
	x.waiting = map[string][]string{}
	for i := range signs {
		s := &signs[i]
		flows := slices.Clone(was[s.Key])
		for _, f := range s.Evidence.Flows {
			if len(flows) < maxFlows && !slices.Contains(flows, f) {
				flows = append(flows, f)
			}
		}
		s.Evidence.Flows, x.waiting[s.Key] = flows, flows
	}
}

// hop is a way through a node.
type hop struct {
	node            uint32
	ingress, egress uint16
}

func hopOf(key [2]uint64) hop { return hop{uint32(key[0] >> 32), uint16(key[0] >> 16), uint16(key[0])} }

// slowNode is what is slow of a node.
type slowNode struct {
	hops    []hop
	worst   float64 // times as long as usual
	latency uint32
	usual   usual.Stat
	like    usual.Like // what holds where usual is not known
	since   int64
	byQueue bool // no hop is known to be slow, only queues

	odd  map[hop]bool // of hops, those whose last sample was
	last int64        // odd sample
}

func (n *slowNode) add(h hop, latency uint32, u usual.Stat, like usual.Like, since int64) {
	n.hops = append(n.hops, h)
	if n.since == 0 || since < n.since {
		n.since = since
	}
	held := u.Median
	if !u.Known {
		held = like.Latency.Median
	}
	if times := float64(latency) / float64(max(held, 1)); times > n.worst {
		n.worst, n.latency, n.usual, n.like = times, latency, u, like
	}
}

// why says what a node is held against of which nobody knows what is usual.
func (n *slowNode) why() string {
	if n.usual.Known {
		return ""
	}
	text := "slow since the sink began to see it, what is usual is not known"
	if l := n.like; l.Latency.Known && l.Nodes > 1 {
		text += fmt.Sprintf("; most of the %d nodes in the same place of the network take %s", l.Nodes, problem.Latency(float64(l.Latency.Median)))
	} else if l.Latency.Known {
		text += fmt.Sprintf("; other ways through the node take %s", problem.Latency(float64(l.Latency.Median)))
	}
	return text
}

// slowHops lists nodes through which packets take longer than usual, though no queue of theirs is fuller: hops that are slow,
// and queues that an episode found slow alone. The caller holds x.mu.
func (x *Network) slowHops(k *Known, queues []congested, now time.Time) (all []problem.Sign) {
	nodes := map[uint32]*slowNode{}
	of := func(id uint32) *slowNode {
		if nodes[id] == nil {
			nodes[id] = &slowNode{odd: map[hop]bool{}}
		}
		return nodes[id]
	}
	for _, s := range k.Slow {
		h := hopOf(s.Key)
		if s.Kind == usual.Hop && !x.waitsIn(h.node, h.egress, s.Last, now) && !x.waitsIn(h.node, noInterface, s.Last, now) {
			n := of(h.node)
			n.add(h, s.Latency, s.Usual, s.Like, s.Since)
			if n.last = max(n.last, s.Last); !s.Calm {
				n.odd[h] = true
			}
		}
	}
	for i := range queues {
		q := &queues[i]
		h := hop{uint32(q.key[0] >> 32), noInterface, uint16(q.key[0])}
		if n := nodes[h.node]; (n == nil || n.byQueue) && q.value.Latency != unknown {
			u := q.usual.Latency
			if l := &q.usual.Like; !u.Known && l.History {
				u = l.Latency
			}
			of(h.node).add(h, q.value.Latency, u, q.usual.Like, q.value.Since)
			nodes[h.node].byQueue = true
		}
	}
	was := x.slowWays
	x.slowWays = map[uint32][]hop{}
	x.well(nodes, was, now)
	if s := x.slowEverywhere(nodes, k.Hops, now); s != nil {
		return []problem.Sign{*s}
	}
	grows := grows(nodes, k.Hops, now)
	var found []found
	for _, id := range sortedKeys(nodes) {
		if n := nodes[id]; now.UnixNano()-n.since >= int64(slowFor) && (!grows || was[id] != nil) {
			found = append(found, foundSlow(id, n, func() problem.Sign {
				n.hops = union(n.hops, was[id])
				x.slowWays[id] = n.hops
				return x.slowHop(id, n, k.Hops)
			}))
		}
	}
	return x.choose(problem.SlowHop, found, now)
}

// A node is well once a half of its slow ways, or three if that is more, have become as usual since its last packet that took long, and
// that was so long ago: the last ways to tell so are those with the fewest packets.
const (
	wellFor = 1500 * time.Millisecond
	wellBy  = 3
)

// well leaves nodes out that are well by most of their ways. before are the ways that were slow.
func (x *Network) well(nodes map[uint32]*slowNode, before map[uint32][]hop, now time.Time) {
	was := x.wellWays
	x.wellWays = map[uint32]map[hop]time.Time{}
	for id, n := range nodes {
		all, since, well := union(slices.Clone(n.hops), before[id]), map[hop]time.Time{}, 0
		for _, h := range all {
			if n.byQueue || n.odd[h] {
				continue
			}
			if since[h] = was[id][h]; since[h].IsZero() {
				since[h] = now
			}
			if since[h].UnixNano() > n.last {
				well++
			}
		}
		x.wellWays[id] = since
		if well >= wellBy && 2*well >= len(all) && now.UnixNano()-n.last >= int64(wellFor) {
			x.slowWays[id] = all
			delete(nodes, id)
		}
	}
}

// slowEverywhere is the sign that nearly all nodes are slow; nil: they are not.
func (x *Network) slowEverywhere(nodes map[uint32]*slowNode, used []usual.Sight, now time.Time) *problem.Sign {
	of := passed(used, allCount)
	if !x.everywhere.holds(len(nodes), of, now) {
		return nil
	}
	worst, known := &slowNode{}, 0
	since := int64(0)
	for id, n := range nodes {
		if n.worst > worst.worst {
			worst = n
		}
		if since == 0 || n.since < since {
			since = n.since
		}
		if x.isKnown(id, now) {
			known++
		}
	}
	return &problem.Sign{
		Kind: problem.SlowHop, Key: "slow everywhere", Subject: "network", What: "packets take longer than usual through nearly all nodes", Over: "packets pass the nodes as usual again",
		Value: new(float64(worst.latency)), Usual: usually(worst.usual), Unit: "ns", Since: time.Unix(0, since), Settle: settle, Known: 2*known > len(nodes),
		Evidence: problem.Evidence{Flows: x.slowed(time.Unix(0, since).Add(-time.Second)), Why: fmt.Sprintf("%d of the %d nodes that packets pass are slow", len(nodes), max(of, len(nodes)))},
		Todo:     "look at what all nodes have in common: a load from the edge, a change that all got, the unit of their latencies",
	}
}

// grows reports whether it is waited for more nodes to become slow.
func grows(nodes map[uint32]*slowNode, used []usual.Sight, now time.Time) bool {
	last := int64(0)
	for _, n := range nodes {
		last = max(last, n.since)
	}
	return grow(len(nodes), passed(used, allCount), last, now)
}

// foundSlow is a slow node. Ways that are slow count, not how slow: that is what packets say.
func foundSlow(id uint32, n *slowNode, sign func() problem.Sign) found {
	return found{id, uint64(len(n.hops)), sign}
}

// maxWays is how many slow ways through one node are kept.
const maxWays = 256

// union adds the ways that were slow before: a problem's place does not shrink while its ways get well one after the other.
func union(all, before []hop) []hop {
	for _, h := range before {
		if len(all) < maxWays && !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all
}

// waitsIn reports whether a queue of an interface is congested or was just now, or has not been since the last packet that took long
// there: packets waited in it.
func (x *Network) waitsIn(node uint32, egress uint16, last int64, now time.Time) bool {
	full, known := x.full[[2]uint64{uint64(node)<<32 | uint64(egress)}]
	return known && (now.Sub(full) <= fullFor || last <= full.UnixNano()+int64(settle))
}

func (x *Network) slowHop(id uint32, n *slowNode, used []usual.Sight) problem.Sign {
	since := time.Unix(0, n.since)
	return problem.Sign{
		Kind: problem.SlowHop, Key: fmt.Sprintf("slow node %d", id), Subject: "network", Place: n.place(id, used), What: "packets take longer through it than usual", Over: "packets pass it as usual again",
		Value: new(float64(n.latency)), Usual: usually(n.usual), Unit: "ns", Since: since, Settle: settle,
		Evidence: problem.Evidence{Flows: x.slowed(since.Add(-time.Second), id), Why: n.why()},
		Todo:     fmt.Sprintf("look at the node: its load, its buffers, its links' errors; since when, how much: intsink incident --node %d", id),
	}
}

// place is the node, with the interface that all slow ways have in common where others of the node are as usual.
func (n *slowNode) place(id uint32, used []usual.Sight) []problem.Part {
	parts := place("node", id)
	first := n.hops[0]
	sameIn, sameOut, otherIn, otherOut := true, true, false, false
	for _, h := range n.hops {
		sameIn, sameOut = sameIn && h.ingress == first.ingress, sameOut && h.egress == first.egress
	}
	for _, u := range used {
		if h := hopOf(u.Key); h.node == id && !u.Odd && u.At > n.since { // of the others nobody knows yet
			otherIn, otherOut = otherIn || h.ingress != first.ingress, otherOut || h.egress != first.egress
		}
	}
	if sameIn && otherIn && first.ingress != noInterface {
		parts = append(parts, place("ingress", first.ingress)...)
	}
	if sameOut && otherOut && first.egress != noInterface {
		parts = append(parts, place("egress", first.egress)...)
	}
	return parts
}

func sortedKeys[V any](m map[uint32]V) []uint32 {
	keys := make([]uint32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare[uint32])
	return keys
}
