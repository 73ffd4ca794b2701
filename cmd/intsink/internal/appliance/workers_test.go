package appliance

import (
	"testing"
	"time"

	"intsink/cmd/intsink/internal/collectors"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
	"intsink/dpdk/eal"
	"intsink/dpdk/mempool"
	"intsink/engine"
)

// TestWorkersShare: all workers count episodes and limits together, and their reports follow steps of
// the wall clock.
func TestWorkersShare(t *testing.T) {
	const step = 3600_000_000_000
	a := &Appliance{
		wallClock: eal.NewWallClock(func() (wall, own int64) { return step + 5, 5 }), reportPools: make([]*mempool.Mempool, 2),
		env: &part.Env{Clock: func() int64 { return 5 }}, collectors: &collectors.Collectors{},
	}
	shared := engine.NewShared(0, 1)
	defer shared.Close()
	c := &conf.Config{Node: conf.Node{ID: 7, HwIDBase: 2}, DPDK: conf.DPDK{Lcores: []int{1, 2}}, Flows: conf.Flows{Capacity: 1024}}
	seeds := map[uint64]bool{}
	for w := range c.DPDK.Lcores {
		got := a.workerConfig(c, w, shared)
		if got.Shared != shared || got.WallClock() != step || got.Clock() != 5 || got.NodeID != 7 || int(got.HwID) != 2+w || int(got.QueueID) != w {
			t.Errorf("worker %d: %+v, wall clock ahead by %d", w, got, got.WallClock())
		}
		seeds[got.Seed] = true
	}
	if len(seeds) != 2 {
		t.Error("two workers have one seed")
	}
}

// TestWarm: a sink ran a moment ago by a clock that is a little behind, too.
func TestWarm(t *testing.T) {
	now := time.Now()
	for ran, want := range map[time.Time]bool{
		now: true, now.Add(-2 * time.Minute): true, now.Add(100 * time.Second): true, now.Add(-4 * time.Minute): false, now.Add(time.Hour): false, {}: false,
	} {
		if isWarm(ran, now) != want {
			t.Errorf("ran %s before: not %v", now.Sub(ran), want)
		}
	}
}
