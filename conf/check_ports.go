// Checks ports, links and taps: each port in one link; enough mbufs for the descriptors.

package conf

import (
	"fmt"

	"intsink/conf/schema"
)

func (d checker) checkPorts(c *Config) {
	if len(c.Ports) == 0 {
		d.ErrorAt(nil, `there is no port block: name the devices to receive and send on, such as port "network" { device = "0000:3b:00.0" }`)
	}
	ids, devices, onInterface := map[uint16]*Port{}, map[string]*Port{}, map[string]*Port{}
	for i := range c.Ports {
		p := &c.Ports[i]
		d.checkDevice(p)
		if other := ids[p.ID]; other != nil {
			d.ErrorAt([]any{&p.ID, p}, "port %q: id %d is that of port %q too; reports could not tell them apart; set id in one of them", p.Name, p.ID, other.Name)
		}
		ids[p.ID] = p
		device := p.deviceKey()
		if other := devices[device]; other != nil && p.Device != "" && device != kernelDevice {
			d.ErrorAt([]any{&p.Device}, "port %q: device %q is that of port %q too; each needs its own", p.Name, schema.Short(p.Device), other.Name)
		}
		devices[device] = p
		if name := p.Interface(); name != "" {
			if other := onInterface[name]; other != nil && other.deviceKey() != device {
				d.ErrorAt([]any{&p.Device}, "port %q: device %q is on interface %s, as port %q is; each needs its own", p.Name, schema.Short(p.Device), schema.Short(name), other.Name)
			}
			onInterface[name] = p
		}
		if p.MTU != 0 && p.MTU < 68 {
			d.ErrorAt([]any{&p.MTU}, "port %q: mtu = %d: must be from 68 to 9600, or 0 to leave the driver's", p.Name, p.MTU)
		}
	}
}

// checkLinks: every port is in one link or tap, and each has the ports it needs.
func (d checker) checkLinks(c *Config) {
	if len(c.Links)+len(c.Taps) == 0 && len(c.Ports) > 0 {
		d.ErrorAt(nil, `there is neither a link nor a tap: nothing would be received; write link "edge" { network = ..., host = ... } on lines of their own`)
	}
	known := portNames(c)
	used := map[string]string{}
	use := func(key any, where, port string) {
		d.checkKnown(key, where, port, "port", known)
		if other := used[port]; other != "" && port != "" {
			d.ErrorAt([]any{key}, "%s: port %q is in use by %s already; a port belongs to one link or tap", where, schema.Short(port), other)
			return
		}
		used[port] = where
	}
	for i := range c.Links {
		l := &c.Links[i]
		where := fmt.Sprintf("link %q", l.Name)
		if l.Network == l.Host && l.Network != "" {
			d.ErrorAt([]any{&l.Host}, "%s: network and host are the same port %q; a link joins two", where, schema.Short(l.Host))
			use(&l.Network, where, l.Network)
			continue
		}
		use(&l.Network, where, l.Network)
		use(&l.Host, where, l.Host)
	}
	for i := range c.Taps {
		use(&c.Taps[i].Port, fmt.Sprintf("tap %q", c.Taps[i].Name), c.Taps[i].Port)
	}
	for i := range c.Ports {
		if p := &c.Ports[i]; p.MTU != 0 {
			if narrow := c.TooNarrow(p, int(p.MTU)); narrow != "" {
				d.WarnAt([]any{&p.MTU}, "%s; write mtu = %d, or leave it out", narrow, c.RoomForINT(p.Name))
			}
		}
	}
	if d.Failing() {
		return // a link that is wrong may be the one that a port is missing in
	}
	for i := range c.Collectors {
		if port := c.Collectors[i].Port; used[port] == "" {
			used[port] = "a collector"
		}
	}
	for i := range c.Ports {
		if p := &c.Ports[i]; used[p.Name] == "" {
			d.WarnAt([]any{p}, "port %q is in no link and no tap, and no collector's reports leave by it: it is opened for nothing", p.Name)
		}
	}
}

// checkMbufs: every receive descriptor holds an mbuf from the start, every
// transmit descriptor may, and every worker has a burst and a cache of them. A kernel
// port has no descriptors, but a burst of mbufs ahead.
func (d checker) checkMbufs(c *Config) {
	const perWorker = Burst + MbufCache
	workers, rx, all := len(c.DPDK.Lcores), 0, 0
	for i := range c.Ports {
		if _, ok := c.Ports[i].Kernel(); ok {
			all += workers * Burst
			continue
		}
		rx += workers * int(c.Ports[i].RxDesc)
		all += workers * int(c.Ports[i].TxDesc)
	}
	all += rx + workers*perWorker
	at := []any{&c.DPDK.Mbufs, &c.DPDK, &c.DPDK.Lcores}
	for i := range c.Ports {
		at = append(at, &c.Ports[i].RxDesc, &c.Ports[i].TxDesc)
	}
	sum := fmt.Sprintf("the descriptors, bursts and caches of workers (%d) on all ports (%d) hold up to %d mbufs", workers, len(c.Ports), all)
	switch {
	case c.DPDK.Mbufs < rx:
		d.ErrorAt(at, "dpdk: mbufs = %d: the receive descriptors alone take %d; %s: set mbufs to at least that, or lower rx_desc", c.DPDK.Mbufs, rx, sum)
	case c.DPDK.Mbufs < all:
		d.WarnAt(at, "dpdk: mbufs = %d may run out: %s", c.DPDK.Mbufs, sum)
	}
}
