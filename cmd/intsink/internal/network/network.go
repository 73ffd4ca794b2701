// Network: what is known of nodes over time: when each was last seen, which flows left it; Observe and Look take it up.

// Package network finds what is wrong in the network behind the sink, from what its workers tell: flows that leave a
// node, nodes that are gone, loops, losses, congested queues. It keeps the last changes of paths. What it finds are
// signs for package problem.
//
//	network.go          Network, Observe (reports, as they happen), Look (the tables of workers, each second)
//	losses.go           how many packets are lost
//	followed.go         flows that are looked at again and again; who passes a node or link
//	silent.go           flows that fell silent together
//	moves.go            flows that leave a node or link; nodes that are gone
//	changes.go          the ring of path changes, GET /api/v1/changes
//	nodes.go            GET /api/v1/nodes
//	congestedqueues.go  congested queues, with who fills them and who waits
//	busy.go             interfaces that send nearly all they can
//	standing.go         how long nodes are known, and what has room
//	slow.go             hops that take longer than usual
//	slowsegments.go     segments that do
//	changed.go          places at which what is usual has changed
//	clocks.go           clocks that are wrong
//	signs.go            signs of all of it
package network

import (
	"slices"
	"sync"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine"
	"intsink/engine/aside/inspect"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/usual"
	"intsink/flows"
)

// Bounds: who writes metadata makes nodes and flows.
const (
	maxNodes = 4096
	maxMoves = 4096
	maxFlows = 8 // examples that are kept of one thing
	forget   = 24 * time.Hour
)

// Wanted are the events that Observe is to be given.
const Wanted = event.Set(1<<event.PathChange | 1<<event.Loss | 1<<event.HopLimit | 1<<event.HopLatency | 1<<event.EndToEnd | 1<<event.LinkLatency)

// late are the events of flows that take longer.
const late = event.Set(1<<event.HopLatency | 1<<event.EndToEnd | 1<<event.LinkLatency)

// Network knows the nodes. Its methods are safe for concurrent use.
type Network struct {
	mu    sync.Mutex
	nodes map[uint32]*node
	left  uint64               // nodes of the last seconds that there is no room for
	cut   map[problem.Kind]int // what there was no room for at this look

	newcomers map[uint32]newcomer
	moves     []move // of the last seconds
	changes   ring
	losses    losses
	missed    uint64 // packets that the sink itself could not receive, so far
	missedAt  time.Time
	askedAt   time.Time                    // when missed was counted last; zero: nobody counts
	down      []string                     // links of the sink itself
	deafAt    time.Time                    // when one of them was seen to go down last
	hops      recent                       // of packets whose hop limit was reached
	latency   sightings                    // on ways whose nodes are known, or, early on, on any
	strange   sightings                    // on others
	ended     uint64                       // episodes that were looked at after their end
	full      map[[2]uint64]time.Time      // when an interface was last seen with a congested queue
	slow      []slowGroup                  // of segments, of the last minutes
	slowWays  map[uint32][]hop             // through nodes, since they are slow
	wellWays  map[uint32]map[hop]time.Time // of those, since when they are not any more

	everywhere      atNearlyAll          // slow
	linesEverywhere atNearlyAll          // slow segments
	allFull         atNearlyAll          // with a congested queue
	toldFull        map[[2]uint64]bool   // interfaces, at the last look
	toldBusy        map[[2]uint64]uint32 // the same, with the load that they had when it was high last
	waiting         map[string][]string  // flows that take longer by what is slow, since it is
	group           uint64               // number of the last slowGroup

	followed map[flows.Key]*followed
	crowded  map[spot]*crowd // at this look
	silences map[spot]*silence
	sprayed  map[spot]*sprayedSpot
	links    map[spot]*node // links that flows left
	clocks   map[uint32]clockState
}

// node is what is known of one.
type node struct {
	first  time.Time // when it was
	stayed time.Time // since when it has the place of another one
	seen   time.Time
	gap    time.Duration // the longest between two sights, lately
	sights int
	next   map[uint32]bool // its neighbours

	movedSince, movedLast time.Time // flows left it, more than came
	moved                 []string  // some of them
	movedFlows, away      int       // how many; how many have not come back yet, of all that ever did
	leftLast, cameLast    time.Time // when any flow left it last, and came to it
	from, to              string    // the way of one of them
	gone                  bool
	edge                  bool // a way that was left began or ended there: hosts move
	mute                  bool // the ways of flows that left it are as before, without it: it writes no INT
}

