// Refuses or warns of ports before they start: frames longer than mbufs, MTUs of joined
// ports, offloads, bridges.

package ports

import (
	"fmt"
	"net"
	"strings"

	"intsink/conf"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/iface"
)

// frameOverhead is what a frame has besides its MTU: the Ethernet header and two tags.
const frameOverhead = 14 + 8

// madeByDriver tells whether the driver makes the interface that it is given the name of.
func madeByDriver(device string) bool { return strings.HasPrefix(device, "net_tap") }

// fits finds a port whose frames may be longer than an mbuf, where the driver has no
// chains of mbufs: it would cut them, or fail to start without saying why. f is that of the
// kernel interface below, nil where there is none.
func fits(info *ethdev.Info, f *iface.Follower, p *conf.Port, mbufSize int) error {
	mtu, whose := int(p.MTU), "port"
	if mtu == 0 && f != nil {
		s, _ := f.State()
		mtu, whose = s.MTU, "interface "+s.Name
	}
	switch {
	case mtu == 0 || info.Scatter():
		return nil
	case mtu > int(info.MaxMTU) && info.MaxMTU > 0:
		return fmt.Errorf("the MTU of the %s is %d, and %s takes at most %d: lower it, or write device = \"kernel:...\"", whose, mtu, info.Driver, info.MaxMTU)
	case mtu+frameOverhead > mbufSize:
		return fmt.Errorf("the MTU of the %s is %d, and %s takes frames that fit an mbuf, here %d bytes: write dpdk { mbuf_size = %d }, or lower the MTU to %d",
			whose, mtu, info.Driver, mbufSize, (mtu+frameOverhead+1023)&^1023, mbufSize-frameOverhead)
	}
	return nil
}

// alsoKernels says where the kernel handles the packets of the interface beside the sink:
// it sees a copy of each.
func alsoKernels(name string) (warnings []string) {
	if s, err := iface.Lookup(name); err == nil && s.Master != 0 {
		warnings = append(warnings, fmt.Sprintf("interface %s belongs to a bridge, bond or VRF: the kernel forwards its frames beside the sink, twice in all: ip link set %s nomaster", name, name))
	}
	i, err := net.InterfaceByName(name)
	if err != nil {
		return warnings
	}
	addresses, _ := i.Addrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			return append(warnings, fmt.Sprintf("interface %s has the address %v: the kernel answers packets to it beside the sink: ip addr flush dev %s", name, n.IP, name))
		}
	}
	return warnings
}

// joinedFrames warns of GRO and LRO: with either, the interface hands over frames that were never
// on the wire. A kernel port undoes them; drivers of DPDK do not.
func joinedFrames(name string) []string {
	if o := iface.ReadOffloads(name); o.GRO || o.LRO {
		return []string{fmt.Sprintf("interface %s joins frames that belong together before the sink sees them: "+
			"ethtool -K %s gro off lro off, or write device = \"kernel:%s\"", name, name, name)}
	}
	return nil
}

// narrowLinks says where a link takes frames from its host side that are longer than its
// network side sends. The other way around is as it should be: frames with INT are longer.
func narrowLinks(c *conf.Config) (warnings []string) {
	mtu := func(port string) int {
		for i := range c.Ports {
			if c.Ports[i].Name == port {
				s, _ := iface.Lookup(c.Ports[i].Interface())
				return s.MTU // 0 where it is no interface of the kernel
			}
		}
		return 0
	}
	for _, l := range c.Links {
		if network, host := mtu(l.Network), mtu(l.Host); network > 0 && host > network {
			warnings = append(warnings, fmt.Sprintf("link %q: the MTU of the host side is %d, that of the network side %d: longer frames from the hosts are dropped (tx_too_long)",
				l.Name, host, network))
		}
	}
	return warnings
}
