package appliance

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"intsink/cmd/intsink/internal/collectors"
	"intsink/cmd/intsink/internal/control"
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

// TestReloadKeepsAddresses: a name that was resolved at the start is not looked up again: the name server
// may be away, or return addresses in turns.
func TestReloadKeepsAddresses(t *testing.T) {
	const text = `
node { id = 1 }
dpdk {}
port "a" { device = "net_null0" }
port "b" { device = "net_null1" }
link "edge" {
  network = "a"
  host    = "b"
}
int { udp_port = 5000 }
collector "named" { address = "collector.invalid:6000" }
watch "all" {}
`
	a := &Appliance{path: filepath.Join(t.TempDir(), "c.hcl")}
	if err := os.WriteFile(a.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	old, diags := conf.LoadWithoutHosts(a.path)
	if old == nil {
		t.Fatal(diags.Err())
	}
	resolved := netip.MustParseAddrPort("192.0.2.7:6000")
	old.Collectors[0].Address = resolved
	for name, q := range map[string]*control.Request{"its own file": {}, "a request": {Name: "c.hcl", Files: []control.File{{Name: "c.hcl", Text: text}}}} {
		c, diags := a.parse(q, old)
		if c == nil {
			t.Errorf("%s: %v", name, diags.Err())
		} else if c.Collectors[0].Address != resolved {
			t.Errorf("%s: %v, want %v", name, c.Collectors[0].Address, resolved)
		}
	}
}
