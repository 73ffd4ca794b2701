package flows

import (
	"math/rand/v2"
	"testing"
)

const second = int64(1e9)

func keyOf(n uint64) Key {
	k := Key{Src: [2]uint64{1: n}, Dst: [2]uint64{1: 7}}
	k.SetPorts(4, 17, uint16(n>>32), 53)
	return k
}

func lookup(t *Table, now int64, keys ...Key) ([]*Flow, uint64) {
	out := make([]*Flow, len(keys))
	hashes := make([]uint64, len(keys))
	for j := range keys {
		hashes[j] = t.Hash(&keys[j])
	}
	fresh := t.LookupBurst(now, keys, hashes, out)
	return out, fresh
}

// TestEqualsAMap: as long as there is room, the table finds what a map finds.
func TestEqualsAMap(t *testing.T) {
	table := New(Config{Capacity: 1 << 14, Seed: 1, IdleTimeout: 30 * second})
	defer table.Close()
	r := rand.New(rand.NewPCG(1, 1))
	packets := map[Key]uint32{}
	for range 2000 {
		keys := make([]Key, 1+r.IntN(64))
		for i := range keys {
			keys[i] = keyOf(r.Uint64N(1000))
		}
		flows, fresh := lookup(table, second, keys...)
		for i, f := range flows {
			if _, known := packets[keys[i]]; known == (fresh>>i&1 == 1) || f.Key != keys[i] || f.packets != packets[keys[i]] {
				t.Fatalf("key %d: known %v, fresh %v, flow %+v", i, known, fresh>>i&1 == 1, f)
			}
			f.packets++
			packets[keys[i]]++
		}
	}
	if table.Len() != len(packets) || table.Evictions() != 0 {
		t.Errorf("%d flows, %d evictions, want %d and none", table.Len(), table.Evictions(), len(packets))
	}
}

// TestFloodKeepsWhatHasTraffic: a flood of new keys fills the table many times
// over; flows that have packets meanwhile stay, memory and length do not grow.
func TestFloodKeepsWhatHasTraffic(t *testing.T) {
	table := New(Config{Capacity: 1024, Seed: 2, IdleTimeout: 30 * second})
	defer table.Close()
	now, live := second, make([]Key, 32)
	for i := range live {
		live[i] = keyOf(uint64(i))
	}
	mine, _ := lookup(table, now, live...)
	for _, f := range mine {
		f.packets = 99
	}
	for n := uint64(1000); n < 101_000; n += 64 {
		now += second / 100
		flood := make([]Key, 64)
		for i := range flood {
			flood[i] = keyOf(n + uint64(i))
		}
		lookup(table, now, flood...)
		if mine, fresh := lookup(table, now, live...); fresh != 0 || mine[0].packets != 99 {
			t.Fatalf("after %d new keys flows with traffic were evicted: %b", n, fresh)
		}
	}
	if table.Len() > table.Capacity() || table.Evictions() == 0 {
		t.Errorf("%d flows of %d, %d evictions", table.Len(), table.Capacity(), table.Evictions())
	}
}

// TestAgeing: idle flows go once, within four seconds, closing ones after two.
func TestAgeing(t *testing.T) {
	table := New(Config{Capacity: 4096, Seed: 3, IdleTimeout: 30 * second})
	defer table.Close()
	for n := range uint64(500) {
		flows, _ := lookup(table, second, keyOf(n))
		flows[0].Closing = n%2 == 1
	}
	gone := map[Key]int64{}
	for now := second; now < 40*second; now += second / 1000 {
		table.Age(now, func(f *Flow) {
			if _, twice := gone[f.Key]; twice {
				t.Fatal("a flow ended twice")
			}
			gone[f.Key] = now
		})
	}
	if len(gone) != 500 || table.Len() != 0 {
		t.Fatalf("%d flows ended, %d are left", len(gone), table.Len())
	}
	for n := range uint64(500) {
		due := 31 * second
		if n%2 == 1 {
			due = 3 * second
		}
		if at := gone[keyOf(n)]; at < due || at > due+4*second+second/100 {
			t.Errorf("flow %d ended at %d ms, was due at %d ms", n, at/1e6, due/1e6)
		}
	}
}

// TestTotals: both counters go on beyond 32 bits.
func TestTotals(t *testing.T) {
	var f Flow
	f.packets, f.bytes = 1<<32-1, 1<<32-10
	f.Count(10)
	f.Count(60)
	if p, n := f.Totals(); p != 1<<32+1 || n != 1<<32+60 {
		t.Errorf("%d packets, %d bytes; want %d, %d", p, n, 1<<32+1, 1<<32+60)
	}
	f = Flow{packets: 1<<32 - 1, bytes: 100}
	f.Count(10)
	if p, n := f.Totals(); p != 1<<32 || n != 110 {
		t.Errorf("%d packets, %d bytes; want %d, 110", p, n, 1<<32)
	}
}
