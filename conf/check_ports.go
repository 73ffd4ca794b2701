package conf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	pciAddress = regexp.MustCompile(`^([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7](,.*)?$`)
	pciLike    = regexp.MustCompile(`^[0-9a-fA-F]+(:[0-9a-fA-F]+)+`)
	vdev       = regexp.MustCompile(`^(net|eth|dpni)[_.]`)
	interfaces = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,15}$`)
)

func (d *decoder) checkPorts(c *Config) {
	if len(c.Ports) == 0 {
		d.errorAt(nil, `there is no port block: name the devices to receive and send on, such as port "network" { device = "0000:3b:00.0" }`)
	}
	ids, devices := map[uint16]*Port{}, map[string]*Port{}
	for i := range c.Ports {
		p := &c.Ports[i]
		d.checkDevice(p)
		if other := ids[p.ID]; other != nil {
			d.errorAt([]any{&p.ID, p}, "port %q: id %d is that of port %q too; reports could not tell them apart", p.Name, p.ID, other.Name)
		}
		ids[p.ID] = p
		device, _, _ := strings.Cut(strings.ToLower(p.Device), ",")
		device = strings.TrimPrefix(device, "0000:")
		if other := devices[device]; other != nil && device != "" {
			d.errorAt([]any{&p.Device}, "port %q: device %q is that of port %q too", p.Name, p.Device, other.Name)
		}
		devices[device] = p
		if p.MTU != 0 && p.MTU < 68 {
			d.errorAt([]any{&p.MTU}, "port %q: mtu = %d: must be from 68 to 9600, or 0 to leave the driver's", p.Name, p.MTU)
		}
	}
}

// checkDevice looks at the form only: what there is on the machine is seen when
// the port is opened.
func (d *decoder) checkDevice(p *Port) {
	at := []any{&p.Device}
	switch {
	case pciAddress.MatchString(p.Device) || vdev.MatchString(p.Device):
	case p.Device == "":
		if d.has(&p.Device) {
			d.errorAt(at, `port %q: device is empty: a PCI address such as "0000:3b:00.0", or a DPDK vdev such as "net_af_packet0,iface=eth1"`, p.Name)
		}
	case pciLike.MatchString(p.Device):
		d.errorAt(at, `port %q: device = %q is no PCI address: it is written domain:bus:device.function, such as "0000:3b:00.0"`, p.Name, p.Device)
	case interfaces.MatchString(p.Device):
		d.warnAt(at, `port %q: device = %q is neither a PCI address nor a DPDK vdev; for a Linux interface write "net_af_packet0,iface=%s"`, p.Name, p.Device, p.Device)
	}
}

// checkLinks: every port is in one link or tap, and each has the ports it needs.
func (d *decoder) checkLinks(c *Config) {
	if len(c.Links)+len(c.Taps) == 0 && len(c.Ports) > 0 {
		d.errorAt(nil, `there is neither a link nor a tap: nothing would be received; write link "edge" { network = ..., host = ... } on lines of their own`)
	}
	known := portNames(c)
	used := map[string]string{}
	use := func(key any, where, port string) {
		d.checkKnown(key, where, port, "port", known)
		if other := used[port]; other != "" && port != "" {
			d.errorAt([]any{key}, "%s: port %q is in use by %s already; a port belongs to one link or tap", where, port, other)
			return
		}
		used[port] = where
	}
	for i := range c.Links {
		l := &c.Links[i]
		where := fmt.Sprintf("link %q", l.Name)
		if l.Network == l.Host && l.Network != "" {
			d.errorAt([]any{&l.Host}, "%s: network and host are the same port %q; a link joins two", where, l.Host)
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
		if p := &c.Ports[i]; p.Name != "" && used[p.Name] == "" && len(used) > 0 {
			d.warnAt([]any{p}, "port %q is in no link and no tap: it is opened, and nothing is received from it", p.Name)
		}
	}
}

// checkMbufs: every receive descriptor holds an mbuf from the start, every
// transmit descriptor may, and every worker has a burst and a cache of them.
func (d *decoder) checkMbufs(c *Config) {
	const perWorker = 64 + 256
	workers, rx, all := len(c.DPDK.Lcores), 0, 0
	for i := range c.Ports {
		rx += workers * int(c.Ports[i].RxDesc)
		all += workers * int(c.Ports[i].TxDesc)
	}
	all += rx + workers*perWorker
	at := []any{&c.DPDK.Mbufs, &c.DPDK}
	sum := fmt.Sprintf("%d workers and %d ports hold up to %d (descriptors, bursts and caches)", workers, len(c.Ports), all)
	switch {
	case c.DPDK.Mbufs < rx:
		d.errorAt(at, "dpdk: mbufs = %d: the receive descriptors alone take %d; %s: set mbufs to at least that, or lower rx_desc", c.DPDK.Mbufs, rx, sum)
	case c.DPDK.Mbufs < all:
		d.warnAt(at, "dpdk: mbufs = %d may run out: %s", c.DPDK.Mbufs, sum)
	}
}

func (d *decoder) checkINT(c *INT) {
	at := []any{c}
	if !d.has(c) {
		d.errorAt(nil, "there is no int block: it says which packets carry INT, such as int { udp_port = 5000 }")
		return
	}
	marked := []any{&c.UDPPort, &c.DSCP, &c.ProbeMarker, &c.GREProtocol, &c.VXLANGPE, &c.Geneve}
	if !slices.ContainsFunc(marked, d.has) {
		d.errorAt(at, "int: nothing marks INT: set at least one of udp_port, dscp, probe_marker, gre_protocol, vxlan_gpe or geneve")
	}
	if x := c.DSCP; x != nil {
		switch {
		case x.Mask == 0:
			d.errorAt([]any{&x.Mask, &c.DSCP}, "int: dscp: a mask of 0 would take every packet for INT; 63 compares all six bits")
		case x.Value&^x.Mask != 0:
			d.errorAt([]any{&x.Value}, "int: dscp: value %d has bits outside mask %d; did you mean value = %d?", x.Value, x.Mask, x.Value&x.Mask)
		}
		if c.ProbeMarker != nil {
			d.warnAt([]any{&c.ProbeMarker}, "int: probe_marker and dscp are both set: INT 2.1 forbids mixing them in one domain")
		}
	}
	if len(c.ProbePorts) > 0 && !d.has(&c.ProbeMarker) {
		d.warnAt([]any{&c.ProbePorts}, "int: probe_ports does nothing without probe_marker")
	}
	if len(c.Versions) == 0 {
		d.errorAt([]any{&c.Versions}, `int: versions is empty: no INT would be taken; the default is ["2"]`)
	}
	ids := map[uint16]string{}
	for i := range c.Domains {
		x := &c.Domains[i]
		if other, twice := ids[x.ID]; twice && x.ID != 0 {
			d.errorAt([]any{&x.ID}, "domain %q: id %d is that of domain %q too", x.Name, x.ID, other)
		}
		ids[x.ID] = x.Name
	}
}

// maxHopWords is what Hop ML, 5 bits, can say (INT 2.1, "INT-MD Metadata Header
// Format").
const maxHopWords = 31

// checkDomain: the layout adds up.
func (d *decoder) checkDomain(x *Domain) {
	bits, sequence, hop := map[uint8]string{}, "", 0
	if len(x.Instructions) == 0 {
		d.errorAt([]any{x}, "domain %q has no instruction: without one its metadata cannot be told apart", x.Name)
	}
	for i := range x.Instructions {
		in := &x.Instructions[i]
		where := fmt.Sprintf("domain %q: instruction %q", x.Name, in.Name)
		if !d.has(&in.Bit) || !d.has(&in.Length) {
			continue
		}
		if other, twice := bits[in.Bit]; twice {
			d.errorAt([]any{&in.Bit}, "%s: bit %d is that of instruction %q too", where, in.Bit, other)
		}
		bits[in.Bit] = in.Name
		if in.Length%4 != 0 {
			d.errorAt([]any{&in.Length}, "%s: length = %d: must be a multiple of 4; nearest: %d", where, in.Length, (in.Length+2)/4*4)
		}
		if in.Scope == "hop" {
			hop += int(in.Length)
		}
		if in.Role != "sequence" {
			continue
		}
		if sequence != "" {
			d.errorAt([]any{&in.Role}, "%s: instruction %q has the role sequence already; a packet has one sequence number", where, sequence)
		}
		sequence = in.Name
		if in.Length > 8 {
			d.errorAt([]any{&in.Length}, "%s: length = %d: a sequence number has 4 or 8 bytes", where, in.Length)
		}
	}
	if hop > 4*maxHopWords {
		d.errorAt([]any{x}, "domain %q: its instructions of scope hop take %d bytes per hop; Hop ML has 5 bits: at most %d", x.Name, hop, 4*maxHopWords)
	}
}
