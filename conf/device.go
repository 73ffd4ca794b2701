// Recognises, checks and compares the device of a port: PCI address, vdev with its
// arguments, or kernel:NAME.

package conf

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"intsink/conf/schema"
)

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
