package episode

import (
	"testing"

	"intsink/flows"
)

// sharer is a flow of a worker's table, with its bytes in each of some records.
type sharer struct {
	flows.Flow
	bytes map[uint32]uint64
}

func (f *sharer) pass(b *Book, now int64, id uint32, bytes uint32) {
	b.Count(now, id, &Packet{Flow: &f.Key, Shares: &f.Cold().Shares, Values: Values{Bytes: bytes, Latency: 5000, Occupancy: unknown}})
	f.bytes[id] += uint64(bytes)
}

// lacks is how much of the flow's bytes its record does not have.
func (f *sharer) lacks(t *testing.T, b *Book, id uint32) uint64 {
	t.Helper()
	is := b.find(id).Culprits
	for _, c := range is.Most(Counters) {
		if c.Flow == f.Key.Canonical() {
			if c.Sum > f.bytes[id] {
				t.Fatalf("record %d has %d bytes of a flow with %d", id, c.Sum, f.bytes[id])
			}
			return f.bytes[id] - c.Sum
		}
	}
	return f.bytes[id]
}

// TestFlowInSeveralEpisodes: a flow has bytes in as many full queues as its packets pass; records lack no more of them than is told,
// and nothing once the flow is gone.
func TestFlowInSeveralEpisodes(t *testing.T) {
	for queues := 1; queues <= flows.MaxShares+2; queues++ {
		b, f := New(), &sharer{Flow: flows.Flow{Key: *key(7)}, bytes: map[uint32]uint64{}}
		var ids []uint32
		for n := range queues {
			ids = append(ids, b.Begin(0, [2]uint64{uint64(n)}, 1700, 0))
		}
		for n := range 50_001 {
			for i, id := range ids {
				f.pass(b, int64(n), id, uint32(100*(i+1)))
			}
		}
		kept := uint64(0)
		for _, id := range ids {
			lacks := f.lacks(t, b, id)
			if kept += lacks; lacks > f.bytes[id]/Unshared {
				t.Errorf("%d queues: record %d lacks %d of %d bytes", queues, id, lacks, f.bytes[id])
			}
		}
		if b.Forget(&f.Flow); queues <= flows.MaxShares && kept == 0 {
			t.Error("the flow keeps nothing: the test says little")
		}
		for _, id := range ids {
			if lacks := f.lacks(t, b, id); lacks != 0 {
				t.Errorf("%d queues: without the flow, record %d lacks %d of %d bytes", queues, id, lacks, f.bytes[id])
			}
		}
	}
}

// TestRecordInThePlaceOfAnother: what a flow has kept of an episode that is over is not counted in the one that takes its place.
func TestRecordInThePlaceOfAnother(t *testing.T) {
	b, f := New(), &sharer{Flow: flows.Flow{Key: *key(7)}, bytes: map[uint32]uint64{}}
	id := b.Begin(0, [2]uint64{7}, 1700, 0)
	for n := range 3000 {
		f.pass(b, int64(n), id, 1400)
	}
	if f.lacks(t, b, id) == 0 {
		t.Fatal("the flow keeps nothing: the test says little")
	}
	b.End(3000, id, Cleared)
	next := id
	for next = b.Begin(4000, [2]uint64{8}, 1700, 0); next%MaxOpen != id%MaxOpen; next = b.Begin(4000, [2]uint64{8}, 1700, 0) {
		b.End(4000, next, Cleared)
	}
	f.pass(b, 5000, next, 64)
	if lacks := f.lacks(t, b, next); lacks != 0 || f.bytes[next] != 64 {
		t.Errorf("it lacks %d of %d bytes", lacks, f.bytes[next])
	}
	b.End(5000, next, Cleared)
	if b.Forget(&f.Flow); b.Totals().Bytes != 3000*1400+64 {
		t.Errorf("%d bytes in all", b.Totals().Bytes)
	}
}

// TestTallyOfARecordThatEnds: packets in a tally count nowhere where somebody else has seen the end of the episode, not even in the record
// that takes its place.
func TestTallyOfARecordThatEnds(t *testing.T) {
	b := New()
	id := b.Begin(0, [2]uint64{7}, 1700, 0)
	all := b.NewTallies()
	defer all.Close()
	q, place := all.Of([2]uint64{7})
	q.Goes = true
	p := &Packet{Flow: key(1), Values: Values{Bytes: 100, Latency: 5000, Occupancy: unknown}}
	all.Count(place, p.Flow, p.Shares, &p.Values)
	b.End(2, id, Cleared)
	all.Count(place, p.Flow, p.Shares, &p.Values)
	if all.Leave(1, place) || q.Goes || q.Packets() != 0 || all.Counted() != 0 || b.Totals().Packets != 0 {
		t.Errorf("tally %+v, %+v", q, b.Totals())
	}
	all.Count(place, p.Flow, p.Shares, &p.Values)
	for next := b.Begin(4, [2]uint64{8}, 1700, 0); next%MaxOpen != id%MaxOpen; next = b.Begin(4, [2]uint64{8}, 1700, 0) {
		b.End(4, next, Cleared)
	}
	if other, _ := all.Of([2]uint64{7}); other != nil {
		t.Error("there is one of a record that is not open")
	}
	if other, at := all.Of([2]uint64{8}); other != q || at != place || all.Counted() != 0 || other.Packets() != 0 || !all.Leave(5, at) {
		t.Errorf("the next one in its place: %+v", other)
	}
}
