package appliance

import (
	"testing"

	"intsink/cmd/intsink/internal/collectors"
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
		clock: func() int64 { return 5 }, collectors: &collectors.Collectors{},
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
