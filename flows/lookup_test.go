package flows

import (
	"maps"
	"slices"
	"testing"
)

// TestWalkSeesEveryFlowOnce in slices of any size, and Find finds each.
func TestWalkSeesEveryFlowOnce(t *testing.T) {
	for _, budget := range []int{1, 3, 64, 1 << 20} {
		table := New(Config{Capacity: 512, Seed: 3, IdleTimeout: 1e9})
		var keys [300]Key
		for i := range keys {
			keys[i].SetIPv4(uint32(i), 7)
			keys[i].SetPorts(4, 17, 1, 2)
			hash := []uint64{table.Hash(&keys[i])}
			table.LookupBurst(1e9, keys[i:i+1], hash, make([]*Flow, 1))
		}
		seen := map[uint64]int{}
		at, left := 0, 0
		for first := true; first || at > 0; first = false {
			if at, left = table.Walk(at, budget, func(f *Flow) int { seen[f.Key.Src()[1]]++; return 1 }); left < -1 {
				t.Fatalf("budget %d: %d left", budget, left)
			}
		}
		for i := range keys {
			if f := table.Find(&keys[i]); seen[uint64(i)] != 1 || f == nil || f.Key != keys[i] {
				t.Fatalf("budget %d: flow %d seen %d times, found %v", budget, i, seen[uint64(i)], f)
			}
		}
		missing := keys[0]
		missing.SetPorts(4, 17, 2, 1)
		if f := table.Find(&missing); f != nil {
			t.Errorf("found %+v, which is not there", f)
		}
		table.Close()
	}
}

// TestFindIn: of flows with one tag in a bucket each is found by its key. A free slot is none, though its last
// flow had that key, and the slot below has the tag with which the comparison of four tags at once is wrong.
func TestFindIn(t *testing.T) {
	table := New(Config{Capacity: 16, Seed: 1, IdleTimeout: second})
	defer table.Close()
	for s := range uint64(slots) {
		table.buckets[1].set(s, 0x1235, uint32(s)+3)
		table.flows[s+3].Key = keyOf(s)
	}
	index := table.Index()
	find := func(b uint64, tag uint16, key uint64) *Flow {
		k := keyOf(key)
		return index.findIn(&table.buckets[b], tag, &k)
	}
	for s := range uint64(slots) {
		if f := find(1, 0x1235, s); f != &table.flows[s+3] {
			t.Errorf("flow %d: found %p, want %p", s, f, &table.flows[s+3])
		}
	}
	for name, f := range map[string]*Flow{"another key": find(1, 0x1235, 99), "another tag": find(1, 0x1237, 4), "another bucket": find(0, 0x1235, 4)} {
		if f != nil {
			t.Errorf("%s: found %+v", name, f.Key)
		}
	}
	table.buckets[1].setTag(4, 1)
	table.buckets[1].setTag(5, 0)
	if f := find(1, 1, 5); f != nil {
		t.Errorf("found %+v in a free slot", f.Key)
	}
	if f := find(1, 1, 4); f != &table.flows[7] {
		t.Error("not found below a free slot")
	}
}

func TestKeysHaveAnOrder(t *testing.T) {
	keys := make([]Key, 4)
	keys[0].SetIPv4(1, 2)
	keys[1].SetIPv4(1, 3)
	keys[2].SetIPv4(2, 1)
	keys[3].SetIPv4(2, 1)
	for i := range keys {
		keys[i].SetPorts(4, 6, 1, uint16(255+i)) // whose bytes are in another order than their numbers
	}
	if !slices.IsSortedFunc(keys, func(a, b Key) int { return a.Compare(&b) }) || keys[3].Compare(&keys[2]) != 1 || keys[1].Compare(&keys[1]) != 0 {
		t.Error("not ordered")
	}
}

func TestTimesOfTicks(t *testing.T) {
	now := int64(1_700_000_000_123_456_789)
	if got := Since(now, Tick(now-5e9)); got > now-5e9+2e6 || got < now-5e9-2e6 || got%1e6 != 0 {
		t.Errorf("%d, want about %d", got, int64(now-5e9))
	}
	f := Flow{NextRefresh: uint32((now + 2e9) >> 18)}
	if got := f.RefreshDue(now) - now; got > 2e9+1<<18 || got < 2e9-1<<18 {
		t.Errorf("refresh in %d ns, want 2 s", got)
	}
}

// TestRefreshDue: the time is that of the quarter millisecond of NextRefresh nearest to now, also
// where the 32 bits have wrapped; 0 stands for none, and 1 does not.
func TestRefreshDue(t *testing.T) {
	const now = 5<<50 + 3
	for _, c := range []struct {
		next uint32
		want int64
	}{
		{0, 0}, {1, now + 1<<18}, {2, now + 2<<18}, {1<<32 - 1, now - 1<<18}, {1<<31 - 1, now + (1<<31-1)<<18},
	} {
		f := Flow{NextRefresh: c.next}
		if got := f.RefreshDue(now); got != c.want {
			t.Errorf("%d is %d, want %d", c.next, got, c.want)
		}
	}
}

// TestWalkPart: of a table with more flows than wanted, the same part is visited each time, about as many as wanted.
func TestWalkPart(t *testing.T) {
	table := New(Config{Capacity: 1 << 14, Seed: 1, IdleTimeout: 1e9})
	defer table.Close()
	var keys []Key
	for i := range uint32(10_000) {
		var k Key
		k.SetIPv4(i, 7)
		k.SetPorts(4, 17, 1, 2)
		keys = append(keys, k)
		table.LookupBurst(1e9, keys[i:i+1], []uint64{table.Hash(&k)}, make([]*Flow, 1))
	}
	visit := func(most int) map[Key]bool {
		seen := map[Key]bool{}
		for at, begun := 0, false; at != 0 || !begun; begun = true {
			at, _ = table.WalkPart(at, 100, most, func(f *Flow) int { seen[f.Key] = true; return 3 })
		}
		return seen
	}
	if n := len(visit(1 << 20)); n != len(keys) {
		t.Errorf("%d of %d flows", n, len(keys))
	}
	part := visit(3000)
	if again := visit(3000); len(part) < 1500 || len(part) > 3000+ageBlock || !maps.Equal(part, again) {
		t.Errorf("%d flows, then %d", len(part), len(again))
	}
}
