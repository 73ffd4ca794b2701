// Slow: hops and segments whose latency is far above what is usual, by their last samples; what is odd.

package usual

import (
	"math/bits"
	"slices"
)

// Of the last slowOf samples of a place, slowBegin have to be odd before it is slow, and fewer than slowEnd before it no
// longer is.
const (
	slowOf    = 4
	slowBegin = 3
	slowEnd   = 2
)

// maxSlow is how many places are slow at once. A place that no packet passes any more is slow for slowSilence, one that has fewer
// packets than one in that time for slowGaps times as long as there is between two of them, MostSilence at most.
const (
	maxSlow     = 1 << 10
	slowSilence = 10e9
	slowGaps    = 4
	MostSilence = 300e9
)

// LineFor is how long a segment is slow before that is told, in nanoseconds: until then it may be a clock, which shows at several.
const LineFor = 1500e6

// Slow is a place that is slow.
type Slow struct {
	Place
	Latency uint32 // of its last odd samples, smoothed; nanoseconds
	Usual   Stat   // as it was when it began; not known: it was slow before anything was, beside Like
	Like    Like   // what it was held against where its own was not known
	Since   int64  // the first odd sample, Unix nanoseconds
	Last    int64  // the last one
	Calm    bool   // a later one was as usual
}

// pace is what the last samples of a place were.
type pace struct {
	window uint8 // a bit each: 1 is odd; the last one is the lowest
	is     bool  // slow
	first  int64 // odd sample of those in window
	seen   int64 // the last sample
	gap    int64 // between samples, smoothed
}

// silence is for how long no packet passes before what was is forgotten.
func (s *pace) silence() int64 {
	if s.gap < slowSilence {
		return slowSilence
	}
	return min(slowGaps*s.gap, MostSilence)
}

// see notes when a sample came.
func (s *pace) see(now int64) {
	if s.seen != 0 {
		s.gap += (now - s.seen - s.gap) / 4
	}
	s.seen = now
}

// note takes in a sample of a hop or segment.
func (u *Usual) note(now int64, r *Reading, p *place, held Stat, like Like, odd bool) {
	s := &p.pace
	defer u.tell(r, s, odd)
	if now-s.seen >= s.silence() {
		s.window = 0
	}
	if s.see(now); r.Latency == unknown || s.window == 0 && !odd && !s.is {
		return
	}
	if s.window == 0 {
		s.first = now
	}
	s.window = s.window << 1 & (1<<slowOf - 1)
	if odd {
		s.window |= 1
	}
	switch n := bits.OnesCount8(s.window); {
	case s.is && n < slowEnd:
		delete(u.slow, r.Place)
		s.is = false
	case s.is && odd:
		x := u.slow[r.Place]
		x.Latency, x.Last, x.Calm = uint32(int64(x.Latency)+(int64(r.Latency)-int64(x.Latency))/4), now, false
		u.slow[r.Place] = x
	case s.is:
		x := u.slow[r.Place]
		x.Calm = true
		u.slow[r.Place] = x
	case !s.is && n >= slowBegin && (len(u.slow) < maxSlow || u.makeRoom(p)):
		x := Slow{Place: r.Place, Latency: r.Latency, Like: like, Since: s.first, Last: now}
		if p.usual.Known || like.History {
			x.Usual = held
		}
		u.slow[r.Place], s.is = x, true
	}
}

// tell writes into a reading what its caller may want to report of the place.
func (u *Usual) tell(r *Reading, s *pace, odd bool) {
	if r.Odd = odd; s.is {
		x := u.slow[r.Place]
		r.Since, r.Usual = x.Since, max(x.Usual.Median, 1)
	}
}

// mostReplaced is how many slow places make room between two looks: each costs a walk over all.
const mostReplaced = 64

// makeRoom takes the slow place away that was met last, if it was after p.
func (u *Usual) makeRoom(p *place) bool {
	if u.replaced >= mostReplaced {
		return false
	}
	u.replaced++
	var last Place
	var youngest *place
	for at := range u.slow {
		q := u.others[at.Kind].Find(at.Key)
		if q == nil { // it made room itself
			delete(u.slow, at)
			return true
		}
		if youngest == nil || q.first > youngest.first {
			last, youngest = at, q
		}
	}
	if youngest.first <= p.first {
		return false
	}
	delete(u.slow, last)
	youngest.pace.is = false
	return true
}

// Slow returns the hops and segments that are slow, in the order of their keys. One that no packet has passed for a while
// is not. To be called each second: what places without a history are held against is made then.
func (u *Usual) Slow(now int64) []Slow {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.compare()
	u.replaced = 0
	all := make([]Slow, 0, len(u.slow))
	for at, x := range u.slow {
		p := u.others[at.Kind].Find(at.Key)
		if p == nil || !p.pace.is || now-p.pace.seen >= p.pace.silence() {
			if p != nil {
				p.pace = pace{}
			}
			delete(u.slow, at)
			continue
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Slow) int { return slices.Compare(a.sortKey(), b.sortKey()) })
	return all
}

// Sight is a place that a packet passed, and when the last one did.
type Sight struct {
	Place
	At  int64 // Unix nanoseconds
	Odd bool  // that one took long
}

// Seen returns the hops or segments that had a sample since a time.
func (u *Usual) Seen(k Kind, since int64) (all []Sight) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.others[k%NumKinds].Walk(0, MaxPlaces, func(key [2]uint64, _ uint32, p *place) {
		if p.pace.seen >= since {
			all = append(all, Sight{Place{k, key}, p.pace.seen, p.pace.window&1 != 0})
		}
	})
	return all
}

// Fuller is how many times the usual 99th percentile an occupancy has to be for a queue to be fuller than usual.
const Fuller = 2

// IsFuller reports whether an occupancy is above what is usual; where nobody knows what is, it is not.
func (s Stat) IsFuller(occupancy uint32) bool {
	return s.Known && occupancy >= Full(max(s.P99, 1))
}

// Full is the least occupancy of a queue that is fuller than usual, with that 99th percentile; 0: it is not known. Package fast
// has the same (is_over in compare.h).
func Full(p99 uint32) uint32 { return uint32(min(uint64(p99)*Fuller, unknown-1)) }

// isOdd reports whether x is far above what is usual.
func (s Stat) isOdd(x, floor uint32) bool { return x >= floor && s.IsAbove(x) }

// IsAbove reports whether x is far above what is usual, be it ever so low.
func (s Stat) IsAbove(x uint32) bool {
	return s.Known && uint64(x) >= Factor*uint64(max(s.P99, 1))
}

// nodeOf is the node of a hop or queue.
func nodeOf(p Place) uint32 { return uint32(p.Key[0] >> 32) }
