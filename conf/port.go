// Block port, whole: what packets are received from and sent to; the mbufs that takes.

package conf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"intsink/conf/schema"
)

func (d checker) checkPorts(all []Port) {
	if len(all) == 0 {
		d.ErrorAt(nil, `there is no port block: name the devices to receive and send on, such as port "network" { device = "0000:3b:00.0" }`)
	}
	ids, devices, onInterface := map[uint16]*Port{}, map[string]*Port{}, map[string]*Port{}
	for i := range all {
		p := &all[i]
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

// checkMbufs: every receive descriptor holds an mbuf from the start, every
// transmit descriptor may, and every worker has a burst and a cache of them. A kernel
// port has no descriptors, but a burst of mbufs ahead.
func (d checker) checkMbufs(dpdk *DPDK, ports []Port) {
	const perWorker = Burst + MbufCache
	workers, rx, all := len(dpdk.Lcores), 0, 0
	for i := range ports {
		if _, ok := ports[i].Kernel(); ok {
			all += workers * Burst
			continue
		}
		rx += workers * int(ports[i].RxDesc)
		all += workers * int(ports[i].TxDesc)
	}
	all += rx + workers*perWorker
	at := []any{&dpdk.Mbufs, dpdk, &dpdk.Lcores}
	for i := range ports {
		at = append(at, &ports[i].RxDesc, &ports[i].TxDesc)
	}
	sum := fmt.Sprintf("the descriptors, bursts and caches of workers (%d) on all ports (%d) hold up to %d mbufs", workers, len(ports), all)
	switch {
	case dpdk.Mbufs < rx:
		d.ErrorAt(at, "dpdk: mbufs = %d: the receive descriptors alone take %d; %s: set mbufs to at least that, or lower rx_desc", dpdk.Mbufs, rx, sum)
	case dpdk.Mbufs < all:
		d.WarnAt(at, "dpdk: mbufs = %d may run out: %s", dpdk.Mbufs, sum)
	}
}

// Port is a NIC of DPDK by its PCI address, a vdev of DPDK, or a kernel interface.
type Port struct {
	Name   string
	Device string
	ID     uint16 // interface id in the sink's own report metadata; default: place in the file, from 1
	RxDesc uint16 // power of two, 64..4096
	TxDesc uint16
	MTU    uint16 // 0: leave the driver's
}

func defaultPort(i int) Port {
	return Port{ID: uint16(min(i+1, 65535)), RxDesc: 1024, TxDesc: 1024, MTU: 0}
}

func visitPort(v schema.Visitor, p *Port) {
	v.Required("device", schema.Text(&p.Device))
	v.Attr("id", schema.Integer(&p.ID, 0, 65534)) // all ones: not known
	v.Attr("rx_desc", schema.PowerOfTwo(&p.RxDesc, 64, 4096))
	v.Attr("tx_desc", schema.PowerOfTwo(&p.TxDesc, 64, 4096))
	v.Attr("mtu", schema.Integer(&p.MTU, 0, 9600))
}

func portNames(all []Port) []string {
	var names []string
	for i := range all {
		if all[i].Name != "" {
			names = append(names, all[i].Name)
		}
	}
	return names
}

var (
	pciAddress = regexp.MustCompile(`^([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7](,.*)?$`)
	pciLike    = regexp.MustCompile(`^[0-9a-fA-F]+(:[0-9a-fA-F]+)+`)
	vdev       = regexp.MustCompile(`^(net|eth|dpni)[_.]`)
	afPacket   = regexp.MustCompile(`^(net|eth)_af_packet[^,]*(,|$)`)
	interfaces = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,15}$`)
)

// kernelDevice in front of an interface's name makes it a port.
const kernelDevice = "kernel:"

// ringFactor: a kernel port's receive ring has that many frames for each of rx_desc.
// They hold no mbufs.
const ringFactor = 4

// KernelPort is a kernel interface that is opened directly (dpdk/afpacket), without a driver
// of DPDK.
type KernelPort struct {
	Interface string
	Frames    int // of the receive ring, at least
}

// Kernel returns the kernel interface of p, false for a port of DPDK. It is written as
// "kernel:eth0", or as DPDK's driver of the same interfaces has it,
// "net_af_packet0,iface=eth0".
func (p *Port) Kernel() (k KernelPort, ok bool) {
	k.Frames = ringFactor * int(p.RxDesc)
	if name, found := strings.CutPrefix(p.Device, kernelDevice); found {
		k.Interface = name
		return k, true
	}
	if !afPacket.MatchString(p.Device) {
		return KernelPort{}, false
	}
	k.Interface = p.argument("iface")
	if n, err := strconv.Atoi(p.argument("framecnt")); err == nil {
		k.Frames = max(k.Frames, n)
	}
	return k, true
}

// Interface is the kernel interface that the port stands on, with whatever driver; empty
// where there is none. "net_tap0,iface=tap5" makes one; net_tap without iface names it itself.
func (p *Port) Interface() string {
	if k, ok := p.Kernel(); ok {
		return k.Interface
	}
	for _, driver := range []string{"net_pcap", "net_af_xdp", "net_tap"} {
		if strings.HasPrefix(p.Device, driver) {
			return p.argument("iface")
		}
	}
	return ""
}

// argument is the value of a driver's argument in device, empty where it is not there.
func (p *Port) argument(name string) string {
	_, rest, _ := strings.Cut(p.Device, ",")
	for _, a := range strings.Split(rest, ",") {
		if key, value, _ := strings.Cut(a, "="); key == name {
			return value
		}
	}
	return ""
}

// strangersJoin tells whether p is a memif whose socket is no file: DPDK's default is an abstract one, without permissions.
// A secret keeps others from a server; a client would tell it to whoever was first to listen there.
func (p *Port) strangersJoin() bool {
	if !strings.HasPrefix(p.Device, "net_memif") || p.argument("socket-abstract") == "no" {
		return false
	}
	role := p.argument("role")
	return role != "server" && role != "master" || p.argument("secret") == ""
}

// afPacketArguments are the arguments of DPDK's driver net_af_packet. A kernel port finds their
// values by itself, except framecnt, the length of its ring.
var afPacketArguments = []string{"iface", "qpairs", "blocksz", "framesz", "framecnt", "qdisc_bypass"}

// checkDevice checks the form of a device. Whether the device exists is found when the port is
// opened.
func (d checker) checkDevice(p *Port) {
	at := []any{&p.Device}
	k, kernel := p.Kernel()
	switch {
	case p.Device == "":
		if d.Has(&p.Device) {
			d.ErrorAt(at, `port %q: device is empty: a PCI address such as "0000:3b:00.0", a kernel interface such as "kernel:eth1", or a DPDK vdev`, p.Name)
		}
	case kernel && k.Interface == "" && strings.HasPrefix(p.Device, kernelDevice):
		d.ErrorAt(at, `port %q: device = %q: the interface's name is missing: such as "kernel:eth1"`, p.Name, schema.Short(p.Device))
	case kernel && k.Interface == "":
		d.ErrorAt(at, `port %q: device = %q: iface= is missing: write "kernel:eth1", or "net_af_packet0,iface=eth1"`, p.Name, schema.Short(p.Device))
	case kernel && !kernelName(k.Interface):
		d.ErrorAt(at, `port %q: device = %q: %q is no name of an interface: 1 to 15 bytes without blanks, "/", ":" and ","`,
			p.Name, schema.Short(p.Device), schema.Short(k.Interface))
	case kernel:
		d.checkAFPacket(p)
	case p.strangersJoin():
		d.ErrorAt(at, `port %q: device = %q: DPDK makes an abstract socket of it, which every user of this machine may join, or make first: add socket-abstract=no,socket=PATH, in a folder of the sink's own`, p.Name, schema.Short(p.Device))
	case pciAddress.MatchString(p.Device) || vdev.MatchString(p.Device):
	case pciLike.MatchString(p.Device):
		d.ErrorAt(at, `port %q: device = %q is no PCI address: it is written domain:bus:device.function, such as "0000:3b:00.0"`, p.Name, schema.Short(p.Device))
	case interfaces.MatchString(p.Device):
		d.WarnAt(at, `port %q: device = %q is neither a PCI address nor a DPDK vdev; for a Linux interface write "kernel:%s"`,
			p.Name, p.Device, p.Device)
	}
}

