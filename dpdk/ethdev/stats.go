// Stats: the port's counters (rte_eth_stats): missed, errors, no mbuf.

package ethdev

/*
#include <rte_ethdev.h>
*/
import "C"

import (
	"fmt"

	"intsink/dpdk/eal"
)

// Stats are a port's counters since it started (struct rte_eth_stats).
type Stats struct {
	IPackets, OPackets uint64
	IBytes, OBytes     uint64
	IMissed            uint64 // dropped by the hardware: rx queue full
	IErrors, OErrors   uint64
	RxNoMbuf           uint64 // dropped: pool empty
}

// Stats reads the counters.
func (p Port) Stats() (Stats, error) {
	var s C.struct_rte_eth_stats
	if rc := C.rte_eth_stats_get(C.uint16_t(p.id), &s); rc != 0 {
		return Stats{}, fmt.Errorf("%s: %w", p.Name(), eal.Errno(int(rc)))
	}
	return Stats{
		IPackets: uint64(s.ipackets), OPackets: uint64(s.opackets),
		IBytes: uint64(s.ibytes), OBytes: uint64(s.obytes),
		IMissed: uint64(s.imissed), IErrors: uint64(s.ierrors), OErrors: uint64(s.oerrors),
		RxNoMbuf: uint64(s.rx_nombuf),
	}, nil
}
