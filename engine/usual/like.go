// Like: what a place without a history is held against: the rest of its node, and the nodes that have the same place in the network.

package usual

import "slices"

// Like is what hops and queues of a node do that nobody knows more of: what its node did before (History) or, where that is not
// known either, what nodes like it do, and it itself. Nothing in it is known as long as there is nothing to tell from.
type Like struct {
	Latency, Occupancy Stat
	Nodes              int  // that are alike
	History            bool // it is what the node did before
}

// RoleOf is the place in the network of a hop between two nodes, all ones at an end of the way: two nodes that stand between the
// same two others are alike. A node alone on its way is like none.
func RoleOf(before, after uint32) uint64 {
	if before&after == unknown {
		return 0
	}
	return (uint64(before)<<32 | uint64(after)) + 1
}

// RoleAt is the place of a hop that is the n-th of so many, where its node tells no interfaces: each packet passes it another way.
func RoleAt(n, of int) uint64 { return mix(uint64(n)<<32|uint64(of)) | 1 }

// fewOfNode is how many values tell what a node does now, and mostOfWay how many of a minute one way or queue adds to what is known
// of its node: one that is busy, or full, does not outweigh the others.
const (
	fewOfNode = 16
	mostOfWay = 16
)

// How far a 99th percentile may be above the median where only a median is known of: an occupancy varies more than a latency.
const (
	spreadOfLatency   = 2
	spreadOfOccupancy = 4
)

// teach takes a value of a hop or queue as one of its node; taught counts those of the minute.
func (u *Usual) teach(now int64, r *Reading, taught *uint8) {
	if *taught >= mostOfWay {
		return
	}
	*taught++
	n, _ := u.nodes.Get(now, nodeKey(nodeOf(r.Place)))
	if n.begin(now) {
		n.roll(now, u.floor)
	}
	if high := n.usual.isHigh(r.Latency) || r.Kind == Queue && n.usualOccupancy.isHigh(r.Occupancy); !n.sources.admits(r.Source, high) {
		return
	}
	if r.Kind == Queue {
		n.occupancy.add(r.Occupancy)
	} else if r.Latency != unknown {
		n.latency.add(r.Latency)
	}
}

func nodeKey(id uint32) [2]uint64 { return [2]uint64{uint64(id) << 32} }

// compare makes Like of each node: what the node did before or else what most nodes do that are like it; of two, the faster one.
func (u *Usual) compare() {
	if u.moved {
		u.classify()
	}
	like := make(map[uint32]Like, len(u.like))
	latencies, occupancies := map[uint32][]uint32{}, map[uint32][]uint32{} // medians, by class
	u.nodes.Walk(0, MaxPlaces, func(key [2]uint64, _ uint32, n *queue) {
		id := uint32(key[0] >> 32)
		x, at := Like{Latency: n.usual, Occupancy: n.usualOccupancy, History: n.usual.Known}, u.classOf(id)
		x.Latency, x.Occupancy = x.Latency.or(n.latency.soFar(fewOfNode)), x.Occupancy.or(n.occupancy.soFar(fewOfNode))
		if like[id] = x; x.Latency.Known {
			latencies[at] = append(latencies[at], x.Latency.Median)
		}
		if x.Occupancy.Known {
			occupancies[at] = append(occupancies[at], x.Occupancy.Median)
		}
	})
	for id, x := range like {
		n, at, was := u.nodes.Find(nodeKey(id)), u.classOf(id), x.Latency
		if x.Nodes = len(latencies[at]); !was.Known {
			x.Nodes++ // the node itself
		}
		x.Latency, x.Occupancy = typical(n.usual, latencies[at], spreadOfLatency), typical(n.usualOccupancy, occupancies[at], spreadOfOccupancy)
		if !x.History && was.Known && x.Latency.isOdd(was.Median, u.floor) { // what it did so far is a fault
			n.latency, n.occupancy = Measure{}, Measure{}
		}
		like[id] = x
	}
	u.like = like
	u.compareLines()
}

// compareLines makes Like of the segments between each two classes of nodes.
func (u *Usual) compareLines() {
	all := map[[2]uint32][]uint32{}
	u.others[Segment].Walk(0, MaxPlaces, func(key [2]uint64, _ uint32, p *place) {
		if p.usual.Known {
			all[u.lineOf(key)] = append(all[u.lineOf(key)], p.usual.Median)
		}
	})
	u.lines = make(map[[2]uint32]Like, len(all))
	for at, medians := range all {
		u.lines[at] = Like{Latency: typical(Stat{}, medians, 1), Nodes: len(medians)}
	}
}

// lineOf are the classes of the nodes of a segment.
func (u *Usual) lineOf(key [2]uint64) [2]uint32 {
	return [2]uint32{u.classOf(uint32(key[0] >> 32)), u.classOf(uint32(key[1] >> 32))}
}

// typical is the middle of medians, the lower one of two, where a node's own is not known.
func typical(own Stat, medians []uint32, spread uint64) Stat {
	median := own.Median
	if !own.Known && len(medians) == 0 {
		return Stat{}
	} else if !own.Known {
		slices.Sort(medians)
		median = medians[(len(medians)-1)/2]
	}
	return Stat{Known: true, Median: median, P99: uint32(min(uint64(median)*spread, unknown-1))}
}

// classOf is the class of a node.
func (u *Usual) classOf(id uint32) uint32 {
	if c, known := u.class[id]; known {
		return c
	}
	return id
}

// classify makes one class of the nodes that have a role in common, and of those that have one in common with these.
func (u *Usual) classify() {
	u.class, u.moved = map[uint32]uint32{}, false
	first := map[uint64]uint32{} // who has a role
	root := func(id uint32) uint32 {
		for u.classOf(id) != id {
			id = u.class[id]
		}
		return id
	}
	u.others[Hop].Walk(0, MaxPlaces, func(key [2]uint64, _ uint32, p *place) {
		id := uint32(key[0] >> 32)
		if other, known := first[p.role]; !known {
			first[p.role] = id
		} else if a, b := root(id), root(other); p.role != 0 && a != b {
			u.class[a] = b
		}
	})
	for id := range u.class {
		u.class[id] = root(id)
	}
}