// checkAFPacket finds arguments that DPDK's driver does not have.
func (d checker) checkAFPacket(p *Port) {
	_, rest, found := strings.Cut(p.Device, ",")
	if !found {
		return
	}
	for _, a := range strings.Split(rest, ",") {
		key, _, _ := strings.Cut(a, "=")
		if !slices.Contains(afPacketArguments, key) {
			d.ErrorAt([]any{&p.Device}, "port %q: device = %q: no argument is called %q%s",
				p.Name, schema.Short(p.Device), schema.Short(key), schema.DidYouMean(key, afPacketArguments, "%q"))
		}
	}
}

// kernelName reports whether the kernel would take s as an interface's name (dev_valid_name in
// net/core/dev.c).
func kernelName(s string) bool {
	return len(s) <= 15 && s != "." && s != ".." && !strings.ContainsAny(s, "/:, \t\n\v\f\r")
}

// deviceKey is equal for two ways to write the same device.
func (p *Port) deviceKey() string {
	if k, ok := p.Kernel(); ok {
		return kernelDevice + k.Interface
	}
	name, _, _ := strings.Cut(strings.ToLower(p.Device), ",")
	return strings.TrimPrefix(name, "0000:")
}

// IsPCI reports whether the device is a NIC by its PCI address.
func (p *Port) IsPCI() bool { return pciAddress.MatchString(p.Device) }
