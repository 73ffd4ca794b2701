// Usual: the places of a network, what a sampled packet tells of them, and what is usual there.

package usual

import (
	"sync"

	"intsink/flows"
)

// Kind is what a place is.
type Kind uint8

const (
	Queue   Kind = iota // of an egress interface of a node
	Hop                 // the way through a node, from one interface to another
	Segment             // what lies between two nodes
	Path                // from end to end
	NumKinds
)

var kinds = [NumKinds]string{Queue: "queue", Hop: "hop", Segment: "segment", Path: "path"}

// String returns the kind's name in metrics and answers.
func (k Kind) String() string { return kinds[k%NumKinds] }

// Place is one place. Key of a queue and of a segment is that of event.Fabric's tables; HopKey and PathKey
// make the others.
type Place struct {
	Kind Kind
	Key  [2]uint64
}

// HopKey names the way through a node.
func HopKey(node uint32, ingress, egress uint16) [2]uint64 {
	return [2]uint64{uint64(node)<<32 | uint64(ingress)<<16 | uint64(egress)}
}

// PathKey goes on from the key of a path's first hops, zero before them, by one hop. It is the same in every
// sink, and after every start.
func PathKey(key [2]uint64, hop [2]uint64) [2]uint64 {
	return [2]uint64{mix(key[0]*31 + hop[0]), mix(key[1]*37 ^ hop[0] + 1)}
}

// Reading is what a sampled packet tells of one place. Unknown values are all ones.
type Reading struct {
	Place
	Latency, Occupancy uint32
	Packet             uint32 // of a queue, the occupancy of one packet of full size: less is never a threshold's usual; 0: nobody knows
	Role               uint64 // of a hop, RoleOf; 0: it has none
	Source             uint8  // of the packet, Usual.Source

	Since int64  // as Learn has found it: since when the hop or segment is slow, Unix nanoseconds; 0: it is not
	Usual uint32 // where it is slow, the median it is held against
	Odd   bool   // Latency is far above what is usual
}

// unknown is a value that a packet does not tell.
const unknown = 1<<32 - 1

// MaxPlaces is how many places of each kind are known at once. Where there are more, the idlest make room, settled ones last.
const MaxPlaces = 1 << 13

// patience is how many minutes in a row most values have to be odd before they are what is usual from now on; young is how long
// a place may have been met while something was wrong that nobody knew of.
const (
	patience = 24 * 60
	young    = 60 * minute
	minute   = int64(60e9)
)

// Odd values are Factor times the 99th percentile, and latencies at least the floor.
const (
	Factor       = 8
	DefaultFloor = 100_000 // nanoseconds
)

// place is what is known of a place.
type place struct {
	first, minute int64  // when it was seen first, nanoseconds; the minute at hand
	odd           uint32 // values of the minute that were not learned
	oddMinutes    uint32 // minutes in a row, most of whose values were odd
	relearns      bool   // they were so many that odd values are learned; usual stays until there are enough
	taught        uint8  // values of the minute that were its node's as well
	began         bool   // with what was forgotten: it was slow at first
	role          uint64 // of a hop
	usual         Stat   // of latency, as the last minute left it
	latency       Measure
	drift         drift // of its latency
	pace          pace
	sources       sources
}

// A place whose usual is known, which has been met for toSettle and was within stays, makes room last.
const (
	toSettle = 3 * minute
	stays    = 60 // minutes
)

func (p *place) isSettled(now int64) bool {
	return p.usual.Known && now-p.first >= toSettle && now/minute-p.minute < stays
}

func (q *queue) isSettled(now int64) bool {
	return (q.usual.Known || q.usualOccupancy.Known) && now-q.first >= toSettle && now/minute-q.minute < stays
}

// queue is a place with an occupancy.
type queue struct {
	place
	usualOccupancy Stat
	packet         uint32 // as Reading.Packet
	occupancy      Measure
	occupancyDrift drift
}

// Usual is what is known of all places. Any goroutine may call its methods.
type Usual struct {
	limits *Limits
	seed   uint64

	mu       sync.Mutex
	floor    uint32 // nanoseconds; no latency below is odd
	queues   *flows.Small[queue]
	others   [NumKinds]*flows.Small[place] // by kind; none of queues
	nodes    *flows.Small[queue]           // all hops of a node and all its queues as one
	like     map[uint32]Like               // what hops and queues of a node are held against
	lines    map[[2]uint32]Like            // what segments between nodes of two classes take
	class    map[uint32]uint32             // nodes with the same class have a role in common
	moved    bool                          // a hop has another role than when classes were made
	slow     map[Place]Slow                // at most maxSlow
	replaced int                           // slow places that made room since the last look
	changed  map[Place]bool                // at most maxSlow
}

// New returns a Usual that knows nothing. seed keys its hashes.
func New(seed uint64) *Usual { return newUsual(seed, MaxPlaces) }

func newUsual(seed uint64, places int) *Usual {
	u := &Usual{limits: newLimits(seed), seed: seed*0x9e3779b97f4a7c15 | 1, floor: DefaultFloor, queues: flows.NewSmall[queue](places, seed, (*queue).isSettled), slow: map[Place]Slow{}, changed: map[Place]bool{}}
	for k := Hop; k < NumKinds; k++ {
		u.others[k] = flows.NewSmall[place](places, seed, (*place).isSettled)
	}
	u.nodes = flows.NewSmall[queue](max(places/nodesOf, 16), seed, (*queue).isSettled)
	return u
}

// nodesOf is how many places of each kind there is room for, for each node.
const nodesOf = 4

// Close gives the memory back. Nothing may be called after it.
func (u *Usual) Close() {
	u.queues.Close()
	for k := Hop; k < NumKinds; k++ {
		u.others[k].Close()
	}
	u.nodes.Close()
	u.limits.close()
}

// Limits returns the limits of queues.
func (u *Usual) Limits() *Limits { return u.limits }

// setLimit tells the detectors what thresholds of a queue are made of: its own 99th percentiles or, as long as it has none, what
// queues like it do.
func (u *Usual) setLimit(key [2]uint64, q *queue) {
	like := Like{}
	if !q.usual.Known || !q.usualOccupancy.Known {
		like = u.like[uint32(key[0]>>32)]
	}
	u.limits.Set(key, q.usual.or(like.Latency).limit(), q.usualOccupancy.or(like.Occupancy).atLeast(q.packet).limit())
}

// limit is what a threshold is made of; 0: nothing is known.
func (s Stat) limit() uint32 {
	if !s.Known {
		return 0
	}
	return max(s.P99, 1)
}

// atLeast is s with a 99th percentile that is not below one: a queue that is usually empty is not full when a packet waits in it.
func (s Stat) atLeast(p99 uint32) Stat {
	s.P99 = max(s.P99, p99)
	return s
}

// or is s, or another where s is not known.
func (s Stat) or(other Stat) Stat {
	if s.Known {
		return s
	}
	return other
}

// SetFloor sets below which latency nothing is slow, in nanoseconds; 0: as New does.
func (u *Usual) SetFloor(ns uint32) {
	u.mu.Lock()
	if u.floor = ns; ns == 0 {
		u.floor = DefaultFloor
	}
	u.mu.Unlock()
}

// Places returns how many places of a kind are known, and how many made room for others.
func (u *Usual) Places(k Kind) (known int, evicted uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if k == Queue {
		return u.queues.Len(), u.queues.Evictions()
	}
	t := u.others[k%NumKinds]
	return t.Len(), t.Evictions()
}
