package udp

import (
	"net/netip"
	"os/exec"
	"testing"
	"time"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/exporters"
	"intsink/internal/netns"
)

// stuckSetup makes an interface that sends 1 kbit/s and keeps the rest in a queue
// without a bound: the socket's send buffer fills and stays full.
const stuckSetup = `
ip link add stuck0 type veth peer name other0
ip addr add 192.0.2.1/24 dev stuck0
ip link set stuck0 arp off
ip link set stuck0 up
ip link set other0 up
tc qdisc add dev stuck0 root tbf rate 1kbit burst 2k limit 100000000
`

// TestStuckInterfaceEnds: a drain ends although the interface takes nothing, and
// every report packet is counted as sent or as lost by timeout.
func TestStuckInterfaceEnds(t *testing.T) {
	if !netns.In(t) {
		return
	}
	if out, err := exec.Command("sh", "-ec", stuckSetup).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const n, size = 2000, 1400 // more than fits the send buffer, which is 1 MiB at most
	for _, mode := range []PortMode{PortAny, PortHash} {
		a, err := mbuf.NewArena(2048, 2048)
		if err != nil {
			t.Fatal(err)
		}
		r := ring.New(2048)
		fill(t, a, r, n, size)
		e := New(Config{
			Collector: netip.MustParseAddrPort("192.0.2.2:8555"), PortMode: mode,
			Rings: []*ring.Ring{r}, Pool: a,
		})
		e.patience = 50 * time.Millisecond
		drain(e)
		c := e.Counters()
		if lost := c.Dropped[exporters.DropTimeout]; lost == 0 || c.Packets+lost != n || a.InUse() != 0 {
			t.Errorf("port mode %d: %d sent, dropped %v, of %d; %d mbufs in use", mode, c.Packets, c.Dropped, n, a.InUse())
		}
	}
}
