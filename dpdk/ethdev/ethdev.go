// Port: Attach by devargs, start, stop, close, promiscuous mode; explains errors of
// drivers.

package ethdev

/*
#cgo pkg-config: libdpdk
#cgo CFLAGS: -Werror=implicit-function-declaration
#include <stdlib.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_vfio.h>

// go_close closes the port and, where it was the last of its device, lets the
// device go, so that it can be attached again.
static int go_close(uint16_t port) {
	struct rte_eth_dev_info info;
	struct rte_device *dev = NULL;
	uint16_t other;
	int rc;
	if (rte_eth_dev_info_get(port, &info) == 0)
		dev = info.device;
	rte_eth_dev_stop(port);
	if ((rc = rte_eth_dev_close(port)) != 0 || dev == NULL)
		return rc;
	RTE_ETH_FOREACH_DEV_OF(other, dev)
		return 0;
	return rte_dev_remove(dev);
}

// go_enable_vfio has EAL use vfio where the kernel did not have it yet when EAL started. Then no device has it either.
static void go_enable_vfio(void) {
	if (!rte_vfio_is_enabled("vfio"))
		rte_vfio_enable("vfio");
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"intsink/dpdk/eal"
	"intsink/dpdk/vfio"
)

// Port is one Ethernet device of DPDK.
type Port struct{ id uint16 }

// Attach probes the device that devargs name ("0000:3b:00.0", or a vdev such as
// "net_pcap0,rx_pcap=in.pcap") unless that was done before, at EAL's start or
// here, and returns its port.
func Attach(devargs string) (Port, error) {
	name, _, _ := strings.Cut(devargs, ",")
	if p, ok := byName(name); ok {
		p.watchRemoval()
		return p, nil
	}
	if path := memifSocket(devargs); path != "" {
		if err := clearSocket(path); err != nil {
			return Port{}, fmt.Errorf("device %q: %w", devargs, err)
		}
	}
	cargs := C.CString(devargs)
	defer C.free(unsafe.Pointer(cargs))
	var rc C.int
	said := eal.Capture(func() {
		if strings.Contains(name, ":") {
			C.go_enable_vfio()
		}
		rc = C.rte_dev_probe(cargs)
	})
	if rc != 0 {
		return Port{}, fmt.Errorf("device %q: %w%s; %s", devargs, probeError(int(rc), said), said, driverHint(name))
	}
	if p, ok := byName(name); ok {
		p.SetLinkDown(false) // a port of before may have left it
		p.watchRemoval()
		return p, nil
	}
	return Port{}, fmt.Errorf("device %q: DPDK has no driver that takes it%s; %s", devargs, said, driverHint(name))
}

// errProbe stands for the -1 that many drivers return whatever happened, and
// which is no errno.
var errProbe = errors.New("the driver refused it")

func probeError(rc int, said string) error {
	if rc == -1 && said != "" {
		return errProbe
	}
	return eal.Errno(rc)
}

// driverHint returns the most common cause of a refusal of that driver, and what to do.
func driverHint(name string) string {
	if strings.Contains(name, ":") {
		return pciHint(name)
	}
	if os.Geteuid() != 0 && (strings.HasPrefix(name, "net_tap") || strings.HasPrefix(name, "net_af_") || strings.HasPrefix(name, "net_pcap")) {
		return "it needs CAP_NET_RAW and CAP_NET_ADMIN where it stands on a kernel interface: run as root, or grant them"
	}
	return "check the driver's name (net_pcap0, net_memif0, net_tap0, net_ring0, net_null0) and that its package is " +
		"installed, its arguments, and that the interface or file they name exists"
}

// pciHint says why this process cannot have a NIC: what is wrong with the files of VFIO, or that it is
// to be bound first.
func pciHint(address string) string {
	address = vfio.Address(address)
	if why := vfio.Refusal("/", address, vfio.Open); why != "" {
		return why
	}
	if driver := vfio.Driver("/", address); driver != "" {
		return "its driver is " + driver + ", and DPDK's own for this device did not take it; for vfio-pci: dpdk-devbind.py --bind=vfio-pci " + address
	}
	return "it has no driver: dpdk-devbind.py --bind=vfio-pci " + address
}

func byName(name string) (Port, bool) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var id C.uint16_t
	if C.rte_eth_dev_get_port_by_name(cname, &id) != 0 {
		return Port{}, false
	}
	return Port{uint16(id)}, true
}

// ID is DPDK's port number.
func (p Port) ID() uint16 { return p.id }

// Name is what DPDK calls the port's device: the PCI address, or the vdev's name.
func (p Port) Name() string {
	var name [C.RTE_ETH_NAME_MAX_LEN]C.char
	if C.rte_eth_dev_get_name_by_port(C.uint16_t(p.id), &name[0]) != 0 {
		return fmt.Sprintf("port %d", p.id)
	}
	return C.GoString(&name[0])
}

// Start starts the port's queues.
func (p Port) Start() error {
	var rc C.int
	said := eal.Capture(func() { rc = C.rte_eth_dev_start(C.uint16_t(p.id)) })
	if rc != 0 {
		return fmt.Errorf("%s: cannot start: %w%s", p.Name(), eal.Errno(int(rc)), said)
	}
	return p.knownRings()
}

// Stop stops the port's queues; no burst may be under way.
func (p Port) Stop() {
	if !p.isMemif() {
		eal.Capture(func() { C.rte_eth_dev_stop(C.uint16_t(p.id)) })
		return
	}
	eal.Capture(func() { stopMemif(p) })
	eal.SettleInterrupts()
	eal.KeepMemory()
}

// Close stops the port and frees what it holds, mbufs included. The port is
// gone then; Attach makes it anew.
func (p Port) Close() { eal.Capture(func() { C.go_close(C.uint16_t(p.id)) }) }

// Promiscuous makes the port receive every frame. Drivers without filters
// refuse, which changes nothing.
func (p Port) Promiscuous() { eal.Capture(func() { C.rte_eth_promiscuous_enable(C.uint16_t(p.id)) }) }
