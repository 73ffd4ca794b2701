// Reads every 250 ms the load of host ports and the fill of pools, for the sink's own
// metadata.

package appliance

import (
	"time"

	"intsink/conf"
	"intsink/engine/reporting"
)

// gaugeEvery is how often the load of ports and pool is read, and the state of links.
const gaugeEvery = 250 * time.Millisecond

// gauges are what the workers' metadata read.
type gauges struct {
	all   []*reporting.Gauges
	ports []portGauge
}

// portGauge is the load of one host port, for all workers of its link.
type portGauge struct {
	port   device
	gauges []*reporting.Gauges
	bytes  uint64
	at     time.Time
}

// makeGauges gives link l of worker w its readings; the host port of a tap is
// none.
func (a *Appliance) makeGauges(network, host string, w int) *reporting.Gauges {
	g := reporting.NewGauges()
	if q := a.port(network).queue(w); q.Depth() >= 0 {
		g.Depth = q.Depth
	}
	a.gauges.all = append(a.gauges.all, g)
	if host == "" {
		return g
	}
	port := a.port(host).device
	for i := range a.gauges.ports {
		if a.gauges.ports[i].port == port {
			a.gauges.ports[i].gauges = append(a.gauges.ports[i].gauges, g)
			return g
		}
	}
	a.gauges.ports = append(a.gauges.ports, portGauge{port: port, gauges: []*reporting.Gauges{g}})
	return g
}

// startGauges reads until a stops.
func (a *Appliance) startGauges(*conf.Config) (stop func(), err error) {
	return repeat(gaugeEvery, func(now time.Time) {
		a.wallClock.Renew()
		a.gauges.read(a.pool.InUse(), now)
		a.lookAtLinks()
	}), nil
}

func (g *gauges) read(inUse int, now time.Time) {
	for _, x := range g.all {
		x.SetBuffer(inUse)
	}
	for i := range g.ports {
		g.ports[i].read(now)
	}
}

// read takes the bytes sent since the last reading, in percent of the link's
// speed. Every frame takes 24 bytes more of the wire than DPDK counts: preamble,
// checksum, gap.
func (p *portGauge) read(now time.Time) {
	s, err := p.port.counters()
	sent, since := s.TxBytes+24*s.TxPackets, now.Sub(p.at)
	percent := -1
	if speed := p.port.linkSpeed(); err == nil && speed > 0 && !p.at.IsZero() && since > 0 && sent >= p.bytes {
		percent = utilization(sent-p.bytes, since, speed)
	}
	p.bytes, p.at = sent, now
	for _, g := range p.gauges {
		g.SetTxUtilization(percent)
	}
}

// utilization of a link of speed Mbit/s in percent, at most 100.
func utilization(bytes uint64, d time.Duration, speed int) int {
	return min(int(float64(bytes)*8*1000/float64(d.Nanoseconds())/float64(speed)*100+0.5), 100)
}
