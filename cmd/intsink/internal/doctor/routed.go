// doctor on ports with an address: the kernel would route beside the sink.

package doctor

import (
	"net"
	"net/netip"

	"intsink/conf"
)

// routed looks at whether the kernel forwards packets that come by a kernel interface, because it has an address there: what the
// sink forwards, the kernel then forwards, too, or answers.
func routed(h *host, c *conf.Config) (all []Finding) {
	for i := range c.Ports {
		p := &c.Ports[i]
		name := p.Interface()
		if name == "" || driverOf(p) == "net_tap" || driverOf(p) == "net_af_xdp" || h.machine.Addresses == nil {
			continue
		}
		for _, a := range h.machine.Addresses(name) {
			family := "ipv4"
			if a.Is6() {
				family = "ipv6"
			}
			if a.IsLinkLocalUnicast() || h.text("proc/sys/net", family, "conf", name, "forwarding") != "1" {
				continue
			}
			all = append(all, fault("ip address flush dev "+quoted(name)+" scope global    # or: echo 0 > /proc/sys/net/"+family+"/conf/"+quoted(name)+"/forwarding",
				"port %q: %s has the address %s, and the kernel forwards what comes by it: beside the sink, with INT, and some packets twice", p.Name, name, a))
			break
		}
	}
	return all
}

// kernelAddresses are those of an interface of this network namespace.
func kernelAddresses(name string) (all []netip.Addr) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil
	}
	addresses, _ := i.Addrs() // none: nothing is said
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, p.Addr())
		}
	}
	return all
}
