// Makes each collector's exporter, its rings and the workers' outlets; says which survive a
// reload.

package appliance

import (
	"context"
	"net/netip"

	"intsink/cmd/intsink/internal/observe"
	"intsink/conf"
	"intsink/dpdk/ring"
	"intsink/engine/reporting"
	"intsink/exporters/udp"
)

// exportRing is how many sealed report packets one worker can be ahead of one
// exporter. A power of two.
const exportRing = 1024

// collector is a collector that is running. It lives over reloads as long as its configuration
// stays the same.
type collector struct {
	conf     conf.Collector
	outlets  []reporting.Outlet // per worker
	exporter observe.Exporter
	gateway  observe.Gateway      // nil where the kernel sends
	rings    []observe.Ring       // per worker; none where workers send themselves
	move     func(netip.AddrPort) // to another address of its host name; nil: that takes another exporter
	stop     func()               // of the exporter, which sends what is in its rings; nil: there is nothing to stop
}

// outletsOf are worker w's for collectors.
func outletsOf(collectors []*collector, w int) []reporting.Outlet {
	all := make([]reporting.Outlet, len(collectors))
	for i, c := range collectors {
		all[i] = c.outlets[w]
	}
	return all
}

// newCollector makes collector i of c, whose exporter runs from then on.
func (a *Appliance) newCollector(c *conf.Config, i int) *collector {
	col := &collector{conf: c.Collectors[i], outlets: make([]reporting.Outlet, len(c.DPDK.Lcores))}
	bucket, rings := reporting.NewBucket(), make([]*ring.Ring, len(col.outlets))
	for w := range col.outlets {
		rings[w] = ring.New(exportRing)
		col.outlets[w] = reporting.Outlet{Ring: rings[w], Bucket: bucket}
	}
	if p := a.reportPorts.named(col.conf.Port); p != nil && col.conf.Address.IsValid() {
		e := p.Exporter(portConfig(&col.conf))
		for w := range col.outlets {
			col.outlets[w].Sender = e.Sender(w, a.port(col.conf.Port).queue(w), a.reportPools[w])
		}
		col.exporter, col.gateway, col.stop = e, e, func() { p.Remove(e) }
		return col
	}
	e := udp.New(udp.Config{
		Collector: col.conf.Address, Source: col.conf.Source,
		PortMode: portModes[col.conf.SourcePortMode], SourcePort: col.conf.SourcePort, DSCP: col.conf.DSCP, TTL: col.conf.TTL,
		Rings: rings, Pool: a.pool, Clock: a.clock,
	})
	ctx, cancel := context.WithCancel(a.exportersContext)
	col.exporter, col.stop = e, cancel
	if col.conf.Port == "" {
		col.move = e.Move
	}
	for _, r := range rings {
		col.rings = append(col.rings, r)
	}
	a.exporting.Add(1)
	go func() {
		defer a.exporting.Done()
		e.Run(ctx)
	}()
	return col
}

var portModes = map[conf.SourcePortMode]udp.PortMode{conf.AnySourcePort: udp.PortAny, conf.FixedSourcePort: udp.PortFixed, conf.HashedSourcePort: udp.PortHash}

// collectorsOf returns the collectors of c. It keeps those of old with an unchanged
// configuration, or with another budget only, and makes the others. gone are the rest of old.
func (a *Appliance) collectorsOf(c *conf.Config, old []*collector) (all, gone []*collector) {
	kept := map[*collector]bool{}
	for i := range c.Collectors {
		col := kin(old, &c.Collectors[i])
		if col == nil {
			col = a.newCollector(c, i)
		} else if to := c.Collectors[i].Address; to != col.conf.Address {
			col.conf.Address = to
			col.move(to)
		}
		kept[col] = true
		all = append(all, col)
	}
	for _, col := range old {
		if !kept[col] {
			gone = append(gone, col)
		}
	}
	return all, gone
}

// kin is the one among old that is configured as c is, nil where there is none.
func kin(old []*collector, c *conf.Collector) *collector {
	for _, o := range old {
		was, is := o.conf, *c
		was.Budget, was.Host, is.Budget, is.Host = conf.Budget{}, "", conf.Budget{}, ""
		if o.move != nil && o.conf.Host != "" && o.conf.Host == c.Host { // its address may be another, its numbers go on
			was.Address = is.Address
		}
		if was == is {
			return o
		}
	}
	return nil
}
