package flows

import (
	"math/rand/v2"
	"testing"
)

// TestSlotsAndPlacesAgree: however flows are inserted, moved, removed and evicted, each flow has
// one place, and one slot holds that place. All other places are free, even if a report of their
// last flow is still due.
func TestSlotsAndPlacesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, of := range []uint64{40, 300, 5000} { // few, three in four of those there is room for, too many
		table := New(Config{Capacity: 1024, Seed: of, IdleTimeout: 3 * second})
		ended := 0
		for now := second; now < 40*second; now += second / 50 {
			var keys []Key
			for range r.IntN(65) {
				keys = append(keys, keyOf(uint64(now/(second/10))*of/40+r.Uint64N(of)))
			}
			found, _ := lookup(table, now, keys...)
			for j, f := range found {
				if f != nil && f.Key != keys[j] {
					t.Fatalf("of %d: key %d has the flow of another", of, j)
				}
			}
			var gone []*Flow
			table.Age(now, func(f *Flow) {
				if f.Key.removed() {
					t.Fatal("a flow ended that had ended")
				}
				gone = append(gone, f)
			})
			for _, f := range gone { // as a report of what it lost does
				f.Watch, f.NextRefresh, f.LastReport, f.LastEvents = 9, r.Uint32(), r.Uint32(), r.Uint32()
				f.Cold().Lost++
			}
			ended += len(gone)
			agree(t, table)
		}
		if crowded := of > 1024; crowded != (table.Evictions() > 0) || !crowded && ended < 100 {
			t.Errorf("of %d: %d flows ended, %d were evicted", of, ended, table.Evictions())
		}
		table.Close()
	}
}

func agree(t *testing.T, table *Table) {
	t.Helper()
	told := map[uint32]bool{}
	for b := range table.buckets {
		bk := &table.buckets[b]
		for s := range uint64(slots) {
			if bk.tag(s) == 0 {
				continue
			}
			i := bk.flows[s]
			h := table.Hash(&table.flows[i].Key)
			if both := table.candidates(h); told[i] || table.flows[i].Key.removed() || bk.tag(s) != tagOf(h) || uint64(b) != both[0] && uint64(b) != both[1] {
				t.Fatalf("slot %d of bucket %d is wrong about place %d", s, b, i)
			}
			told[i] = true
		}
	}
	p := table.slab
	for i, n := p.first, p.free; n > 0; n-- {
		if told[i] || !table.flows[i].Key.removed() || int(i) >= p.used {
			t.Fatalf("place %d is not free", i)
		}
		told[i] = true
		i = table.flows[i].nextFree()
	}
	if len(told) != p.used || table.Len() != p.used-p.free {
		t.Fatalf("%d places used, %d free, %d of them told", p.used, p.free, len(told))
	}
}

// TestPlacesAreDense: flows that come and go use the places of those that were before,
// but none at once.
func TestPlacesAreDense(t *testing.T) {
	const capacity = 1 << 14
	table := New(Config{Capacity: capacity, Seed: 1, IdleTimeout: second})
	defer table.Close()
	now, peak := second, 0
	var left *Flow
	for n := range uint64(50_000) {
		f, _ := lookup(table, now, keyOf(n))
		if f[0] == left {
			t.Fatalf("flow %d has the place of the one that left last", n)
		}
		now += second / 100
		table.Age(now, func(f *Flow) { left = f })
		peak = max(peak, table.Len())
	}
	if most := peak + capacity/recycleShare + 1; table.slab.used > most || peak > 600 {
		t.Errorf("%d places for %d flows at once, want at most %d", table.slab.used, peak, most)
	}
}

// TestTurns: each place has its turn in a round, and flows that came and went together
// end all over it, as those of a table without order would: flow_end has a rate.
func TestTurns(t *testing.T) {
	for _, capacity := range []int{16, 64, 128, 1024, 1 << 14} {
		table := New(Config{Capacity: capacity, Seed: 1, IdleTimeout: second})
		seen := map[int]bool{}
		for n := range capacity {
			seen[table.placeOfTurn(n)] = true
		}
		if len(seen) != capacity || seen[capacity] {
			t.Errorf("%d of %d places have a turn", len(seen), capacity)
		}
		table.Close()
	}
	table := New(Config{Capacity: 1 << 14, Seed: 1, IdleTimeout: second})
	defer table.Close()
	for n := range uint64(1024) {
		lookup(table, second, keyOf(n))
	}
	ends := [4]int{}
	for now := second; now < 6*second; now += second / 1000 {
		table.Age(now, func(*Flow) { ends[(now/second-2)%4]++ })
	}
	for i, n := range ends {
		if n != 256 {
			t.Errorf("%d flows ended in second %d of the round, want 256", n, i)
		}
	}
}
