// Configure: sets descriptors, queues, MTU, symmetric RSS and scattered frames of a DPDK
// port, and checks them against its Info.

package ethdev

/*
#include <string.h>
#include <rte_ethdev.h>

// The Toeplitz key of repeated 0x6d5a hashes both directions of a flow alike
// (Woo and Park, "Scalable TCP Session Monitoring with Symmetric Receive-side
// Scaling", 2012).
#define KEY8 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a
static const uint8_t go_rss_key[] = {KEY8, KEY8, KEY8, KEY8, KEY8, KEY8, KEY8, KEY8};
enum { go_max_rss_key = sizeof go_rss_key };

static int go_configure(uint16_t port, uint16_t rxq, uint16_t txq, uint32_t mtu, int rss) {
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	int rc = rte_eth_dev_info_get(port, &info);
	if (rc != 0)
		return rc;
	memset(&conf, 0, sizeof conf);
	conf.rxmode.mtu = mtu; // 0: the driver's own
	conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER & info.rx_offload_capa;
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS & info.tx_offload_capa;
	if (rxq > 1 && info.flow_type_rss_offloads != 0) {
		struct rte_eth_rss_conf *r = &conf.rx_adv_conf.rss_conf;
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		r->rss_hf = info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
		if (rss && info.hash_key_size > 0 && info.hash_key_size <= go_max_rss_key) {
			r->rss_key = (uint8_t *)(uintptr_t)go_rss_key; // only read
			r->rss_key_len = info.hash_key_size;
		}
	}
	return rte_eth_dev_configure(port, rxq, txq, &conf);
}

static int go_queues(uint16_t port, uint16_t rxq, uint16_t txq, uint16_t rxd, uint16_t txd,
		uintptr_t *pools, uint16_t npools) {
	int socket = rte_eth_dev_socket_id(port), rc;
	unsigned s = socket < 0 ? SOCKET_ID_ANY : (unsigned)socket;
	if ((rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rxd, &txd)) != 0)
		return rc;
	for (uint16_t q = 0; q < rxq; q++)
		if ((rc = rte_eth_rx_queue_setup(port, q, rxd, s, NULL, (struct rte_mempool *)pools[q % npools])) != 0)
			return rc;
	for (uint16_t q = 0; q < txq; q++)
		if ((rc = rte_eth_tx_queue_setup(port, q, txd, s, NULL)) != 0)
			return rc;
	return 0;
}
*/
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"syscall"

	"intsink/dpdk/eal"
	"intsink/dpdk/mempool"
)

// Config of a port's queues.
type Config struct {
	RxQueues, TxQueues uint16
	RxDesc, TxDesc     uint16             // 0: 1024; adjusted to what the driver allows
	MTU                uint16             // 0: the driver's own
	SymmetricRSS       bool               // both directions of a flow to one queue, where Info.SymmetricRSS
	Pools              []*mempool.Mempool // rx queue q takes Pools[q % len(Pools)]
}

const (
	defaultDesc = 1024
	maxRSSKey   = C.go_max_rss_key
)

// Configure sets the port up: queues, RSS over them by IP addresses and TCP or
// UDP ports, and chains of mbufs on both sides where the driver has them, so that
// a frame may be longer than one buffer. The port must be stopped.
func (p Port) Configure(c Config) error {
	info, err := p.Info()
	if err != nil {
		return err
	}
	if err := p.check(&c, &info); err != nil {
		return err
	}
	var rc C.int
	said := eal.Capture(func() {
		rc = C.go_configure(C.uint16_t(p.id), C.uint16_t(c.RxQueues), C.uint16_t(c.TxQueues), C.uint32_t(c.MTU), cbool(c.SymmetricRSS))
	})
	if rc != 0 {
		return fmt.Errorf("%s: cannot configure: %w%s", p.Name(), eal.Errno(int(rc)), said)
	}
	pools := make([]C.uintptr_t, len(c.Pools))
	for i, pool := range c.Pools {
		pools[i] = C.uintptr_t(pool.Ptr())
	}
	said = eal.Capture(func() {
		rc = C.go_queues(C.uint16_t(p.id), C.uint16_t(c.RxQueues), C.uint16_t(c.TxQueues),
			C.uint16_t(orDefault(c.RxDesc)), C.uint16_t(orDefault(c.TxDesc)), &pools[0], C.uint16_t(len(pools)))
	})
	if rc != 0 {
		return fmt.Errorf("%s: cannot set up queues: %w%s", p.Name(), eal.Errno(int(rc)), said)
	}
	return p.setMTU(c.MTU)
}

// setMTU tells the device too: some drivers look at the configuration only, some
// at this call only. Those that cannot be told are fine with any frame.
func (p Port) setMTU(mtu uint16) error {
	if mtu == 0 {
		return nil
	}
	var rc C.int
	said := eal.Capture(func() { rc = C.rte_eth_dev_set_mtu(C.uint16_t(p.id), C.uint16_t(mtu)) })
	if rc != 0 && syscall.Errno(-rc) != syscall.ENOTSUP {
		return fmt.Errorf("%s: cannot set MTU %d: %w%s", p.Name(), mtu, eal.Errno(int(rc)), said)
	}
	return nil
}

// check compares a configuration with what the port can do, so that the error names the
// attribute; DPDK's own errors are less clear.
func (p Port) check(c *Config, info *Info) error {
	switch {
	case c.RxQueues > info.MaxRxQueues || c.TxQueues > info.MaxTxQueues:
		return fmt.Errorf("%s (%s) has %d rx and %d tx queues, and each of the %d workers needs one of its own: "+
			"configure fewer dpdk.lcores, or %s",
			p.Name(), info.Driver, info.MaxRxQueues, info.MaxTxQueues, max(c.RxQueues, c.TxQueues), moreQueues(info.Driver, max(c.RxQueues, c.TxQueues)))
	case c.MTU != 0 && (c.MTU < info.MinMTU || c.MTU > info.MaxMTU):
		return fmt.Errorf("%s (%s) takes an MTU of %d to %d, not %d", p.Name(), info.Driver, info.MinMTU, info.MaxMTU, c.MTU)
	case len(c.Pools) == 0:
		return errors.New("no pool to receive into")
	}
	return nil
}

// moreQueues says how a device of the driver gets n queues.
func moreQueues(driver string, n uint16) string {
	switch driver {
	case "net_vhost", "net_virtio_user", "net_af_packet":
		argument := map[string]string{"net_af_packet": "qpairs"}[driver]
		return fmt.Sprintf("write %s=%d into its device", cmp.Or(argument, "queues"), n)
	}
	return "a device with more queues"
}

func orDefault(desc uint16) uint16 {
	if desc == 0 {
		return defaultDesc
	}
	return desc
}

func cbool(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
