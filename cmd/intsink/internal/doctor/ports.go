// doctor on ports: drivers, IOMMU, interfaces, offloads.

package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"intsink/conf"
)

// pciDevices looks at NICs that DPDK drives: are they there, bound to vfio-pci, may they
// use an IOMMU, and is their slot as wide as they are.
func pciDevices(h *host, c *conf.Config) (all []Finding) {
	for i := range c.Ports {
		p := &c.Ports[i]
		if !p.IsPCI() {
			continue
		}
		address := pciAddress(p)
		dev := "sys/bus/pci/devices/" + address
		if !h.exists(dev) {
			all = append(all, fault("dpdk-devbind.py --status-dev net", "port %q: there is no PCI device %s", p.Name, address))
			continue
		}
		driver := h.link(dev, "driver")
		switch driver {
		case "vfio-pci", "mlx5_core", "uio_pci_generic", "igb_uio":
			all = append(all, ok("port %q: %s has the driver %s", p.Name, address, driver))
		default:
			if driver == "" {
				driver = "none"
			}
			all = append(all, fault("modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci "+quoted(address)+"    # for the next boot, while intsink is stopped: driverctl set-override "+address+" vfio-pci",
				"port %q: %s has the driver %s, which DPDK cannot use", p.Name, address, driver))
		}
		if driver == "vfio-pci" && h.link(dev, "iommu_group") == "" {
			all = append(all, slow(byHand("add intel_iommu=on (amd_iommu=on) iommu=pt to GRUB_CMDLINE_LINUX, then: update-grub && reboot"), "port %q: no IOMMU: the device can write to any memory, and vfio needs more rights", p.Name))
		}
		if p.MTU != 0 {
			if narrow := c.TooNarrow(p, int(p.MTU)); narrow != "" {
				all = append(all, slow(byHand(fmt.Sprintf("write port %q { mtu = %d }, or leave it out", p.Name, c.RoomForINT(p.Name))), "%s", narrow))
			}
		}
		now, max := h.text(dev, "current_link_width"), h.text(dev, "max_link_width")
		if n, err := strconv.Atoi(now); err == nil && n > 0 {
			if m, err := strconv.Atoi(max); err == nil && n < m {
				all = append(all, slow(byHand("put the card into a slot with all its lanes"), "port %q: %s uses %d of its %d PCIe lanes", p.Name, address, n, m))
			}
		}
	}
	return all
}

// pciAddress returns the PCI address of a port with its domain, as sysfs has it.
func pciAddress(p *conf.Port) string {
	address, _, _ := strings.Cut(strings.ToLower(p.Device), ",")
	if strings.Count(address, ":") == 1 {
		address = "0000:" + address
	}
	return address
}

// numa looks at whether workers stand on the NUMA node of the NICs.
func numa(h *host, c *conf.Config) (all []Finding) {
	for i := range c.Ports {
		p := &c.Ports[i]
		if !p.IsPCI() {
			continue
		}
		address := pciAddress(p)
		node, found := h.number("sys/bus/pci/devices", address, "numa_node")
		if !found || node < 0 {
			continue
		}
		near := h.text(fmt.Sprintf("sys/devices/system/node/node%d/cpulist", node))
		for _, l := range c.DPDK.Lcores {
			if !cpuList(near)[l] {
				all = append(all, slow(byHand("take dpdk.lcores from "+near), "port %q is on NUMA node %d, CPU %d of dpdk.lcores on another: every packet crosses between them", p.Name, node, l))
				break
			}
		}
	}
	return all
}

// kernelInterfaces looks at interfaces of the kernel: are they there and up, is there room
// for INT on the network side, is the MTU one that the driver takes.
func kernelInterfaces(h *host, c *conf.Config) (all []Finding) {
	for i := range c.Ports {
		p := &c.Ports[i]
		name := p.Interface()
		if name == "" || driverOf(p) == "net_tap" { // which makes its interface at start
			continue
		}
		dir := "sys/class/net/" + name
		mtu, found := h.number(dir, "mtu")
		if !found {
			if pid := h.elsewhere(); pid != "" {
				all = append(all, fault(byHand(`nsenter -t `+pid+` -n unshare -m sh -c "mount -t sysfs sysfs /sys && intsink doctor --config FILE"`), "port %q: there is no interface %s in this network namespace; the sink that runs (pid %s) is in another one: ask there", p.Name, name, pid))
				continue
			}
			all = append(all, fault("ip -br link", "port %q: there is no interface %s", p.Name, name))
			continue
		}
		if h.text(dir, "operstate") == "down" || h.text(dir, "carrier") == "0" {
			all = append(all, fault("ip link set "+quoted(name)+" up    # and the cable, or the other side", "port %q: %s has no link", p.Name, name))
		}
		all = append(all, mtuOf(c, p, mtu))
	}
	return all
}

