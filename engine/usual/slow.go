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

// maxSlow is how many places are slow at once, and slowSilence how long one is that no packet passes any more.
const (
	maxSlow     = 1 << 10
	slowSilence = 10e9
)

// Slow is a place that is slow.
type Slow struct {
	Place
	Latency uint32 // of its last odd samples, smoothed; nanoseconds
	Usual   Stat   // as it was when it began
	Since   int64  // the first odd sample, Unix nanoseconds
	Last    int64  // the last one
}

// pace is what the last samples of a place were.
type pace struct {
	window uint8 // a bit each: 1 is odd; the last one is the lowest
	is     bool  // slow
	first  int64 // odd sample of those in window
	seen   int64 // the last sample
}

// note takes in a sample of a hop or segment.
func (u *Usual) note(now int64, r *Reading, p *place, odd bool) {
	s := &p.pace
	if r.Latency == unknown {
		s.seen = now
		return
	}
	if s.window == 0 && !odd && !s.is {
		s.seen = now
		return
	}
	if now-s.seen >= slowSilence {
		s.window = 0
	}
	if s.seen = now; s.window == 0 {
		s.first = now
	}
	s.window = s.window << 1 & (1<<slowOf - 1)
	if odd {
		s.window |= 1
	}
	switch n := bits.OnesCount8(s.window); {
	case s.is && n < slowEnd:
		u.endSlow(r.Place)
		s.is = false
	case s.is && odd:
		x := u.slow[r.Place]
		x.Latency, x.Last = uint32(int64(x.Latency)+(int64(r.Latency)-int64(x.Latency))/4), now
		u.slow[r.Place] = x
	case !s.is && n >= slowBegin && len(u.slow) < maxSlow:
		u.slow[r.Place] = Slow{r.Place, r.Latency, p.usual, s.first, now}
		if r.Kind == Hop {
			u.slowAt[nodeOf(r.Place)]++
		}
		s.is = true
	}
}

func (u *Usual) endSlow(p Place) {
	delete(u.slow, p)
	if p.Kind != Hop {
		return
	}
	if u.slowAt[nodeOf(p)]--; u.slowAt[nodeOf(p)] <= 0 {
		delete(u.slowAt, nodeOf(p))
	}
}

// Slow returns the hops and segments that are slow, in the order of their keys. One that no packet has passed for a while
// is not.
func (u *Usual) Slow(now int64) []Slow {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make([]Slow, 0, len(u.slow))
	for at, x := range u.slow {
		p := u.others[at.Kind].Find(at.Key)
		if p == nil || !p.pace.is || now-p.pace.seen >= slowSilence {
			if p != nil {
				p.pace = pace{}
			}
			u.endSlow(at)
			continue
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Slow) int { return slices.Compare(a.sortKey(), b.sortKey()) })
	return all
}

func (s *Slow) sortKey() []uint64 { return []uint64{uint64(s.Kind), s.Key[0], s.Key[1]} }

// Sight is a place that a packet passed, and when the last one did.
type Sight struct {
	Place
	At int64 // Unix nanoseconds
}

// Seen returns the hops or segments that had a sample since a time.
func (u *Usual) Seen(k Kind, since int64) (all []Sight) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.others[k%NumKinds].Walk(0, MaxPlaces, func(key [2]uint64, _ uint32, p *place) {
		if p.pace.seen >= since {
			all = append(all, Sight{Place{k, key}, p.pace.seen})
		}
	})
	return all
}

// Fuller is how many times the usual 99th percentile an occupancy has to be for a queue to be fuller than usual.
const Fuller = 2

// IsFuller reports whether an occupancy is above what is usual, or it is not known what is.
func (s Stat) IsFuller(occupancy uint32) bool {
	return !s.Known || occupancy >= Full(max(s.P99, 1))
}

// Full is the least occupancy of a queue that is fuller than usual, with that 99th percentile; 0: it is not known. Package fast
// has the same (is_over in compare.h).
func Full(p99 uint32) uint32 { return uint32(min(uint64(p99)*Fuller, unknown-1)) }

// IsFar reports whether a latency is far above what is usual: such are not learned.
func (s Stat) IsFar(latency uint32) bool { return s.isOdd(latency, floor) }

// isOdd reports whether x is far above what is usual.
func (s *Stat) isOdd(x, floor uint32) bool {
	return s.Known && x >= floor && uint64(x) >= Factor*uint64(max(s.P99, 1))
}

// isDoubtful reports whether r must not be learned at p: p has no usual latency yet, r has a long one, and a fault explains it,
// either at a place that the same packet passed before (fault), or at other hops of the same node, which are slow.
func (u *Usual) isDoubtful(r *Reading, p *place, fault bool) bool {
	return !p.usual.Known && r.Latency != unknown && r.Latency >= floor && (fault || (r.Kind == Hop || r.Kind == Queue) && u.slowAt[nodeOf(r.Place)] > 0)
}

// nodeOf is the node of a hop or queue.
func nodeOf(p Place) uint32 { return uint32(p.Key[0] >> 32) }

// isOdd reports whether a packet's values are far above what is usual in the queue. Where both are known, an
// occupancy counts only with a latency above the floor.
func (q *queue) isOdd(r *Reading) bool {
	if r.Occupancy != unknown && q.usualOccupancy.isOdd(r.Occupancy, 0) && (r.Latency == unknown || r.Latency >= floor) {
		return true
	}
	return r.Latency != unknown && q.usual.isOdd(r.Latency, floor)
}
