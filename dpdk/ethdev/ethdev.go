// Package ethdev binds DPDK's Ethernet devices: attach, configure, start, and
// bursts of packets, one call into C each.
package ethdev

/*
#cgo pkg-config: libdpdk
#cgo CFLAGS: -Werror=implicit-function-declaration
#include <stdlib.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

// rte_eth_dev_info in plain numbers.
struct go_info {
	uint16_t max_rx, max_tx;
	uint64_t rss, rx_offload, tx_offload;
	int socket;
	uint16_t rx_align, rx_min, rx_max, tx_align, tx_min, tx_max;
	char driver[64];
};

static int go_port_info(uint16_t port, struct go_info *out) {
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port, &info);
	if (rc != 0)
		return rc;
	out->max_rx = info.max_rx_queues;
	out->max_tx = info.max_tx_queues;
	out->rss = info.flow_type_rss_offloads;
	out->rx_offload = info.rx_offload_capa;
	out->tx_offload = info.tx_offload_capa;
	out->socket = rte_eth_dev_socket_id(port);
	snprintf(out->driver, sizeof out->driver, "%s", info.driver_name ? info.driver_name : "unknown");
	return 0;
}

static int go_link_up(uint16_t port) {
	struct rte_eth_link link;
	return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status;
}

static int go_port_by_name(const char *name, uint16_t *port) {
	return rte_eth_dev_get_port_by_name(name, port);
}
*/
import "C"

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"unsafe"

	"intsink/dpdk/eal"
)

// Port is one Ethernet device of DPDK.
type Port struct{ id uint16 }

// Info is what a port can do.
type Info struct {
	Driver                   string
	MaxRxQueues, MaxTxQueues uint16
	RSSOffloads              uint64 // RTE_ETH_RSS_* hash types; 0: no RSS
	RxOffloads, TxOffloads   uint64
	Socket                   int // NUMA node, -1: unknown
}

// Attach probes the device that devargs name ("0000:3b:00.0", or a vdev such as
// "net_pcap0,rx_pcap=in.pcap") unless EAL did so at start, and returns its port.
func Attach(devargs string) (Port, error) {
	name, _, _ := strings.Cut(devargs, ",")
	if p, ok := byName(name); ok {
		return p, nil
	}
	cargs := C.CString(devargs)
	defer C.free(unsafe.Pointer(cargs))
	var rc C.int
	said := eal.Capture(func() { rc = C.rte_dev_probe(cargs) })
	if rc != 0 {
		return Port{}, fmt.Errorf("device %q: %w%s; %s", devargs, syscall.Errno(-rc), said, driverHint(name))
	}
	if p, ok := byName(name); ok {
		return p, nil
	}
	return Port{}, fmt.Errorf("device %q: DPDK found no driver for it; %s", devargs, driverHint(name))
}

// driverHint says what most often is wrong.
func driverHint(name string) string {
	if strings.Contains(name, ":") {
		return "for a PCI device, bind it to vfio-pci first: dpdk-devbind.py --bind=vfio-pci " + name
	}
	return "check the driver's name (net_af_packet0, net_pcap0, net_memif0, net_tap0, net_ring0, net_null0) and its arguments, " +
		"and that the interface or file they name exists"
}

func byName(name string) (Port, bool) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var id C.uint16_t
	if C.go_port_by_name(cname, &id) != 0 {
		return Port{}, false
	}
	return Port{uint16(id)}, true
}

// ID is DPDK's port number.
func (p Port) ID() uint16 { return p.id }

// Info asks the driver what the port can do.
func (p Port) Info() (Info, error) {
	var i C.struct_go_info
	if rc := C.go_port_info(C.uint16_t(p.id), &i); rc != 0 {
		return Info{}, fmt.Errorf("port %d: %w", p.id, syscall.Errno(-rc))
	}
	return Info{
		Driver:      C.GoString(&i.driver[0]),
		MaxRxQueues: uint16(i.max_rx), MaxTxQueues: uint16(i.max_tx),
		RSSOffloads: uint64(i.rss), RxOffloads: uint64(i.rx_offload), TxOffloads: uint64(i.tx_offload),
		Socket: int(i.socket),
	}, nil
}

// MAC is the port's Ethernet address.
func (p Port) MAC() (net.HardwareAddr, error) {
	var a C.struct_rte_ether_addr
	if rc := C.rte_eth_macaddr_get(C.uint16_t(p.id), &a); rc != 0 {
		return nil, fmt.Errorf("port %d: %w", p.id, syscall.Errno(-rc))
	}
	return net.HardwareAddr(C.GoBytes(unsafe.Pointer(&a), 6)), nil
}

// Promiscuous makes the port receive every frame. Drivers without filters
// refuse, which changes nothing.
func (p Port) Promiscuous() { C.rte_eth_promiscuous_enable(C.uint16_t(p.id)) }

// Start starts the port's queues.
func (p Port) Start() error {
	if rc := C.rte_eth_dev_start(C.uint16_t(p.id)); rc != 0 {
		return fmt.Errorf("cannot start: %w", syscall.Errno(-rc))
	}
	return nil
}

// Stop stops the port's queues; no burst may be under way.
func (p Port) Stop() { C.rte_eth_dev_stop(C.uint16_t(p.id)) }

// Close frees what the port holds, mbufs included. The port is gone then.
func (p Port) Close() { C.rte_eth_dev_close(C.uint16_t(p.id)) }

// LinkUp tells whether the port's link is up, as far as the driver knows.
func (p Port) LinkUp() bool { return C.go_link_up(C.uint16_t(p.id)) == 1 }
