package doctor

import (
	"strings"
	"testing"

	"intsink/conf"
)

// Fewer queues than workers, or flows inside of tunnels on a NIC, are found where the ports choose
// the worker, and only there.
func TestQueues(t *testing.T) {
	gre := uint16(0x88b6)
	inGRE := func(c *conf.Config) { c.INT.GREProtocol = &gre }
	device := func(d string) func(c *conf.Config) { return func(c *conf.Config) { c.Ports[0].Device = d } }
	for _, c := range []struct {
		name   string
		change func(c *conf.Config)
		level  Level
		what   string // in the only finding; empty: there is none
	}{
		{"a NIC", func(*conf.Config) {}, OK, ""},
		{"one capture", device("net_pcap0,rx_pcap=a.pcap,infinite_rx=1"), Fault, `port "network": its device has 1 of the 2 rx queues that 2 workers need`},
		{"two captures", device("net_pcap0,rx_pcap=a.pcap,rx_pcap=b.pcap"), OK, ""},
		{"an interface by libpcap", device("net_pcap1,iface=eth0"), Fault, "1 of the 2"},
		{"vhost", device("net_vhost0,iface=/tmp/s"), Fault, "1 of the 2"},
		{"vhost with queues", device("net_vhost0,iface=/tmp/s,queues=2"), OK, ""},
		{"virtio", device("net_virtio_user0,path=/tmp/s,queues=1"), Fault, "1 of the 2"},
		{"as many as are asked for", device("net_null0"), OK, ""},
		{"an interface of the kernel", device("kernel:eth1"), OK, ""},
		{"one worker", func(c *conf.Config) { device("net_pcap0,rx_pcap=a.pcap")(c); c.DPDK.Lcores = []int{1} }, OK, ""},
		{"GRE", inGRE, Slow, `port "network": INT comes in GRE (int.gre_protocol), and many NICs choose among 2 workers by outer addresses`},
		{"GRE on a tap", func(c *conf.Config) { inGRE(c); c.Links, c.Taps = nil, []conf.Tap{{Name: "t", Port: "network"}} }, Slow, `port "network": INT comes in GRE`},
		{"GRE on an interface of the kernel", func(c *conf.Config) { inGRE(c); device("kernel:eth1")(c) }, OK, ""},
		{"flows inside of tunnels", func(c *conf.Config) {
			c.Watches = []conf.Watch{{Name: "all"}, {Name: "pods", Match: &conf.Match{Flow: conf.InnerLayer}}}
		}, Slow, `watch "pods" is about flows inside of tunnels`},
		{"flows outside of tunnels", func(c *conf.Config) {
			c.Watches = []conf.Watch{{Name: "pods", Match: &conf.Match{Flow: conf.OuterLayer}}}
		}, OK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &conf.Config{
				DPDK:  conf.DPDK{Lcores: []int{1, 2}},
				Ports: []conf.Port{{Name: "network", Device: "0000:3b:00.0"}, {Name: "host", Device: "0000:3b:00.1"}},
				Links: []conf.Link{{Name: "edge", Network: "network", Host: "host"}},
			}
			c.change(x)
			found := queues(&host{machine: &Machine{}}, x)
			if c.what == "" {
				if len(found) != 0 {
					t.Errorf("%q", found)
				}
				return
			}
			if len(found) != 1 || found[0].Level != c.level || !strings.Contains(found[0].What, c.what) || found[0].Fix == "" {
				t.Errorf("%q, want one of %q", found, c.what)
			}
		})
	}
}
