// Places: the places that have tracks; sampled packets add to them, requests read them.

package series

import (
	"fmt"
	"math/bits"
	"sync"
	"syscall"
	"unsafe"

	"intsink/engine/usual"
)

// Room of each kind. Where there are more places, those make room that had no sample for idle; new ones that find no room
// are left out, and counted.
var room = [usual.NumKinds]int{usual.Queue: 1 << 11, usual.Hop: 1 << 12, usual.Segment: 1 << 11, usual.Path: 1 << 12}

const (
	idle  = 60 * second
	tries = 8 // places that are looked at for one to make room
)

// Places keeps what was of places. Any goroutine may call its methods.
type Places struct {
	mu    sync.Mutex
	kinds [usual.NumKinds]table
}

// table is the places of one kind. Place n has tracks[n*width:][:width].
type table struct {
	seed   uint64
	index  []int32 // by hash, with open addressing: place + 1; 0: free
	places []entry
	tracks []track
	width  int
	memory []byte // of tracks
	used   int    // of places
	hand   int    // which of them is to be looked at next for one to make room
	left   uint64
}

type entry struct {
	key  [2]uint64
	seen int64 // last sample
}

// NewPlaces has seen nothing. seed keys its hashes.
func NewPlaces(seed uint64) *Places { return newPlaces(seed, &room) }

func newPlaces(seed uint64, room *[usual.NumKinds]int) *Places {
	p := new(Places)
	for k := range p.kinds {
		t := &p.kinds[k]
		t.seed, t.width = seed*0x9e3779b97f4a7c15|1, 1
		if usual.Kind(k) == usual.Queue {
			t.width = 2
		}
		t.index, t.places = make([]int32, 4*room[k]), make([]entry, room[k])
		t.memory = mapped(room[k] * t.width * int(unsafe.Sizeof(track{})))
		// SAFETY: the mapping is page aligned, zero, as long as the slice, and lives until Close.
		t.tracks = unsafe.Slice((*track)(unsafe.Pointer(&t.memory[0])), room[k]*t.width)
	}
	return p
}

// mapped returns zeroed memory outside the Go heap: a sink asks for it at start.
func mapped(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		panic(fmt.Sprintf("series: no memory for %d bytes: %v", n, err))
	}
	return b
}

// Close gives the memory back. Nothing may be called after it.
func (p *Places) Close() {
	for k := range p.kinds {
		syscall.Munmap(p.kinds[k].memory)
	}
}

// unknown is a value that a packet does not tell.
const unknown = 1<<32 - 1

// Add takes in what one sampled packet tells, and reports whether it did: not where another goroutine asks or adds at
// this moment.
func (p *Places) Add(now int64, readings []usual.Reading) bool {
	if !p.mu.TryLock() {
		return false
	}
	for i := range readings {
		r := &readings[i]
		if r.Latency == unknown && r.Occupancy == unknown {
			continue
		}
		t := &p.kinds[r.Kind%usual.NumKinds]
		at := t.get(r.Key, now)
		if at < 0 {
			continue
		}
		tracks := t.tracks[at*t.width:][:t.width]
		if r.Latency != unknown {
			tracks[0].add(now, r.Latency)
		}
		if t.width > 1 && r.Occupancy != unknown {
			tracks[1].add(now, r.Occupancy)
		}
	}
	p.mu.Unlock()
	return true
}

// slot returns where key stands in the index, or where it would.
func (t *table) slot(key [2]uint64) int {
	at, mask := t.home(key), len(t.index)-1
	for t.index[at] != 0 && t.places[t.index[at]-1].key != key {
		at = (at + 1) & mask
	}
	return at
}

// home is where the search for key begins.
func (t *table) home(key [2]uint64) int {
	hi, lo := bits.Mul64(key[0]^t.seed, 0xd6e8feb86659fd93)
	h := (hi ^ lo ^ bits.RotateLeft64(key[1]*t.seed, 32)) * 0x9e3779b97f4a7c15
	return int(h>>32) & (len(t.index) - 1)
}

// get finds or makes the place of key; -1: there is no room.
func (t *table) get(key [2]uint64, now int64) int {
	slot := t.slot(key)
	if n := t.index[slot]; n != 0 {
		t.places[n-1].seen = now
		return int(n - 1)
	}
	at := t.free(now)
	if at < 0 {
		t.left++
		return -1
	}
	t.places[at] = entry{key, now}
	t.index[t.slot(key)] = int32(at + 1)
	return at
}

// free returns a place that is free, or one that makes room; -1: there is none.
func (t *table) free(now int64) int {
	if t.used < len(t.places) {
		t.used++
		return t.used - 1
	}
	for range tries {
		at := t.hand
		t.hand = (t.hand + 1) % len(t.places)
		if now-t.places[at].seen >= idle {
			t.remove(t.slot(t.places[at].key))
			clear(t.tracks[at*t.width:][:t.width])
			return at
		}
	}
	return -1
}

// remove takes what stands at a slot out of the index, and moves those up that stand behind it for want of room.
func (t *table) remove(slot int) {
	mask := len(t.index) - 1
	for at := (slot + 1) & mask; t.index[at] != 0; at = (at + 1) & mask {
		if home := t.home(t.places[t.index[at]-1].key); (at-home)&mask >= (at-slot)&mask {
			t.index[slot] = t.index[at]
			slot = at
		}
	}
	t.index[slot] = 0
}

// Line is what was of one place: a point for each step of a Span.
type Line struct {
	Latency   []Point // nanoseconds
	Occupancy []Point // of queues
}

// Of returns what was of a place; nil: there is no such place.
func (p *Places) Of(place usual.Place, s *Span) *Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &p.kinds[place.Kind%usual.NumKinds]
	if n := t.index[t.slot(place.Key)]; n != 0 {
		return t.line(int(n-1), s)
	}
	return nil
}

func (t *table) line(at int, s *Span) *Line {
	l := &Line{Latency: t.tracks[at*t.width].read(s, make([]Point, 0, s.Len()))}
	if t.width > 1 {
		l.Occupancy = t.tracks[at*t.width+1].read(s, make([]Point, 0, s.Len()))
	}
	return l
}

// Keys returns the places of a kind that had a sample since a time, and how many samples of others found no room.
func (p *Places) Keys(k usual.Kind, since int64) (keys [][2]uint64, left uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &p.kinds[k%usual.NumKinds]
	for i := range t.places[:t.used] {
		if e := &t.places[i]; e.seen >= since {
			keys = append(keys, e.key)
		}
	}
	return keys, t.left
}
