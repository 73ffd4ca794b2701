package flows

import (
	"math/rand/v2"
	"testing"
)

const second = int64(1e9)

func keyOf(n uint64) Key {
	var k Key
	k.SetIPv4(uint32(n), 7)
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
		if n%2 == 1 {
			flows[0].Close()
		}
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

// TestFloodFasterThanTraffic: the table is full of new flows many times over between
// two packets of a flow that has one each 900 ms.
func TestFloodFasterThanTraffic(t *testing.T) {
	table := New(Config{Capacity: 1 << 12, Seed: 2, IdleTimeout: 30 * second})
	defer table.Close()
	now, next := second, uint64(1000)
	flood := make([]Key, 64)
	live := make([]Key, 128)
	for i := range live {
		live[i] = keyOf(uint64(i))
	}
	count := func() {
		for _, keys := range [][]Key{live[:64], live[64:]} {
			mine, _ := lookup(table, now, keys...)
			for _, f := range mine {
				f.Count(100)
			}
		}
	}
	count()
	for round := range 20 {
		for range 600 { // 38 400 new flows
			for i := range flood {
				flood[i] = keyOf(next)
				next++
			}
			lookup(table, now, flood...)
			now += 900 * second / 1000 / 600
			if round == 0 { // a flow has traffic when it has had two packets
				count()
			}
		}
		_, a := lookup(table, now, live[:64]...)
		_, b := lookup(table, now, live[64:]...)
		if a|b != 0 {
			t.Fatalf("round %d: flows with traffic were evicted: %b %b", round, a, b)
		}
	}
	if table.Evictions() < 19*38_400 {
		t.Errorf("%d evictions", table.Evictions())
	}
}

// TestNewcomersOfOneBurstStay: none makes room for a later one of the same call.
func TestNewcomersOfOneBurstStay(t *testing.T) {
	table := New(Config{Capacity: 16, Seed: 4, IdleTimeout: 30 * second})
	defer table.Close()
	for n := uint64(0); n < 10_000; n += 64 {
		keys := make([]Key, 64)
		for i := range keys {
			keys[i] = keyOf(n + uint64(i))
		}
		flows, _ := lookup(table, second+int64(n), keys...)
		got := map[*Flow]bool{}
		for i, f := range flows {
			if f != nil && (got[f] || f.Key != keys[i]) {
				t.Fatalf("flow %d has no place of its own", n+uint64(i))
			}
			got[f] = true
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

// TestAWrongCandidateIsNotSeen: packets of a flow that looks like another, by bucket
// and tag, do not keep that one from its end.
func TestAWrongCandidateIsNotSeen(t *testing.T) {
	table := New(Config{Capacity: 16, Seed: 5, IdleTimeout: 30 * second})
	defer table.Close()
	looks := map[[2]uint64]uint64{}
	var a, b Key
	for n := uint64(1); ; n++ {
		k := keyOf(n)
		h := table.Hash(&k)
		look := [2]uint64{table.primary(h), uint64(tagOf(h))}
		if other, is := looks[look]; is {
			a, b = keyOf(other), k
			break
		}
		looks[look] = n
	}
	lookup(table, second, a)
	ended := int64(0)
	for now := 20 * second; now < 60*second; now += second / 100 {
		lookup(table, now, b)
		table.Age(now, func(f *Flow) {
			if f.Key == a {
				ended = now
			}
		})
	}
	if ended < 31*second || ended > 36*second {
		t.Errorf("ended at %d s, want 31 to 36", ended/second)
	}
}

// TestNobodyIsEvictedBelowFourFifths of the capacity, and those that were moved are
// found with all that is known of them.
func TestNobodyIsEvictedBelowFourFifths(t *testing.T) {
	const capacity = 1 << 17
	table := New(Config{Capacity: capacity, Seed: 9, IdleTimeout: 30 * second})
	defer table.Close()
	for n := range uint64(capacity * 4 / 5) {
		f, _ := lookup(table, second, keyOf(n))
		f[0].NumHops = uint8(n)
		if n%3 == 0 {
			f[0].Cold().Suppressed = uint32(n)
		}
	}
	if table.Evictions() != 0 {
		t.Errorf("%d evictions", table.Evictions())
	}
	for n := range uint64(capacity * 4 / 5) {
		f, fresh := lookup(table, second, keyOf(n))
		if fresh != 0 || f[0].NumHops != uint8(n) || f[0].HasCold() != (n%3 == 0) || n%3 == 0 && f[0].Cold().Suppressed != uint32(n) {
			t.Fatalf("flow %d: fresh %b, %+v", n, fresh, f[0])
		}
	}
	if table.Len() != capacity*4/5 {
		t.Errorf("%d flows", table.Len())
	}
}

// TestAgeOfAClockThatGoesBack, however far, takes one turn of the hand.
func TestAgeOfAClockThatGoesBack(t *testing.T) {
	table := New(Config{Capacity: 1 << 14, Seed: 1, IdleTimeout: 30 * second})
	defer table.Close()
	for _, now := range []int64{1 << 62, 1, 1<<62 + 1<<61, second} {
		table.Age(now, func(*Flow) {})
		if table.handTime != now {
			t.Errorf("at %d the hand is at %d", now, table.handTime)
		}
	}
}

// TestCapacityIsRounded up to a power of two, to which tables are made.
func TestCapacityIsRounded(t *testing.T) {
	for capacity, want := range map[int]int{1: 16, 16: 16, 17: 32, 1000: 1024, 1024: 1024, 1025: 2048} {
		table := New(Config{Capacity: capacity, Seed: 1, IdleTimeout: second})
		if got := table.Capacity(); got != want || Places(capacity) != want {
			t.Errorf("capacity %d: %d places, %d are told; want %d", capacity, got, Places(capacity), want)
		}
		table.Close()
	}
}
