// Tallies: the tallies of one worker for all records that are open.

package episode

import (
	"fmt"
	"syscall"
	"unsafe"

	"intsink/flows"
)

// tallies are what package engine/fast knows: fast_tallies.
type tallies struct {
	counted uint64         // bit: the tally has packets of flows
	others  uint64         // bit: it has packets without one
	held    uint64         // of package engine/fast
	places  [places]uint8  // where of has a queue, and one more; 0: nowhere. By a hash of the queue, or behind
	of      [MaxOpen]Tally // of record n at n % MaxOpen
}

// places is how many there are: eight times as many as records, so that most queues that are in none are found missing at once.
const places = 8 * MaxOpen

// Tallies are those of one worker. Records take them with Leave: those of flows behind each burst, others after a millisecond at the latest, so
// that a flood of new flows over any number of queues costs little more than a look at a small table for each queue on a packet's way.
type Tallies struct {
	*tallies
	book    *Book
	changes uint64 // of the book, when places was made
}

// NewTallies maps those of a worker. Close gives the memory back.
func (b *Book) NewTallies() *Tallies {
	m, err := syscall.Mmap(-1, 0, int(unsafe.Sizeof(tallies{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("episode: no memory for %d bytes: %v", unsafe.Sizeof(tallies{}), err)) // at start only
	}
	return &Tallies{tallies: (*tallies)(unsafe.Pointer(&m[0])), book: b, changes: b.changes.Load() - 1} // SAFETY: page aligned and large enough
}

// Close gives the memory back. Nothing may be called after it.
func (t *Tallies) Close() {
	syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(t.tallies)), unsafe.Sizeof(tallies{}))) // SAFETY: what NewTallies mapped
}

// Address is where package engine/fast finds them.
func (t *Tallies) Address() unsafe.Pointer { return unsafe.Pointer(t.tallies) }

// Counted are the places of tallies that have packets of flows, a bit each.
func (t *Tallies) Counted() uint64 { return t.counted }

// Others are the places of tallies that have packets without a flow, a bit each.
func (t *Tallies) Others() uint64 { return t.others }

// At is the tally at a place.
func (t *Tallies) At(place int) *Tally { return &t.of[place%MaxOpen] }

// Refresh looks up which queues have a record that is open, if that has changed. Packets of a record that is not open any more count
// nowhere: others have seen its end.
func (t *Tallies) Refresh() {
	if t.changes != t.book.changes.Load() {
		t.refresh()
	}
}

// Known reports whether the records that are open are those that Refresh has found.
func (t *Tallies) Known() bool { return t.changes == t.book.changes.Load() }

//go:noinline
func (t *Tallies) refresh() {
	b := t.book
	b.mu.Lock()
	defer b.mu.Unlock()
	t.changes, t.places = b.changes.Load(), [places]uint8{}
	for i := range b.open {
		r, q := &b.open[i], &t.of[i]
		if r.ID != q.id {
			*q = Tally{queue: r.Queue, id: r.ID}
			t.counted, t.others = t.counted&^(1<<i), t.others&^(1<<i)
			q.begin(r)
		}
		if r.ID == 0 {
			continue
		}
		at := placeOf(r.Queue)
		for t.places[at%places] != 0 {
			at++
		}
		t.places[at%places] = uint8(i + 1)
	}
}

func placeOf(queue [2]uint64) uint {
	return uint((queue[0] ^ queue[1]<<16) * 0x9e3779b97f4a7c15 >> 55)
}

// Of returns the tally of a queue, and its place; nil: no record of it is open.
func (t *Tallies) Of(queue [2]uint64) (q *Tally, place int) {
	t.Refresh()
	for at := placeOf(queue); t.places[at%places] != 0; at++ {
		place = int(t.places[at%places]-1) % MaxOpen
		if q = &t.of[place]; q.queue == queue {
			return q, place
		}
	}
	return nil, 0
}

