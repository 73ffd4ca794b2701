// Room for new series in a set that is full: the least used ones go, for those that were asked for again and again.

package aggregate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// A new series takes the place of others once it was asked for so often, over at least lasting; it is forgotten where it is not
// asked for any more for a while. Whoever sends reports makes up nodes.
const (
	oftenEnough  = 3
	lasting      = 2 * int64(time.Second)
	patience     = 10 * int64(time.Second)
	roomEvery    = int64(time.Second)         // room is made at most so often: that looks at all series
	halfLife     = 600 * float64(time.Second) // of how much a series was used
	keepsFor     = 60 * int64(time.Second)    // its place, once it has taken one
	maxNewcomers = 1 << 14
)

// newcomer is a series that there is no room for.
type newcomer struct {
	asked       int
	first, last int64 // when it was asked for, Unix nanoseconds
}

// standing is how much a series was used, lately more than before.
type standing struct {
	use   float64
	since int64 // when it took the place of another one
}

// youth is 1 of a series that has just taken its place: newcomers take the places of others before each other's.
func (x *standing) youth(now int64) int {
	if now-x.since < keepsFor {
		return 1
	}
	return 0
}

// room is what a full set knows of its series and of those that wait.
type room struct {
	waiting map[key]newcomer
	of      map[key]standing
	at      int64 // when room was made last
}

// wait takes note that there is no room for a series. The caller holds the lock of its shard.
func (s *Set) wait(k key, now int64) {
	s.waitLock.Lock()
	defer s.waitLock.Unlock()
	w, known := s.room.waiting[k]
	if !known && len(s.room.waiting) >= maxNewcomers {
		return
	}
	if !known || now-w.last > patience || now < w.last {
		w = newcomer{first: now}
	}
	w.asked, w.last = w.asked+1, now
	if s.room.waiting == nil {
		s.room.waiting = map[key]newcomer{}
	}
	s.room.waiting[k] = w
	s.wants.Store(true)
}

// makeRoom lets series in that have waited, each in the place of the ones that were used least. The caller holds no lock.
func (s *Set) makeRoom(now int64) {
	if !s.wants.Load() || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if now-s.room.at < roomEvery && now >= s.room.at {
		return
	}
	passed := float64(now - s.room.at)
	s.room.at = now
	come := s.deserving(now)
	if len(come) == 0 {
		return
	}
	s.weigh(passed)
	least := slices.Collect(maps.Keys(s.room.of))
	slices.SortFunc(least, func(a, b key) int {
		x, y := s.room.of[a], s.room.of[b]
		return cmp.Or(x.youth(now)-y.youth(now), cmp.Compare(x.use, y.use), cmp.Compare(a.kind, b.kind), cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b), cmp.Compare(a.c, b.c))
	})
	least = least[:(len(least)+7)/8]
	gone := map[key]bool{}
	for _, k := range come {
		lines := k.kind.lines()
		for s.series.Load()+lines > s.limit && len(least) > 0 {
			gone[least[0]] = true
			s.known.Delete(least[0])
			delete(s.room.of, least[0])
			s.series.Add(-least[0].kind.lines())
			least = least[1:]
		}
		if s.series.Load()+lines > s.limit {
			break
		}
		s.known.Store(k, struct{}{})
		s.series.Add(lines)
		s.room.of[k] = standing{since: now}
	}
	s.forget(gone)
}

// deserving are the series that have waited for long, and gives up those that nobody asks for any more.
func (s *Set) deserving(now int64) (all []key) {
	s.waitLock.Lock()
	defer s.waitLock.Unlock()
	for k, w := range s.room.waiting {
		switch {
		case now-w.last > patience || now < w.first:
			delete(s.room.waiting, k)
		case w.asked >= oftenEnough && now-w.first >= lasting:
			all = append(all, k)
			delete(s.room.waiting, k)
		}
	}
	s.wants.Store(len(s.room.waiting) > 0)
	return all
}

// weigh counts what each series was used since it did last.
func (s *Set) weigh(passed float64) {
	if s.room.of == nil {
		s.room.of = map[key]standing{}
	}
	less := math.Exp2(-passed / halfLife)
	for k, x := range s.room.of {
		x.use *= less
		s.room.of[k] = x
	}
	for _, sh := range s.shards {
		sh.mu.Lock()
		for k, h := range sh.values {
			x := s.room.of[k]
			x.use += float64(h.count - h.weighed)
			h.weighed = h.count
			s.room.of[k] = x
		}
		sh.mu.Unlock()
	}
}

// forget takes series out of all shards.
func (s *Set) forget(gone map[key]bool) {
	for _, sh := range s.shards {
		sh.mu.Lock()
		for k := range gone {
			delete(sh.values, k)
		}
		for i := range sh.lately {
			if sh.lately[i].of != nil && gone[sh.lately[i].key] {
				sh.lately[i] = slot{}
			}
		}
		sh.mu.Unlock()
	}
}

// lines is how many lines a series of a kind has.
func (k kind) lines() int64 {
	switch k {
	case drop:
		return 1
	case queue:
		return occupancyBuckets + 3
	}
	return numBuckets + 3
}
