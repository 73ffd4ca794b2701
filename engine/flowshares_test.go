//go:build !race

package engine

import (
	"testing"

	"intsink/engine/episode"
	"intsink/flows"
)

// TestFlowsThatGoLeaveTheirShares: what a flow keeps of its packets in a full queue is in the queue's record once the flow has ended, or
// made room for another one.
func TestFlowsThatGoLeaveTheirShares(t *testing.T) {
	f := newFlooded(t)
	defer f.b.Close()
	all := map[flows.Key]*flows.Flow{}
	for len(all) < 24 {
		f.poll()
		for j := range 3 { // those of live flows are first
			if x := f.b.burst.Fast.Flows[j]; x != nil && len(all) < 24 {
				all[x.Key.Canonical()] = x
			}
		}
	}
	f.b.now += 5e9 // flows that were silent as long make room first
	book := f.detector.Episodes()
	id := book.Begin(f.b.now, [2]uint64{7}, 0, 0)
	book.Count(f.b.now+1000e9, id, &episode.Packet{Flow: new(flows.Key)}) // no worker ends it
	bytes := map[flows.Key]uint64{}
	for k, x := range all {
		bytes[k] = uint64(1000 + len(bytes))
		x.Cold().Shares[1] = flows.Share{Record: id, Packets: 1, Bytes: bytes[k]}
	}
	check := func(how string, least int) {
		t.Helper()
		told, gone := map[flows.Key]uint64{}, 0
		open := book.Open()
		for _, c := range open[0].Culprits.Most(episode.Counters) {
			told[c.Flow] = c.Sum
		}
		for k, want := range bytes {
			if x := f.table.Find(&k); x != nil && x.HasCold() {
				want -= x.Cold().Shares[1].Bytes
			} else if x == nil {
				gone++
			}
			if told[k] != want {
				t.Errorf("%s: the record has %d bytes of a flow, want %d", how, told[k], want)
			}
		}
		if gone < least {
			t.Fatalf("%s: %d of %d flows are gone", how, gone, len(bytes))
		}
	}
	for range 1000 {
		f.poll()
	}
	check("evicted", 1)
	stay := 0
	for range 100 {
		f.poll()
		for k := range bytes {
			if x := f.table.Find(&k); x != nil && x.Cold().Shares[1].Packets == 0 && stay < 8 {
				stay, bytes[k] = stay+1, bytes[k]+500
				x.Cold().Shares[1] = flows.Share{Record: id, Packets: 1, Bytes: 500}
			}
		}
	}
	if check("new", 0); stay < 8 {
		t.Fatalf("%d flows are there again", stay)
	}
	for range 40 {
		f.b.now += 1e9
		f.age(f.b.now)
	}
	check("idle", len(bytes))
}
