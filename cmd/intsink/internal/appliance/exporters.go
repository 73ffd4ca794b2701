// Makes each collector's exporter, its rings and the workers' outlets; says which survive a
// reload.

package appliance

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
	"intsink/dpdk/ring"
	"intsink/engine/reporting"
	"intsink/exporters/udp"
)

// exportRing is how many sealed report packets one worker can be ahead of one
// exporter. A power of two.
const exportRing = 1024

// exporters send what the workers report.
type exporters struct {
	ports      reportPorts
	collectors atomic.Pointer[[]*collector]
	retired    []*collector    // whose exporters may still be handed something
	context    context.Context // ends with the appliance
	running    sync.WaitGroup
}

// startExporters makes an exporter for each collector, and between it and each worker a ring, or a sender where
// reports leave by a port.
func (a *Appliance) startExporters(c *conf.Config) (stop func(), err error) {
	if err := a.makeReportPorts(c); err != nil {
		return nil, err
	}
	x := &a.exporters
	var cancel context.CancelFunc
	x.context, cancel = context.WithCancel(context.Background())
	x.collectors.Store(&[]*collector{})
	a.collect(c)
	return func() { cancel(); x.running.Wait() }, nil
}

// collect makes the collectors of c those that the workers get next. Those that go end once no worker
// hands them anything. The caller holds a.inForce.
func (a *Appliance) collect(c *conf.Config) { a.collectAnew(c, *a.exporters.collectors.Load()) }

// collectAnew is collect where of those that there are only kept may stay.
func (a *Appliance) collectAnew(c *conf.Config, kept []*collector) {
	x := &a.exporters
	old := *x.collectors.Load()
	all := a.collectorsOf(c, kept)
	for _, col := range old {
		if !slices.Contains(all, col) {
			x.retired = append(x.retired, col)
		}
	}
	x.collectors.Store(&all)
}

// collector is a collector that is running. It lives over reloads as long as its configuration
// stays the same.
type collector struct {
	conf     conf.Collector
	outlets  []reporting.Outlet // per worker
	exporter vitals.Exporter
	gateway  vitals.Gateway       // nil where the kernel sends
	rings    []vitals.Ring        // per worker; none where workers send themselves
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
	if p := a.exporters.ports.named(col.conf.Port); p != nil && col.conf.Address.IsValid() {
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
	ctx, cancel := context.WithCancel(a.exporters.context)
	col.exporter, col.stop = e, cancel
	if col.conf.Port == "" {
		col.move = e.Move
	}
	for _, r := range rings {
		col.rings = append(col.rings, r)
	}
	a.exporters.running.Go(func() { e.Run(ctx) })
	return col
}

var portModes = map[conf.SourcePortMode]udp.PortMode{conf.AnySourcePort: udp.PortAny, conf.FixedSourcePort: udp.PortFixed, conf.HashedSourcePort: udp.PortHash}

// collectorsOf returns the collectors of c. It keeps those of old with an unchanged
// configuration, or with another budget only, and makes the others.
func (a *Appliance) collectorsOf(c *conf.Config, old []*collector) (all []*collector) {
	for i := range c.Collectors {
		col := kin(old, &c.Collectors[i])
		if col == nil {
			col = a.newCollector(c, i)
		} else if to := c.Collectors[i].Address; to != col.conf.Address {
			col.conf.Address = to
			col.move(to)
		}
		all = append(all, col)
	}
	return all
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
