package appliance

import (
	"fmt"

	"intsink/conf"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mempool"
)

type appliancePort struct {
	name string
	eth  ethdev.Port
}

// openPorts attaches, configures and starts every port of the configuration.
func (a *Appliance) openPorts(c *conf.Config) error {
	for i := range c.Ports {
		p := &c.Ports[i]
		eth, err := ethdev.Attach(p.Device)
		if err != nil {
			return fmt.Errorf("port %q: %w", p.Name, err)
		}
		a.ports = append(a.ports, appliancePort{p.Name, eth})
		queues := uint16(len(c.DPDK.Lcores))
		err = eth.Configure(ethdev.Config{
			RxQueues: queues, TxQueues: queues, RxDesc: p.RxDesc, TxDesc: p.TxDesc, MTU: p.MTU,
			SymmetricRSS: queues > 1, Pools: []*mempool.Mempool{a.pool},
		})
		if err == nil {
			err = eth.Start()
		}
		if err != nil {
			return fmt.Errorf("port %q (%s): %w", p.Name, p.Device, err)
		}
		eth.Promiscuous()
	}
	return nil
}

func (a *Appliance) port(name string) ethdev.Port {
	for _, p := range a.ports {
		if p.name == name {
			return p.eth
		}
	}
	return ethdev.Port{} // conf has checked that every name exists
}
