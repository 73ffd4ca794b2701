package flows

import (
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