// recent is what happened to flows in the last seconds.
type recent struct {
	last  time.Time
	count uint64 // since began
	began time.Time
	flows []string
	ways  [][]uint32
	known bool // all nodes of ways are
}

// New makes a Network that knows nothing yet.
func New() *Network {
	return &Network{nodes: map[uint32]*node{}, full: map[[2]uint64]time.Time{}, followed: map[flows.Key]*followed{}, silences: map[spot]*silence{}, sprayed: map[spot]*sprayedSpot{}, links: map[spot]*node{}}
}

// Observe takes up a report of one of the events that are wanted.
func (x *Network) Observe(n *inspect.Notice) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Unix(0, n.Time)
	flow, way := "", []uint32(nil)
	if n.Tracked {
		flow = inspect.FlowID(&n.Key)
	}
	if n.Known {
		way = nodesOf(&n.Path)
	}
	if n.Events.Has(event.PathChange) && n.Events.Has(event.PathSwitch) && flow != "" { // the flow is sprayed, and was before it was known
		x.changes.takeBack(now.Add(-beforeSpray), flow)
		x.moves = slices.DeleteFunc(x.moves, func(m move) bool { return m.flow == flow })
	}
	if n.Events.Has(event.PathChange) && !n.Events.Has(event.PathSwitch) && n.WasOn && n.Known { // both: the flow is sprayed
		if home, news := x.knows(n.Time, &n.Key, &n.Path); news {
			x.move(now, flow, home, &n.Was, &n.Path)
		}
	}
	if n.Events.Has(event.Loss) {
		on := x.wayOfLoss(now, flow, way)
		x.losses.add(now, flow, on, x.areKnown(on, now), n)
	}
	if n.Events.Has(event.HopLimit) {
		x.hops.add(now, flow, way, x.areKnown(way, now))
	}
	if n.Events&late != 0 && flow != "" && way != nil {
		if x.areKnown(way, now) {
			x.latency.add(now, flow, way)
		} else {
			x.strange.add(now, flow, way)
		}
	}
}

// Missed takes up how many packets the sink itself could not receive so far. They are missing among the numbers of their
// flows, but were not lost in the network.
func (x *Network) Missed(now time.Time, total uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.askedAt = now; total > x.missed {
		x.missed, x.missedAt = total, now
	}
}

// isNotOwn reports whether a loss began so long before the sink's own misses were counted last that they would be among these. The
// caller holds x.mu.
func (x *Network) isNotOwn(began time.Time) bool {
	return x.askedAt.IsZero() || x.askedAt.Sub(began) >= time.Second
}

// Deaf takes up which links of the sink itself are down. What falls silent as one goes down did so on its way to the sink.
func (x *Network) Deaf(now time.Time, down []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.ContainsFunc(down, func(link string) bool { return !slices.Contains(x.down, link) }) {
		x.deafAt = now
	}
	x.down = down
}

// ownLoss is how long before it was seen that the sink missed packets, or that a link of its own went down, and after it, a flow that lacks
// packets lacks those.
const ownLoss = 3 * time.Second

// quiet is how long after the last one a run of losses, or of moves, is over.
const quiet = 30 * time.Second

// add takes up what happened to a flow. known: all nodes of its way are; what happened to the first such flow makes all forgotten
// that others told.
func (r *recent) add(now time.Time, flow string, way []uint32, known bool) {
	if now.Sub(r.last) > quiet {
		*r = recent{began: now}
	}
	r.last = now
	r.count++
	if known && !r.known {
		r.known, r.flows, r.ways = true, nil, nil
	}
	if flow != "" && known == r.known && len(r.flows) < maxFlows && !slices.Contains(r.flows, flow) {
		r.flows = append(r.flows, flow)
		if way != nil {
			r.ways = append(r.ways, way)
		}
	}
}

// nodesOf are the nodes of a path, the source's first.
func nodesOf(p *inspect.Path) (all []uint32) {
	for _, h := range p.Known() {
		all = append(all, h.Node)
	}
	return all
}

// Known is what all workers together know.
type Known struct {
	Slow     []usual.Slow                                          // places that are slow now
	Changed  []usual.Change                                        // places at which what is usual has changed
	Hops     []usual.Sight                                         // hops that a packet passed lately
	Segments []usual.Sight                                         // and segments
	Episodes func() []episode.Record                               // that are open; nil: none are; episode.Book.Open
	Ended    func(from uint64) (all []episode.Record, next uint64) // nil: none have; episode.Book.Ended
	Usual    func(usual.Place) (usual.Value, bool)
	Clocks   Clocks
	Busy     map[[2]uint64]event.Interface // interfaces that are
	Believes func(from, to uint32) bool    // whether the clocks of two nodes tell what is between them; nil: all do
	Own      uint32                        // node id of the sink; 0: it has none of its own
}

