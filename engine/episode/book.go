// Book: the episodes that are open, and the last ones that ended.

package episode

import (
	"slices"
	"sync"
	"sync/atomic"

	"intsink/engine/wire/report"
)

// MaxOpen is how many episodes are recorded at once; MaxEnded how many that ended are kept.
const (
	MaxOpen  = 64
	MaxEnded = 256
)

// Book is the records of a sink. Any goroutine may call its methods.
type Book struct {
	mu     sync.Mutex
	last   uint32
	open   [MaxOpen]Record // number n at n % MaxOpen
	ended  [MaxEnded]Record
	totals Totals
	told   uint64      // of the ended ones, by Tell
	untold atomic.Bool // some are not told

	changes atomic.Uint64 // how often a record of open came or went: Tallies keep the places of records until then
}

// Totals are of all episodes so far.
type Totals struct {
	Ended      uint64
	Open       int
	Unrecorded uint64 // for which there was no room at their begin, or no longer
	Ns         int64  // how long the ended ones lasted
	Packets    uint64 // of the ended ones
	Bytes      uint64
	Culprits   uint64 // bytes of the flows with most of them, three of each episode
	Others     uint64 // bytes of flows without a place in the flow table
}

// New returns an empty Book.
func New() *Book { return new(Book) }

// settled is how long a record has its place for certain: by then a queue that is full has told more than one that is made up.
const settled = 100e6

// Begin opens a record of a queue's episode, with what is usual in the queue, and returns its number; 0: all are open. The one with the
// fewest bytes makes room, if it is settled.
func (b *Book) Begin(now int64, queue [2]uint64, usualLatency, usualOccupancy uint32) uint32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := b.begin(now, queue, usualLatency, usualOccupancy, 0)
	if id == 0 {
		b.totals.Unrecorded++
	}
	return id
}

// Again does as Begin, for an episode that Begin had no room for, or that made room. It had so many packets: one that had fewer than
// half as many makes room though it is not settled.
func (b *Book) Again(now int64, queue [2]uint64, usualLatency, usualOccupancy uint32, packets uint64) uint32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begin(now, queue, usualLatency, usualOccupancy, packets)
}

func (b *Book) begin(now int64, queue [2]uint64, usualLatency, usualOccupancy uint32, packets uint64) uint32 {
	if b.totals.Open == MaxOpen && !b.makeRoom(now, packets) {
		return 0
	}
	for b.last = max(b.last+1, 1); b.open[b.last%MaxOpen].ID != 0; b.last = max(b.last+1, 1) {
	}
	b.open[b.last%MaxOpen] = Record{ID: b.last, Queue: queue, Begin: now, Last: now, Bursts: 1, burst: now, spanAt: now, picker: picker{firstOfAll, b.last}, Width: WindowNs, UsualLatency: usualLatency, UsualOccupancy: usualOccupancy}
	b.totals.Open++
	b.changes.Add(1)
	return b.last
}

// makeRoom forgets the record that has the fewest bytes, if it is settled, or has fewer than half of packets.
func (b *Book) makeRoom(now int64, packets uint64) bool {
	least := &b.open[0]
	for i := range b.open {
		if r := &b.open[i]; r.Bytes < least.Bytes || r.Bytes == least.Bytes && r.Begin < least.Begin {
			least = r
		}
	}
	if now-least.Begin < settled && least.Packets >= packets/2 {
		return false
	}
	*least = Record{}
	b.totals.Open--
	b.changes.Add(1)
	b.totals.Unrecorded++
	return true
}

// find returns the record with that number; nil: it is not open.
func (b *Book) find(id uint32) *Record {
	if r := &b.open[id%MaxOpen]; id != 0 && r.ID == id {
		return r
	}
	return nil
}

// burstGap is how long a queue has to be calm between two bursts: less is one.
const burstGap = WindowNs

// Rest notes that the queue of the record with that number has been calm since a time. It ends after so long.
func (b *Book) Rest(since int64, id uint32, hold int64) {
	b.mu.Lock()
	if r := &b.open[id%MaxOpen]; r.ID == id {
		r.rested, r.due = since, since+hold
	}
	b.mu.Unlock()
}

// Resume notes that it is calm no more. apart: it is one queue, whose bursts can be told apart.
func (b *Book) Resume(now int64, id uint32, apart bool) {
	b.mu.Lock()
	if r := &b.open[id%MaxOpen]; r.ID == id {
		if apart && now-r.rested >= burstGap {
			r.over = r.Over()
			r.burst = now
			r.Bursts++
		}
		r.rested, r.due = 0, 0
	}
	b.mu.Unlock()
}

// End closes the record with that number, if it is open.
func (b *Book) End(at int64, id uint32, how Ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := &b.open[id%MaxOpen]; id != 0 && r.ID == id {
		b.end(r, at, how)
	}
}

func (b *Book) end(r *Record, at int64, how Ending) {
	r.End, r.Ended = max(at, r.Begin), how
	t := &b.totals
	t.Ns, t.Packets, t.Bytes = t.Ns+r.Over(), t.Packets+r.Packets, t.Bytes+r.Bytes
	b.ended[t.Ended%MaxEnded] = *r
	t.Ended++
	b.untold.Store(true)
	t.Culprits, t.Others = t.Culprits+r.culprits(), t.Others+r.OtherBytes
	t.Open--
	b.changes.Add(1)
	*r = Record{}
}

// patience is how long a packet may take to come that ends a record of a queue that is calm: it is reported.
const patience = 1e9

// Expire ends the records whose last packet passed so long ago: no packet came to end them.
func (b *Book) Expire(now, timeout int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.open {
		r := &b.open[i]
		switch {
		case r.ID == 0:
		case r.rested != 0 && now-r.due >= patience:
			b.end(r, r.rested, Cleared)
		case r.rested == 0 && now-r.Last >= timeout:
			b.end(r, r.Last, Silent)
		}
	}
}

// Totals returns what all episodes add up to.
func (b *Book) Totals() Totals {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.totals
}

// Open returns copies of the records that are open, the oldest first.
func (b *Book) Open() (all []Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.open {
		if b.open[i].ID != 0 {
			all = append(all, b.open[i])
		}
	}
	slices.SortFunc(all, func(x, y Record) int { return int(int32(x.ID - y.ID)) })
	return all
}

// Ended returns copies of the records that ended, those with the numbers from on in the order in which they ended, and the
// number to ask for next: 0 is the first of all. Those before the last MaxEnded are gone.
func (b *Book) Ended(from uint64) (all []Record, next uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.totals.Ended
	for i := max(from, max(n, MaxEnded)-MaxEnded); i < n; i++ {
		all = append(all, b.ended[i%MaxEnded])
	}
	return all, n
}

// Untold reports whether there are episodes that ended and that Tell has not told.
func (b *Book) Untold() bool { return b.untold.Load() }

// Tell writes episodes that ended to all, each once, in the order in which they ended, and returns how many. Those before
// the last MaxEnded are gone.
func (b *Book) Tell(all []report.Episode) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := b.totals.Ended
	for b.told = max(b.told, max(ended, MaxEnded)-MaxEnded); b.told < ended && n < len(all); n++ {
		b.ended[b.told%MaxEnded].summary(&all[n])
		b.told++
	}
	b.untold.Store(b.told < ended)
	return n
}
