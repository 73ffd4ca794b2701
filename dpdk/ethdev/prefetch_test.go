package ethdev

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPrefetchWhereOthersWrote: with real devices, so that driver and arguments are those
// that DPDK tells.
func TestPrefetchWhereOthersWrote(t *testing.T) {
	socket := "socket-abstract=no,socket=" + filepath.Join(t.TempDir(), "memif.sock")
	for devargs, want := range map[string]bool{
		"net_pcap20,tx_pcap=/dev/null":           false,
		"net_memif20,role=server,id=1," + socket: false,
		"net_ring20":                             true,
		"net_null20,size=60":                     true,
	} {
		p, err := Attach(devargs)
		if err != nil {
			t.Fatal(err)
		}
		if _, args, _ := strings.Cut(devargs, ","); p.devargs() != args {
			t.Errorf("%s: made with %q", devargs, p.devargs())
		}
		if got := p.mustPrefetch(); got != want || bool(p.Queue(0).c.prefetch) != want {
			t.Errorf("%s: prefetch %v, want %v", devargs, got, want)
		}
		p.Close()
	}
	if !prefetches("net_memif", "role=client,id=2,zero-copy=yes") || prefetches("net_memif", "role=client,zero-copy=no") {
		t.Error("not where net_memif is told not to copy")
	}
	for driver, want := range map[string]bool{
		"net_tap": false, "net_af_packet": false, "net_af_xdp": true, "net_bonding": true, "net_ice": true, "mlx5_pci": true, "unknown": true, "": true,
	} {
		if prefetches(driver, "") != want {
			t.Errorf("%q: prefetch %v, want %v", driver, !want, want)
		}
	}
	if !(Port{1 << 15}).mustPrefetch() {
		t.Error("not for a port that does not exist")
	}
}
