// Opens packet and report mbuf pools, and checks at the end for leaked mbufs.

package appliance

import (
	"fmt"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/mempool"
)

// openPools makes one packet pool for all ports and one report pool per worker.
func (a *Appliance) openPools(c *conf.Config) (err error) {
	if a.pool, err = mempool.New("packets", c.DPDK.Mbufs, conf.MbufCache, c.DPDK.MbufRoom(), mempool.AnySocket); err != nil {
		return fmt.Errorf("dpdk.mbufs = %d: %w", c.DPDK.Mbufs, err)
	}
	for w := range c.DPDK.Lcores {
		name := fmt.Sprintf("reports-w%d", w)
		p, err := mempool.New(name, conf.ReportMbufs, 0, rules.ReportRoom(c), mempool.AnySocket)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.reportPools = append(a.reportPools, p)
	}
	return nil
}

// checkPools reports mbufs that did not come back: a leak would stop the
// appliance some day.
func (a *Appliance) checkPools() error {
	leaked := 0
	if a.pool != nil {
		leaked = a.pool.InUse()
	}
	for _, p := range a.reportPools {
		leaked += p.InUse()
	}
	if leaked != 0 {
		return fmt.Errorf("%d mbufs did not return to their pools", leaked)
	}
	return nil
}
