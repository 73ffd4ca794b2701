// Reads every 250 ms the load of host ports and the fill of pools, for the sink's own
// metadata.

package ports

import (
	"time"

	"intsink/engine/reporting"
)

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

// Gauges are the readings of a link of worker w; the host port of a tap is
// none.
func (s *Ports) Gauges(network, host string, w int) *reporting.Gauges {
	g := reporting.NewGauges()
	if q := s.Named(network).Queue(w); q.Depth() >= 0 {
		g.Depth = q.Depth
	}
	s.gauges.all = append(s.gauges.all, g)
	if host == "" {
		return g
	}
	port := s.Named(host).device
	for i := range s.gauges.ports {
		if s.gauges.ports[i].port == port {
			s.gauges.ports[i].gauges = append(s.gauges.ports[i].gauges, g)
			return g
		}
	}
	s.gauges.ports = append(s.gauges.ports, portGauge{port: port, gauges: []*reporting.Gauges{g}})
	return g
}

// Look reads the load of all ports, with so many packets in use, and looks at their links.
func (s *Ports) Look(inUse int, now time.Time) {
	s.gauges.read(inUse, now)
	for _, p := range s.all {
		p.look()
		p.lookCloser()
	}
	s.tellBeside()
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
