package ethdev

/*
#include <string.h>
#include <rte_ethdev.h>

// The Toeplitz key of repeated 0x6d5a hashes both directions of a flow alike
// (Woo and Park, "Scalable TCP Session Monitoring with Symmetric Receive-side
// Scaling", 2012).
static uint8_t go_rss_key[64];

static int go_configure(uint16_t port, uint16_t rxq, uint16_t txq, uint32_t mtu, int rss,
		uint64_t rx_want, uint64_t tx_want) {
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	int rc = rte_eth_dev_info_get(port, &info);
	if (rc != 0)
		return rc;
	memset(&conf, 0, sizeof conf);
	if (mtu != 0)
		conf.rxmode.mtu = mtu;
	conf.rxmode.offloads = rx_want & info.rx_offload_capa;
	conf.txmode.offloads = tx_want & info.tx_offload_capa;
	if (rss && info.flow_type_rss_offloads != 0 && rxq > 1) {
		for (unsigned i = 0; i < sizeof go_rss_key; i += 2) {
			go_rss_key[i] = 0x6d;
			go_rss_key[i + 1] = 0x5a;
		}
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_key = info.hash_key_size <= sizeof go_rss_key && info.hash_key_size > 0 ? go_rss_key : NULL;
		conf.rx_adv_conf.rss_conf.rss_key_len = conf.rx_adv_conf.rss_conf.rss_key ? info.hash_key_size : 0;
		conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
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
	SymmetricRSS       bool               // both directions of a flow to one queue, where the port can
	Pools              []*mempool.Mempool // rx queue q takes Pools[q % len(Pools)]
}

const defaultDesc = 1024

// Configure sets the port up. It must be stopped.
func (p Port) Configure(c Config) error {
	info, err := p.Info()
	if err != nil {
		return err
	}
	if err := enoughQueues(&c, &info); err != nil {
		return err
	}
	if len(c.Pools) == 0 {
		return errors.New("no pool to receive into")
	}
	var rc C.int
	said := eal.Capture(func() {
		rc = C.go_configure(C.uint16_t(p.id), C.uint16_t(c.RxQueues), C.uint16_t(c.TxQueues), C.uint32_t(c.MTU), cbool(c.SymmetricRSS),
			C.RTE_ETH_RX_OFFLOAD_SCATTER, C.RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
	})
	if rc != 0 {
		return fmt.Errorf("cannot configure: %w%s", syscall.Errno(-rc), said)
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
		return fmt.Errorf("cannot set up queues: %w%s", syscall.Errno(-rc), said)
	}
	if c.MTU != 0 {
		if rc := C.rte_eth_dev_set_mtu(C.uint16_t(p.id), C.uint16_t(c.MTU)); rc != 0 && syscall.Errno(-rc) != syscall.ENOTSUP {
			return fmt.Errorf("cannot set MTU %d: %w", c.MTU, syscall.Errno(-rc))
		}
	}
	return nil
}

func enoughQueues(c *Config, info *Info) error {
	if c.RxQueues <= info.MaxRxQueues && c.TxQueues <= info.MaxTxQueues {
		return nil
	}
	return fmt.Errorf("%s has %d rx and %d tx queues, and each of the %d workers needs one of its own: "+
		"configure fewer dpdk.lcores, or a device with more queues", info.Driver, info.MaxRxQueues, info.MaxTxQueues, c.RxQueues)
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
