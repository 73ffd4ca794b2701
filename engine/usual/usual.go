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
}

// unknown is a value that a packet does not tell.
const unknown = 1<<32 - 1

// MaxPlaces is how many places of each kind are known at once. Where there are more, the idlest make room.
const MaxPlaces = 1 << 13

// Times after which a place is believed: Learning before its thresholds are made of what is usual; patience
// is how many minutes in a row most values have to be odd before they are what is usual from now on.
const (
	Learning = 10 * minute
	patience = 24 * 60
	minute   = int64(60e9)
)

// Odd values are Factor times the 99th percentile, and latencies at least the floor.
const (
	Factor = 8
	floor  = 100_000 // nanoseconds
)

// place is what is known of a place.
type place struct {
	first, minute int64  // when it was seen first, nanoseconds; the minute at hand
	odd           uint32 // values of the minute that were not learned
	oddMinutes    uint32 // minutes in a row, most of whose values were odd
	relearns      bool   // they were so many that odd values are learned; usual stays until there are enough
	usual         Stat   // of latency, as the last minute left it
	latency       Measure
	pace          pace
}

// queue is a place with an occupancy.
type queue struct {
	place
	usualOccupancy Stat
	occupancy      Measure
}

// Usual is what is known of all places. Any goroutine may call its methods.
type Usual struct {
	limits *Limits

	mu     sync.Mutex
	queues *flows.Small[queue]
	others [NumKinds]*flows.Small[place] // by kind; none of queues
	slow   map[Place]Slow                // at most maxSlow
	slowAt map[uint32]int                // how many of the hops in slow are at a node
}

// New returns a Usual that knows nothing. seed keys its hashes.
func New(seed uint64) *Usual { return newUsual(seed, MaxPlaces) }

func newUsual(seed uint64, places int) *Usual {
	u := &Usual{limits: newLimits(seed), queues: flows.NewSmall[queue](places, seed, nil), slow: map[Place]Slow{}, slowAt: map[uint32]int{}}
	for k := Hop; k < NumKinds; k++ {
		u.others[k] = flows.NewSmall[place](places, seed, nil)
	}
	return u
}

// Close gives the memory back. Nothing may be called after it.
func (u *Usual) Close() {
	u.queues.Close()
	for k := Hop; k < NumKinds; k++ {
		u.others[k].Close()
	}
	u.limits.close()
}

// Limits returns the limits of queues.
func (u *Usual) Limits() *Limits { return u.limits }

// Learn takes in what one sampled packet tells, and reports whether it did: not where another goroutine asks
// or learns at this moment. odd: something was far above what is usual.
func (u *Usual) Learn(now int64, readings []Reading) (learned, odd bool) {
	if !u.mu.TryLock() {
		return false, false
	}
	for i := range readings {
		odd = u.learn(now, &readings[i], odd) || odd
	}
	u.mu.Unlock()
	return true, odd
}

// learn takes in one reading. fault: the packet met something that is far above what is usual already.
func (u *Usual) learn(now int64, r *Reading, fault bool) (odd bool) {
	if r.Kind != Queue {
		p, _ := u.others[r.Kind%NumKinds].Get(now, r.Key)
		if p.begin(now) {
			p.roll(now, p.latency.values)
		}
		if u.isDoubtful(r, p, fault) {
			p.odd++
			return true
		}
		odd = p.add(r.Latency)
		if r.Kind != Path {
			u.note(now, r, p, odd)
		}
		return odd
	}
	q, _ := u.queues.Get(now, r.Key)
	if q.begin(now) {
		q.roll(now)
		u.setLimit(r.Key, now, q)
	}
	odd = q.isOdd(r)
	if odd && !q.relearns || u.isDoubtful(r, &q.place, fault) {
		q.odd++
		return true
	}
	if r.Latency != unknown {
		q.latency.add(r.Latency)
	}
	if r.Occupancy != unknown {
		q.occupancy.add(r.Occupancy)
	}
	return odd
}

// begin reports whether the minute at hand is over; a place that is new begins its first. Bursts of other workers may be a
// little older: they end no minute.
func (p *place) begin(now int64) bool {
	if p.first == 0 {
		p.first, p.minute = max(now, 1), now/minute
	}
	return now/minute > p.minute || now/minute < p.minute-1
}

// add counts a latency, unless it is odd: a fault that lasts does not become what is usual before patience is
// over.
func (p *place) add(x uint32) (odd bool) {
	if x == unknown {
		return false
	}
	odd = p.usual.isOdd(x, floor)
	if odd && !p.relearns {
		p.odd++
	} else {
		p.latency.add(x)
	}
	return odd
}

// roll ends the minute at hand, in which so many values were learned. forget: what was odd for so long is usual
// from now on.
func (p *place) roll(now int64, learned uint32) (forget bool) {
	minutes := max(now/minute-p.minute, 1)
	p.minute = now / minute
	if p.oddMinutes++; p.odd <= learned {
		p.oddMinutes = 0
	}
	p.odd = 0
	if p.oddMinutes >= patience {
		p.latency, p.oddMinutes, p.relearns, forget = Measure{}, 0, true, true
	}
	p.latency.roll(minutes)
	if s := p.latency.stat(); s.Known || !p.relearns {
		p.usual, p.relearns = s, false
	}
	return forget
}

func (q *queue) roll(now int64) {
	minutes := max(now/minute-q.minute, 1)
	if q.place.roll(now, max(q.latency.values, q.occupancy.values)) {
		q.occupancy = Measure{}
	}
	q.occupancy.roll(minutes)
	if s := q.occupancy.stat(); s.Known || !q.relearns {
		q.usualOccupancy, q.relearns = s, false
	}
}

// setLimit tells the detectors what thresholds of a queue are made of. Its latency counts once the place has
// been known for Learning, until when the floor alone holds. An occupancy has no floor in a unit that all nodes
// share, so it counts as soon as it is known.
func (u *Usual) setLimit(key [2]uint64, now int64, q *queue) {
	latency, occupancy := uint32(0), uint32(0)
	if q.usual.Known && now-q.first >= Learning {
		latency = max(q.usual.P99, 1)
	}
	if q.usualOccupancy.Known {
		occupancy = max(q.usualOccupancy.P99, 1)
	}
	u.limits.set(key, latency, occupancy)
}

// Value is what is usual at a place.
type Value struct {
	Latency   Stat  // nanoseconds
	Occupancy Stat  // of queues
	Since     int64 // when the place was seen first, Unix nanoseconds
}

// Of returns what is usual at a place, and whether the place is known.
func (u *Usual) Of(p Place) (Value, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if p.Kind == Queue {
		q := u.queues.Find(p.Key)
		if q == nil {
			return Value{}, false
		}
		return Value{Latency: q.usual, Occupancy: q.usualOccupancy, Since: q.first}, true
	}
	x := u.others[p.Kind%NumKinds].Find(p.Key)
	if x == nil {
		return Value{}, false
	}
	return Value{Latency: x.usual, Since: x.first}, true
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
