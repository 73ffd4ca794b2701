// Order, Position and best: the first N flows of an order, kept as a heap.

package inspect

import "intsink/flows"

// Order is what flows are sorted by, the highest first; keys decide between equals.
type Order uint8

const (
	ByPackets Order = iota
	ByBytes
	ByLastSeen
	ByLatency    // of the whole way, last reported; 0 where it is unknown
	ByHopLatency // the highest of a hop, last reported
	ByLost       // packets lost on the way
	ByMarked     // packets that came with the mark of a queue
)

func (o Order) of(f *flows.Flow) uint64 {
	switch o {
	case ByLastSeen:
		return uint64(f.LastSeen())
	case ByLatency:
		if !f.EndKnown() {
			return 0
		}
		return uint64(f.EndRef)
	case ByHopLatency:
		ns, _ := highest(f.Hops[:min(f.NumHops, flows.MaxHops)])
		return uint64(ns)
	case ByLost:
		if !f.HasLoss() {
			return 0
		}
		l, _ := f.Loss()
		return l.Lost
	case ByMarked:
		if !f.HasCold() {
			return 0
		}
		return f.Cold().Marked
	}
	packets, bytes := f.Totals()
	if o == ByBytes {
		return bytes
	}
	return packets
}

// Position is a place in the order of flows.
type Position struct {
	Value uint64
	Key   flows.Key
}

// Before reports whether p comes before o.
func (p *Position) Before(o *Position) bool {
	if p.Value != o.Value {
		return p.Value > o.Value
	}
	return p.Key.Compare(&o.Key) < 0
}

// Found is a flow and its place in the order.
type Found struct {
	Position
	Flow Flow
}

// best keeps the first flows in the order of those offered: places is a heap of
// indices into found, the last in the order at its root.
type best struct {
	found  []Found
	places []int32
}

func newBest(limit int) best {
	return best{make([]Found, 0, limit), make([]int32, 0, limit)}
}

// room returns where a flow at p goes, or nil where it is not among the first.
func (b *best) room(p *Position) *Found {
	if n := len(b.found); n < cap(b.found) {
		b.found = b.found[:n+1]
		b.found[n].Position = *p
		b.places = append(b.places, int32(n))
		b.up(n)
		return &b.found[n]
	}
	if len(b.found) == 0 || !p.Before(&b.found[b.places[0]].Position) {
		return nil
	}
	r := &b.found[b.places[0]]
	r.Position = *p
	b.down()
	return r
}

// later reports whether the flow at place i comes after that at place j.
func (b *best) later(i, j int) bool {
	return b.found[b.places[j]].Before(&b.found[b.places[i]].Position)
}

func (b *best) up(i int) {
	for i > 0 && b.later(i, (i-1)/2) {
		b.places[i], b.places[(i-1)/2] = b.places[(i-1)/2], b.places[i]
		i = (i - 1) / 2
	}
}

func (b *best) down() {
	for i := 0; ; {
		last := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(b.places); c++ {
			if b.later(c, last) {
				last = c
			}
		}
		if last == i {
			return
		}
		b.places[i], b.places[last] = b.places[last], b.places[i]
		i = last
	}
}
