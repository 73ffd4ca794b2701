// Collectors: makes each collector's exporter, its rings and the workers' outlets; says which survive a
// reload.

// Package collectors is where a sink's reports go: exporters of collectors (collectors.go), ports that are for reports
// (reportports.go), and host names of collectors, looked up while the sink runs (hostnames.go).
package collectors

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/ports"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
	"intsink/dpdk/mempool"
	"intsink/dpdk/ring"
	"intsink/engine/reporting"
	"intsink/exporters/udp"
)

// exportRing is how many sealed report packets one worker can be ahead of one
// exporter. A power of two.
const exportRing = 1024

// Collectors are what the workers report to.
type Collectors struct {
	Config      func() *conf.Config // in force now
	Clock       func() int64        // of the workers
	Degraded    *degraded.Parts
	Ports       *ports.Ports
	Pool        *mempool.Mempool   // of packets
	ReportPools []*mempool.Mempool // per worker

	ports   reportPorts
	all     atomic.Pointer[[]*collector]
	retired []*collector    // whose exporters may still be handed something
	context context.Context // ends with the sink
	running sync.WaitGroup
	names   *hostNames
}

// Start makes an exporter for each collector, and between it and each worker a ring, or a sender where
// reports leave by a port. stop ends them, when they have sent what they were handed.
func (s *Collectors) Start(c *conf.Config) (stop func(), err error) {
	if err := s.makeReportPorts(c); err != nil {
		return nil, err
	}
	var cancel context.CancelFunc
	s.context, cancel = context.WithCancel(context.Background())
	s.all.Store(&[]*collector{})
	s.Adopt(c)
	return func() { cancel(); s.running.Wait() }, nil
}

// Adopt makes the collectors of c those that the workers get next. Those that go end once no worker
// hands them anything. One call is made at a time.
func (s *Collectors) Adopt(c *conf.Config) { s.adopt(c, *s.all.Load()) }

// adopt is Adopt where of those that there are only kept may stay.
func (s *Collectors) adopt(c *conf.Config, kept []*collector) {
	all := s.collectorsOf(c, kept)
	for _, col := range *s.all.Load() {
		if !slices.Contains(all, col) {
			s.retired = append(s.retired, col)
		}
	}
	s.all.Store(&all)
}

// Retire stops the exporters that no worker hands anything to any more, once they have sent
// what they were handed.
func (s *Collectors) Retire() {
	for _, c := range s.retired {
		if c.stop != nil {
			c.stop()
		}
	}
	s.retired = nil
}

// Observed are the present collectors.
func (s *Collectors) Observed() (all []vitals.Collector) {
	for _, c := range *s.all.Load() {
		all = append(all, vitals.Collector{Name: c.conf.Name, Exporter: c.exporter, Gateway: c.gateway, Rings: c.rings})
	}
	return all
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

// Outlets are worker w's.
func (s *Collectors) Outlets(w int) (all []reporting.Outlet) {
	for _, c := range *s.all.Load() {
		all = append(all, c.outlets[w])
	}
	return all
}

// newCollector makes collector i of c, whose exporter runs from then on.
func (s *Collectors) newCollector(c *conf.Config, i int) *collector {
	col := &collector{conf: c.Collectors[i], outlets: make([]reporting.Outlet, len(c.DPDK.Lcores))}
	bucket, rings := reporting.NewBucket(), make([]*ring.Ring, len(col.outlets))
	for w := range col.outlets {
		rings[w] = ring.New(exportRing)
		col.outlets[w] = reporting.Outlet{Ring: rings[w], Bucket: bucket}
	}
	if p := s.ports.named(col.conf.Port); p != nil && col.conf.Address.IsValid() {
		e := p.Exporter(portConfig(&col.conf))
		for w := range col.outlets {
			col.outlets[w].Sender = e.Sender(w, s.Ports.Named(col.conf.Port).Queue(w), s.ReportPools[w])
		}
		col.exporter, col.gateway, col.stop = e, e, func() { p.Remove(e) }
		return col
	}
	e := udp.New(udp.Config{
		Collector: col.conf.Address, Source: col.conf.Source,
		PortMode: portModes[col.conf.SourcePortMode], SourcePort: col.conf.SourcePort, DSCP: col.conf.DSCP, TTL: col.conf.TTL,
		Rings: rings, Pool: s.Pool, Clock: s.Clock,
	})
	ctx, cancel := context.WithCancel(s.context)
	col.exporter, col.stop = e, cancel
	if col.conf.Port == "" {
		col.move = e.Move
	}
	for _, r := range rings {
		col.rings = append(col.rings, r)
	}
	s.running.Go(func() { e.Run(ctx) })
	return col
}

var portModes = map[conf.SourcePortMode]udp.PortMode{conf.AnySourcePort: udp.PortAny, conf.FixedSourcePort: udp.PortFixed, conf.HashedSourcePort: udp.PortHash}

// collectorsOf returns the collectors of c. It keeps those of old with an unchanged
// configuration, or with another budget only, and makes the others.
func (s *Collectors) collectorsOf(c *conf.Config, old []*collector) (all []*collector) {
	for i := range c.Collectors {
		col := kin(old, &c.Collectors[i])
		if col == nil {
			col = s.newCollector(c, i)
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
