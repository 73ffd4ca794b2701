// doctor on several workers: ports with fewer queues, flows inside of tunnels.

package doctor

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"intsink/conf"
)

// queues looks at whether the ports can give each worker packets of its own.
func queues(_ *host, c *conf.Config) (all []Finding) {
	workers := len(c.DPDK.Lcores)
	if workers < 2 {
		return nil
	}
	for i := range c.Ports {
		p := &c.Ports[i]
		if n := rxQueues(p.Device); n > 0 && n < workers {
			all = append(all, fault(byHand("fewer CPUs in dpdk.lcores, or a device with more queues"),
				"port %q: its device has %d of the %d rx queues that %d workers need: the sink does not start", p.Name, n, workers, workers))
		}
	}
	if why := insideTunnels(c); why != "" {
		for i := range c.Ports {
			if p := &c.Ports[i]; p.IsPCI() && (isNetworkSide(c, p.Name) || isTap(c, p.Name)) {
				all = append(all, slow(byHand(`see "intsink top workers": where they do not have about as many flows each, a NIC that hashes inner headers spreads them; docs/install.md, Queues and workers`),
					"port %q: %s, and many NICs choose among %d workers by outer addresses: all flows of a tunnel at one of them", p.Name, why, workers))
			}
		}
	}
	return all
}

// rxQueues is how many queues a virtual device receives by, as its arguments say; 0: any number, or
// only its driver knows.
func rxQueues(device string) (n int) {
	driver, rest, _ := strings.Cut(device, ",")
	argument := map[string]string{"net_vhost": "queues", "net_virtio_user": "queues"}[strings.TrimRight(driver, "0123456789")]
	for _, a := range strings.Split(rest, ",") {
		key, value, _ := strings.Cut(a, "=")
		switch {
		case argument != "" && key == argument:
			n, _ = strconv.Atoi(value)
		case strings.HasPrefix(driver, "net_pcap") && (key == "rx_pcap" || key == "iface"):
			n++
		}
	}
	if argument != "" {
		return cmp.Or(n, 1)
	}
	return n
}

// insideTunnels says why flows are expected inside of tunnels, empty where nothing in the
// configuration does. The tunnels that carry INT over UDP tell their flows apart by the source port.
func insideTunnels(c *conf.Config) string {
	if c.INT.GREProtocol != nil {
		return "INT comes in GRE (int.gre_protocol)"
	}
	for i := range c.Watches {
		if m := c.Watches[i].Match; m != nil && m.Flow == conf.InnerLayer {
			return fmt.Sprintf("watch %q is about flows inside of tunnels", c.Watches[i].Name)
		}
	}
	return ""
}

func isTap(c *conf.Config, port string) bool {
	for _, t := range c.Taps {
		if t.Port == port {
			return true
		}
	}
	return false
}