// Count adds a packet of a flow, of those that its run takes.
func (t *Tallies) Count(place int, flow *flows.Key, shares *[flows.MaxShares]flows.Share, v *Values) {
	q := t.At(place)
	t.counted |= 1 << place
	q.Left--
	if weight, share := q.count(shares, v); weight != 0 || share != keepsShare {
		t.take(q.id, &Packet{flow, shares, *v}, weight, share)
	}
}

// CountOther adds a packet of a flow without a record to those of the queue, if a record of that is open.
func (t *Tallies) CountOther(queue [2]uint64, flow *flows.Key, v *Values) {
	q, place := t.Of(queue)
	if q == nil {
		return
	}
	t.others |= 1 << place
	q.others.add(v, q.usual)
	if weight := q.pick(); weight != 0 {
		t.take(q.id, &Packet{Flow: flow, Values: *v}, weight, keepsShare)
	}
}

// take has a record take one packet at once.
//
//go:noinline
func (t *Tallies) take(id uint32, p *Packet, weight uint64, share uint8) {
	b := t.book
	b.mu.Lock()
	if r := b.find(id); r != nil {
		b.take(r, p, weight, share)
	}
	b.mu.Unlock()
}

// TakeDrawn has records take the packets that package engine/fast has drawn, of a burst whose packets have these flows and keys.
func (t *Tallies) TakeDrawn(all []Drawn, of *[64]*flows.Flow, keys *[64]flows.Key) {
	b := t.book
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range all {
		x := &all[i]
		r, j := b.find(t.At(int(x.Place)).id), x.Packet&63
		if r == nil {
			continue
		}
		p := Packet{Flow: &keys[j], Values: Values{Latency: x.Latency, Occupancy: unknown, Bytes: x.Bytes}}
		if f := of[j]; f != nil {
			p.Flow, p.Shares = &f.Key, &f.Cold().Shares
		}
		b.take(r, &p, uint64(x.Weight), x.Share)
	}
}

// Leave has the record take the packets of now in the tally at a place, and reports whether it is open. Of a record whose queue is calm,
// between two bursts or because the episode is over, packets without a flow do not count.
func (t *Tallies) Leave(now int64, place int) bool {
	q, b := t.At(place), t.book
	t.counted, t.others = t.counted&^(1<<place), t.others&^(1<<place)
	b.mu.Lock()
	open := t.leave(now, q)
	b.mu.Unlock()
	return open
}

func (t *Tallies) leave(now int64, q *Tally) bool {
	r := t.book.find(q.id)
	if r == nil {
		q.own, q.others, q.Goes = sums{}, sums{}, false
		return false
	}
	r.turn(now)
	own, others := q.own.packets(), q.others.packets()
	if r.rested != 0 {
		others = 0
	}
	if others != 0 {
		r.takeOthers(now, &q.others)
	}
	if own != 0 {
		r.take(now, &q.own, q.wasBytes, q.wasAdded)
	}
	if own+others != 0 {
		r.first, r.dice = r.first-int(own+others), q.dice
	}
	q.begin(r)
	return true
}

// begin begins the sums for packets of r.
func (q *Tally) begin(r *Record) {
	q.picker, q.usual, q.wasBytes, q.wasAdded = r.picker, r.UsualLatency, r.Bytes, r.Victims.Total
	q.own, q.others = sums{bytes: r.Bytes, added: r.Victims.Total}, sums{}
}

// takeOthers does not move Last: nobody asks whether these packets were over a threshold, so they are no evidence that the episode goes
// on.
func (r *Record) takeOthers(now int64, s *sums) {
	last := r.Last
	r.take(now, s, 0, 0)
	r.Last = last
	r.OtherPackets, r.OtherBytes = r.OtherPackets+s.packets(), r.OtherBytes+s.bytes
}

// Release gives packets of flows back to package engine/fast that it has left to Go, as one in front of them was.
func (t *Tallies) Release() { t.held = 0 }

// Stop has no packet of a flow go on with an episode until Go has looked at one.
func (t *Tallies) Stop() {
	for i := range t.of {
		t.of[i].Goes = false
	}
}
