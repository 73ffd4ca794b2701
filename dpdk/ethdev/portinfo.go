// Info: what the driver of a port can do (queues, MTU, RSS, offloads, NUMA node); MAC, link
// state and speed.

package ethdev

/*
#include <rte_ethdev.h>

// What Go reads of rte_eth_dev_info, in plain numbers.
struct go_info {
	uint16_t max_rx, max_tx, min_mtu, max_mtu;
	uint64_t rss, rx_offload, tx_offload;
	int socket, key_size;
	char driver[64];
};

// go_max_mtu is the largest MTU that rte_eth_dev_configure accepts: drivers
// that do not tell theirs tell the longest frame.
static uint16_t go_max_mtu(const struct rte_eth_dev_info *info) {
	uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN, mtu;
	if (info->max_mtu != UINT16_MAX)
		return info->max_mtu;
	mtu = info->max_rx_pktlen > overhead ? info->max_rx_pktlen - overhead : 0;
	return mtu < UINT16_MAX ? mtu : UINT16_MAX;
}

static int go_port_info(uint16_t port, struct go_info *out) {
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port, &info);
	if (rc != 0)
		return rc;
	out->max_rx = info.max_rx_queues;
	out->max_tx = info.max_tx_queues;
	out->min_mtu = info.min_mtu;
	out->max_mtu = go_max_mtu(&info);
	out->rss = info.flow_type_rss_offloads;
	out->rx_offload = info.rx_offload_capa;
	out->tx_offload = info.tx_offload_capa;
	out->key_size = info.hash_key_size;
	out->socket = rte_eth_dev_socket_id(port);
	snprintf(out->driver, sizeof out->driver, "%s", info.driver_name ? info.driver_name : "unknown");
	return 0;
}

// go_link returns the speed in the upper half, and whether the link is up in the lower.
static uint64_t go_link(uint16_t port) {
	struct rte_eth_link link;
	if (rte_eth_link_get_nowait(port, &link) != 0)
		return 0;
	uint64_t speed = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
	return speed << 32 | link.link_status;
}
*/
import "C"

import (
	"fmt"
	"net"
	"unsafe"

	"intsink/dpdk/eal"
)

// Info is what a port can do.
type Info struct {
	Driver                   string
	MAC                      net.HardwareAddr
	MaxRxQueues, MaxTxQueues uint16
	MinMTU, MaxMTU           uint16
	RSSOffloads              uint64 // RTE_ETH_RSS_* hash types; 0: no RSS
	RSSKeySize               int    // bytes of the hash key; 0: the driver does not tell, or has none
	RxOffloads, TxOffloads   uint64
	Socket                   int // NUMA node, -1: unknown
}

// SymmetricRSS reports whether Configure can make the port send both directions of a flow to
// one queue.
func (i *Info) SymmetricRSS() bool {
	return i.RSSOffloads != 0 && i.RSSKeySize > 0 && i.RSSKeySize <= maxRSSKey
}

// Scatter reports whether a received frame may be longer than an mbuf and then is a chain.
func (i *Info) Scatter() bool {
	return i.RxOffloads&C.RTE_ETH_RX_OFFLOAD_SCATTER != 0 || i.Driver == "net_pcap" // which does it without saying so
}

// Info asks the driver what the port can do.
func (p Port) Info() (Info, error) {
	var i C.struct_go_info
	if rc := C.go_port_info(C.uint16_t(p.id), &i); rc != 0 {
		return Info{}, fmt.Errorf("%s: %w", p.Name(), eal.Errno(int(rc)))
	}
	mac, err := p.MAC()
	return Info{
		Driver: C.GoString(&i.driver[0]), MAC: mac,
		MaxRxQueues: uint16(i.max_rx), MaxTxQueues: uint16(i.max_tx),
		MinMTU: uint16(i.min_mtu), MaxMTU: uint16(i.max_mtu),
		RSSOffloads: uint64(i.rss), RSSKeySize: int(i.key_size),
		RxOffloads: uint64(i.rx_offload), TxOffloads: uint64(i.tx_offload),
		Socket: int(i.socket),
	}, err
}

// MAC is the port's Ethernet address.
func (p Port) MAC() (net.HardwareAddr, error) {
	var a C.struct_rte_ether_addr
	if rc := C.rte_eth_macaddr_get(C.uint16_t(p.id), &a); rc != 0 {
		return nil, fmt.Errorf("%s: %w", p.Name(), eal.Errno(int(rc)))
	}
	return net.HardwareAddr(C.GoBytes(unsafe.Pointer(&a), C.sizeof_struct_rte_ether_addr)), nil
}

// Link is the state of a port's link.
type Link struct {
	Up   bool
	Mbit int // as the driver tells it, 0 where it does not; that of a virtual device is made up by its driver
}

// Link asks the driver. One goroutine at a time may: some drivers (e1000) read a register of the PHY
// in steps, without a lock, and two at once see a wrong word. That of a device that is gone is down: its
// driver would wait for registers that do not answer, e1000 for more than half a minute.
func (p Port) Link() Link {
	if p.Removed() {
		return Link{}
	}
	l := uint64(C.go_link(C.uint16_t(p.id)))
	return Link{Up: uint32(l) != 0, Mbit: int(l >> 32)}
}