// elsewhere is the process of a sink that runs in another network namespace than this one, "" if there is none.
func (h *host) elsewhere() string {
	own := h.link("proc/self/ns/net")
	for _, pid := range h.processes("intsink") {
		net, command := h.link("proc", pid, "ns/net"), strings.Split(h.text("proc", pid, "cmdline"), "\x00")
		if own != "" && net != "" && net != own && len(command) > 1 && command[1] == "run" {
			return pid
		}
	}
	return ""
}

// mtuOf looks at the MTU of the interface of a port. Kernel ports and net_pcap take frames of any
// length, net_af_xdp those that fit an mbuf.
func mtuOf(c *conf.Config, p *conf.Port, mtu int) Finding {
	name, own := p.Interface(), mtu
	if p.MTU != 0 {
		own = int(p.MTU)
	}
	switch {
	case driverOf(p) == "net_af_xdp" && own+14+8 > c.DPDK.MbufSize:
		fix := fmt.Sprintf("ip link set %s mtu %d    # or dpdk { mbuf_size = %d }", quoted(name), c.DPDK.MbufSize-22, own+22)
		if p.MTU != 0 {
			fix = byHand(fmt.Sprintf("write port %q { mtu = %d }, or dpdk { mbuf_size = %d }", p.Name, c.DPDK.MbufSize-22, own+22))
		}
		return fault(fix, "port %q: frames of %s (MTU %d) do not fit mbufs of %d bytes", p.Name, name, own, c.DPDK.MbufSize)
	case isNetworkSide(c, p.Name) && mtu < 1500+conf.INTRoom:
		return slow(fmt.Sprintf("ip link set %s mtu %d", quoted(name), 1500+conf.INTRoom), "port %q: the MTU of %s is %d: packets of 1500 bytes with INT of eight hops need %d", p.Name, name, mtu, 1500+conf.INTRoom)
	}
	return ok("port %q: %s, MTU %d", p.Name, name, mtu)
}

// driverOf is the driver of a virtual device of DPDK, such as net_pcap; empty for others.
func driverOf(p *conf.Port) string {
	if _, kernel := p.Kernel(); kernel || p.IsPCI() {
		return ""
	}
	device, _, _ := strings.Cut(p.Device, ",")
	return strings.TrimRight(device, "0123456789")
}

func isNetworkSide(c *conf.Config, port string) bool {
	for _, l := range c.Links {
		if l.Network == port {
			return true
		}
	}
	return false
}

// offloads looks at what joins frames of kernel interfaces before the sink has them.
func offloads(h *host, c *conf.Config) (all []Finding) {
	for i := range c.Ports {
		p := &c.Ports[i]
		name := p.Interface()
		if name == "" || driverOf(p) == "net_tap" || h.machine.Offloads == nil {
			continue
		}
		switch o := h.machine.Offloads(name); {
		case o.LRO:
			all = append(all, fault("ethtool -K "+quoted(name)+" lro off", "port %q: LRO of %s joins frames without a way back: the sink refuses it", p.Name, name))
		case o.GRO && driverOf(p) == "net_af_xdp":
			all = append(all, slow("ethtool -K "+quoted(name)+" gro off", "port %q: where the driver of %s has no XDP of its own, GRO joins frames, and net_af_xdp does not cut them again", p.Name, name))
		case o.GRO && driverOf(p) != "":
			all = append(all, fault("ethtool -K "+quoted(name)+" gro off    # or device = \"kernel:"+name+"\"", "port %q: GRO of %s joins frames, and %s does not cut them again", p.Name, name, driverOf(p)))
		case o.GRO:
			all = append(all, slow("ethtool -K "+quoted(name)+" gro off", "port %q: GRO of %s joins frames, which the sink cuts again", p.Name, name))
		}
		if peer := vethPeer(h, name); driverOf(p) == "" && peer != "" && h.machine.Offloads(peer).TSO {
			all = append(all, slow("ethtool -K "+quoted(peer)+" tso off tx-udp-segmentation off tx-sctp-segmentation off",
				"port %q: %s, the peer of %s, leaves frames joined, which the sink cuts again; joined SCTP the kernel does not give to it at all", p.Name, peer, name))
		}
	}
	return all
}

// vethPeer is the other end of a veth in this network namespace; "": it is elsewhere, or name is no veth. Each end names the
// other by its index.
func vethPeer(h *host, name string) string {
	index, _ := h.number("sys/class/net", name, "ifindex")
	link, ok := h.number("sys/class/net", name, "iflink")
	if !ok || link == index {
		return ""
	}
	for _, other := range h.names("sys/class/net/*") {
		its, _ := h.number("sys/class/net", other, "ifindex")
		if back, ok := h.number("sys/class/net", other, "iflink"); ok && its == link && back == index {
			return other
		}
	}
	return ""
}