// hopLately is how long ago a packet passed a hop that counts as used.
const hopLately = 10e9

// KnownBy returns what w and the workers that it shares with know, at now of their wall clock. To be asked before
// the tables: a queue that is congested is then in them, where its hop is slow. Episodes are asked for after them.
func KnownBy(w *engine.Worker, now int64) *Known {
	u := w.Usual()
	wrong, apart := w.Clocks().Judge(now)
	return &Known{Busy: w.Busy(now - event.InterfaceMemory), Clocks: Clocks{wrong, apart, w.Clocks().Compared(now)}, Believes: w.Clocks().Believes, Slow: u.Slow(now), Changed: u.Changed(now), Hops: u.Seen(usual.Hop, now-hopLately), Segments: u.Seen(usual.Segment, now-hopLately), Episodes: w.Episodes().Open, Ended: w.Episodes().Ended, Usual: u.Of}
}

// What is what Look needs of a worker.
const What = inspect.Queues | inspect.Links | inspect.Ways | inspect.Follow

// look takes the nodes up that tables show. The caller holds x.mu.
func (x *Network) look(tables []*inspect.PendingQuery, k *Known, now time.Time) {
	sights := map[uint32]time.Time{}
	sight := func(node uint32, at time.Time) {
		if at.After(sights[node]) {
			sights[node] = at
		}
	}
	for _, h := range k.Hops {
		sight(hopOf(h.Key).node, time.Unix(0, h.At))
	}
	for _, q := range tables {
		for i := range q.Queues {
			sight(uint32(q.Queues[i].Key[0]>>32), time.Unix(0, q.Queues[i].Value.Seen))
		}
		for i := range q.Links {
			at := time.Unix(0, flows.Since(q.Now, q.Links[i].Seen))
			from, to := uint32(q.Links[i].Key[0]>>32), uint32(q.Links[i].Key[1]>>32)
			sight(from, at)
			sight(to, at)
			x.join(from, to)
		}
	}
	for _, id := range sortedKeys(sights) {
		if n := x.node(id); n != nil {
			n.sight(sights[id])
		}
	}
	x.newcomersSeen(sights, now)
	for _, q := range tables {
		for i := range q.Ways {
			way := nodesOf(&q.Ways[i].Value)
			for i := 1; i < len(way); i++ {
				x.join(way[i-1], way[i])
			}
		}
	}
	x.follow(tables, now)
	x.prune(now)
}

// sight takes up that the node was seen at a time.
func (n *node) sight(at time.Time) {
	if !at.After(n.seen) {
		return
	}
	if n.sights > 0 && !n.gone {
		n.gap = max(n.gap-n.gap/64, at.Sub(n.seen))
	}
	if n.sights == 0 {
		n.first = at
	}
	n.seen = at
	n.sights++
}

// node returns what is known of a node; nil: there is no room for it, yet (newcomersSeen).
func (x *Network) node(id uint32) *node {
	n := x.nodes[id]
	if n == nil && len(x.nodes) < maxNodes {
		n = &node{next: map[uint32]bool{}}
		x.nodes[id] = n
	}
	return n
}

// maxNeighbours is how many neighbours of a node are known.
const maxNeighbours = 256

// join takes up that a and b are neighbours, where both have been seen.
func (x *Network) join(a, b uint32) {
	m, n := x.nodes[a], x.nodes[b]
	if m == nil || n == nil || a == b {
		return
	}
	if x.makePlace(a, b) && x.makePlace(b, a) {
		m.next[b], n.next[a] = true, true
	}
}

// makePlace reports whether node a has room for neighbour b, if need be in the place of one that was seen at far fewer looks.
func (x *Network) makePlace(a, b uint32) bool {
	n, sights := x.nodes[a], x.nodes[b].sights
	if len(n.next) < maxNeighbours || n.next[b] {
		return true
	}
	for other := range n.next {
		if m := x.nodes[other]; m.sights < sights/2 {
			delete(n.next, other)
			delete(m.next, a)
			return true
		}
	}
	return false
}

// prune forgets the nodes that have not been seen for a day.
func (x *Network) prune(now time.Time) {
	for id, n := range x.nodes {
		if now.Sub(n.seen) > forget && now.Sub(n.leftLast) > forget {
			x.drop(id)
		}
	}
}

// ids are the nodes in order.
func (x *Network) ids() []uint32 { return sortedKeys(x.nodes) }
