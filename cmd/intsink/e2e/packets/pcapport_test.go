package packets_test

import (
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// TestPcapPortLosesNothingUnseen: net_pcap hands packets to an interface whatever state that is in.
// Without carrier, gone, or made anew, which the driver cannot follow, they count as tx_down
// and not as forwarded, and /readyz says what to do.
func TestPcapPortLosesNothingUnseen(t *testing.T) {
	if !netns.In(t) {
		return
	}
	sinktest.Wires(t, "a", "b")
	r := sinktest.Start(t, sinktest.KernelPorts("kernel:a-far", "net_pcap0,iface=b-near"))
	r.Ready(t)
	source := sinktest.OpenWire(t, "a-near")
	const forwarded, dropped = `intsink_forwarded_packets_total{link="edge",direction="to_host"}`, `intsink_dropped_packets_total{link="edge",direction="to_host",reason="tx_down"}`
	for _, c := range []struct {
		do, readyz         string
		forwarded, dropped float64
	}{
		{"true", "ok", 1, 0},
		{"ip link set b-far down", "interface b-near has no carrier", 1, 1},
		{"ip link set b-far up", "ok", 2, 1},
		{"ip link del b-near", "interface b-near is gone", 2, 2},
		{"ip link add b-near type veth peer name b-far; ip link set b-near up; ip link set b-far up",
			`interface b-near was deleted and made anew, which this driver cannot follow: restart the sink, or write device = "kernel:b-near"`, 2, 3},
	} {
		netns.Sh(t, c.do)
		r.Readyz(t, c.readyz)
		source.Send(sinktest.PlainFrame())
		r.Wait(t, c.do, func(p observetest.Exposition) bool {
			return p.Series[forwarded] == c.forwarded && p.Series[dropped] == c.dropped
		})
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}
