// Others: packets of flows that the flow table has no room for, all together.

package episode

import (
	"math/bits"

	"intsink/flows"
)

// Others is packets of one worker whose flows have no place in the flow table, for each queue in an episode. A record has how many they
// are, and their bytes: whose they are it knows of its sample alone. It takes them with Leave, all of a burst under one lock, so that a
// flood of new flows over any number of queues costs each worker a lock a burst, and a look at a small table for each queue on a packet's
// way.
type Others struct {
	book    *Book
	changes uint64         // of the book, when places was made
	places  [places]uint8  // where queues has a queue, and one more; 0: nowhere. By a hash of the queue, or behind
	queues  [MaxOpen]other // of record n at n % MaxOpen
	counted uint64         // bit: of queues that has packets
}

// other is the packets for one record.
type other struct {
	sums
	picker
	queue     [2]uint64
	id, usual uint32
}

// places is how many there are: twice as many as records, so that most queues that are in none are found missing at once.
const places = 2 * MaxOpen

// NewOthers returns one for packets of a worker.
func (b *Book) NewOthers() *Others { return &Others{book: b, changes: b.changes.Load() - 1} }

// Count counts a packet that crosses a queue. It does nothing where no record of the queue is open.
func (o *Others) Count(queue [2]uint64, flow *flows.Key, v *Values) {
	if o.counted == 0 && o.changes != o.book.changes.Load() {
		o.find()
	}
	at := placeOf(queue)
	for ; o.places[at%places] != 0; at++ {
		n := (o.places[at%places] - 1) % MaxOpen
		if q := &o.queues[n]; q.queue == queue {
			o.counted |= 1 << n
			q.add(v, q.usual)
			if weight := q.pick(); weight != 0 {
				o.sample(q, flow, v, weight)
			}
			return
		}
	}
}

func placeOf(queue [2]uint64) uint {
	return uint((queue[0] ^ queue[1]<<16) * 0x9e3779b97f4a7c15 >> 57)
}

// find looks up which queues have a record that is open.
//
//go:noinline
func (o *Others) find() {
	b := o.book
	b.mu.Lock()
	defer b.mu.Unlock()
	o.changes, o.places = b.changes.Load(), [places]uint8{}
	for i := range b.open {
		r := &b.open[i]
		if r.ID == 0 {
			continue
		}
		o.queues[i] = other{picker: r.picker, queue: r.Queue, id: r.ID, usual: r.UsualLatency}
		at := placeOf(r.Queue)
		for o.places[at%places] != 0 {
			at++
		}
		o.places[at%places] = uint8(i + 1)
	}
}

// sample has the record take one packet of its sample up.
//
//go:noinline
func (o *Others) sample(q *other, flow *flows.Key, v *Values, weight uint64) {
	b, p := o.book, Packet{Flow: flow, Values: *v}
	b.mu.Lock()
	if r := b.find(q.id); r != nil && r.rested == 0 {
		r.sample(&p, weight)
	}
	b.mu.Unlock()
}

// Leave has the records take what Count has counted: packets of a burst that came at now. Of a record whose queue is calm, between two
// bursts or because the episode is over, none counts.
func (o *Others) Leave(now int64) {
	if o.counted != 0 {
		o.leave(now)
	}
}

func (o *Others) leave(now int64) {
	b := o.book
	b.mu.Lock()
	for left := o.counted; left != 0; left &= left - 1 {
		q := &o.queues[bits.TrailingZeros64(left)&(MaxOpen-1)]
		if r := b.find(q.id); r != nil && r.rested == 0 {
			r.takeOthers(now, q)
		}
		q.sums = sums{}
	}
	b.mu.Unlock()
	o.counted = 0
}

// takeOthers does not move Last: nobody asks whether these packets were over a threshold, so they are no evidence that the episode goes
// on.
func (r *Record) takeOthers(now int64, q *other) {
	r.turn(now)
	last, packets := r.Last, q.packets()
	r.take(now, &q.sums, 0, 0)
	r.Last = last
	r.OtherPackets, r.OtherBytes = r.OtherPackets+packets, r.OtherBytes+q.bytes
	r.first, r.dice = r.first-int(packets), q.dice
	q.picker = r.picker
}
