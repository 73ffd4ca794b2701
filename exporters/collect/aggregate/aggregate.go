// Sums records up into histograms of latency and occupancy, with a bounded number of series.

package aggregate

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"intsink/exporters/record"
)

// Set holds the histograms and counters of one collector.
type Set struct {
	limit   int64
	series  atomic.Int64
	refused atomic.Uint64
	known   sync.Map // key -> struct{}: the keys that have been admitted under the limit

	mu     sync.Mutex // taken before the lock of a shard
	shards []*shard

	wants    atomic.Bool // series wait for room
	waitLock sync.Mutex  // of room.waiting, taken after the lock of a shard
	room     room
}

// New makes a set of at most the given number of series.
func New(series int) *Set { return &Set{limit: int64(series)} }

// kind says which metric a key belongs to, and so what its numbers a, b and c mean.
type kind uint8

const (
	hop      kind = iota // a: node
	link                 // a: from, b: to
	queue                // a: node, b: egress, c: queue
	drop                 // a: node, b: reason or noReason
	reporter             // a: node that reports what others measured
)

// key names a histogram or, of kind drop, a counter.
type key struct {
	kind    kind
	a, b, c uint32
}

// shard holds the sums of one goroutine's records. Besides that goroutine only a scrape takes
// its lock, so that goroutines do not wait for each other.
type shard struct {
	set    *Set
	mu     sync.Mutex
	now    int64 // when the record at hand came
	values map[key]*histogram
	lately [1 << latelyBits]slot // of values: nearly all records are about the same nodes as the last ones
	events [32]uint64
	none   uint64 // reports whose events are not known
}

// slot is a histogram with its key; nil: none.
type slot struct {
	key
	of *histogram
}

// latelyBits is the width of a key's place in shard.lately.
const latelyBits = 9

// place is where in shard.lately a histogram of k stands.
func (k key) place() uint32 {
	h := (k.a*0x9e3779b1+k.b)*0x85ebca6b + k.c
	return ((h + uint32(k.kind)) * 0xc2b2ae35) >> (32 - latelyBits)
}

// numBuckets is the number of a histogram's buckets without +Inf.
const numBuckets = 22

// histogram counts each value in the lowest bucket whose bound is not below it.
type histogram struct {
	buckets [numBuckets + 1]uint64
	count   uint64
	sum     uint64
	weighed uint64 // of count, by Set.weigh
}

// Observer returns a function that adds records to the set. One goroutine may use it.
func (s *Set) Observer() func(*record.Record) {
	sh := &shard{set: s, values: map[key]*histogram{}}
	s.mu.Lock()
	s.shards = append(s.shards, sh)
	s.mu.Unlock()
	return sh.observe
}

// noReason stands for a drop whose reason is not known.
const noReason = 256

func (s *shard) observe(r *record.Record) {
	if r.Type != record.Report {
		return
	}
	s.add(r)
	s.set.makeRoom(r.Received)
}

// add adds a report to the shard.
func (s *shard) add(r *record.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = r.Received
	if r.Has(record.KnownEvents) {
		for e := r.Events; e != 0; e &= e - 1 {
			s.events[bits.TrailingZeros32(e)]++
		}
	} else {
		s.none++
	}
	if r.TellsDrop() {
		reason := uint32(noReason)
		if r.Has(record.KnownDropReason) {
			reason = uint32(r.DropReason)
		}
		if h := s.at(key{drop, r.NodeID, reason, 0}); h != nil {
			h.count++
		}
	}
	for i := range r.Hops {
		h := &r.Hops[i]
		if h.Known&record.HopNode != 0 {
			s.hop(hop, h.NodeID, h.Known, h.Egress, h.LatencyNs, h.Queue, h.Occupancy)
		}
	}
	if r.Has(record.KnownNode) {
		who := hop // a node on the way, which reports itself
		if len(r.Hops) > 0 {
			who = reporter
		}
		s.hop(who, r.NodeID, r.Sink.Known, uint32(r.Sink.Egress), r.Sink.LatencyNs, r.Sink.Queue, r.Sink.Occupancy)
	}
	for i := range r.Links {
		if h := s.at(key{link, r.Links[i].From, r.Links[i].To, 0}); h != nil {
			h.latency(r.Links[i].LatencyNs)
		}
	}
}

// hop adds the latency and the queue occupancy that one node reported.
func (s *shard) hop(who kind, node uint32, known record.HopKnown, egress, latency uint32, q uint8, occupancy uint32) {
	if known&record.HopLatency != 0 {
		if h := s.at(key{who, node, 0, 0}); h != nil {
			h.latency(uint64(latency))
		}
	}
	const all = record.HopEgress | record.HopQueue | record.HopOccupancy
	if known&all == all {
		if h := s.at(key{queue, node, egress, uint32(q)}); h != nil {
			h.occupancy(occupancy)
		}
	}
}

// at returns the histogram of k. It returns nil if k is new and the set is full.
func (s *shard) at(k key) *histogram {
	last := &s.lately[k.place()]
	if last.of != nil && last.key == k {
		return last.of
	}
	h := s.find(k)
	if h != nil {
		*last = slot{k, h}
	}
	return h
}

func (s *shard) find(k key) *histogram {
	h := s.values[k]
	if h != nil {
		return h
	}
	lines := k.kind.lines()
	if _, known := s.set.known.Load(k); !known {
		if s.set.series.Load()+lines > s.set.limit {
			s.set.refused.Add(1)
			s.set.wait(k, s.now)
			return nil
		}
		if _, twice := s.set.known.LoadOrStore(k, struct{}{}); !twice {
			s.set.series.Add(lines)
		}
	}
	h = &histogram{}
	s.values[k] = h
	return h
}

// latencyBounds has the upper bounds of buckets: 1, 2 and 5 in each decade from 1 us to 10 s, in
// nanoseconds.
var latencyBounds = func() (b [numBuckets]uint64) {
	i := 0
	for decade := uint64(1e3); i < numBuckets; decade *= 10 {
		for _, step := range []uint64{1, 2, 5} {
			if i < numBuckets {
				b[i] = step * decade
				i++
			}
		}
	}
	return b
}()

func (h *histogram) latency(ns uint64) {
	i := 0
	for i < numBuckets && ns > latencyBounds[i] {
		i++
	}
	h.buckets[i]++
	h.count++
	h.sum += ns
}

// occupancyBuckets is how many buckets occupancy has: one for 0, and one for each power of four.
const occupancyBuckets = 13

func (h *histogram) occupancy(n uint32) {
	i := 0
	if n > 0 {
		i = 1 + (bits.Len32(n-1)+1)/2 // the least power of four that is n or more
	}
	h.buckets[min(i, occupancyBuckets)]++
	h.count++
	h.sum += uint64(n)
}

// occupancyBound returns the upper bound of bucket i.
func occupancyBound(i int) uint64 {
	if i == 0 {
		return 0
	}
	return 1 << (2 * (i - 1))
}
