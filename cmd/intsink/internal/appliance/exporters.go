package appliance

import (
	"context"

	"intsink/conf"
	"intsink/dpdk/ring"
	"intsink/exporters/udp"
)

func (a *Appliance) startExporters(c *conf.Config, rings [][]*ring.Ring) {
	ctx, cancel := context.WithCancel(context.Background())
	a.stopExporters = cancel
	modes := map[string]udp.PortMode{"any": udp.PortAny, "fixed": udp.PortFixed, "hash": udp.PortHash}
	for i := range c.Collectors {
		col := &c.Collectors[i]
		if e := a.reportPorts.exporters[i]; e != nil {
			a.exporters = append(a.exporters, e)
			continue
		}
		e := udp.New(udp.Config{
			Collector: col.Address, Source: col.Source,
			PortMode: modes[col.SourcePortMode], SourcePort: col.SourcePort,
			Rings: rings[i], Pool: a.pool,
		})
		a.exporters = append(a.exporters, e)
		a.exporting.Add(1)
		go func() {
			defer a.exporting.Done()
			e.Run(ctx)
		}()
	}
}
