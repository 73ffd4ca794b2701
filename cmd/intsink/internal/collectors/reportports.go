// Starts DPDK ports that are for reports only; makes the stations and MAC addresses of all ports
// that collectors use.

package collectors

import (
	"fmt"
	"slices"

	"intsink/cmd/intsink/internal/rules"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
	"intsink/engine/burst"
	"intsink/exporters/port"
)

// reportPorts are the DPDK ports by which reports leave since the start.
type reportPorts struct {
	names []string
	ports []*port.Port
	own   []bool // no link receives from it
}

// makeReportPorts finds the ports that collectors are reached by. They are open.
func (s *Collectors) makeReportPorts(c *conf.Config) error {
	r := &s.ports
	macs := s.Ports.MACs()
	for i := range c.Collectors {
		col := &c.Collectors[i]
		if col.Port == "" || r.named(col.Port) != nil {
			continue
		}
		mac, err := s.Ports.Named(col.Port).MAC()
		if err != nil {
			return fmt.Errorf("collector %q: port %q: %w", col.Name, col.Port, err)
		}
		p := port.New(port.MAC(mac), macs...)
		r.names, r.ports, r.own = append(r.names, col.Port), append(r.ports, p), append(r.own, !c.InLink(col.Port))
	}
	return nil
}

func (r *reportPorts) named(name string) *port.Port {
	for i := range r.names {
		if r.names[i] == name {
			return r.ports[i]
		}
	}
	return nil
}

func portConfig(col *conf.Collector) port.Config {
	return port.Config{
		Collector: col.Address, Source: col.Source, VLAN: col.VLAN, DSCP: col.DSCP, TTL: col.TTL,
		Gateway: col.Gateway, GatewayMAC: col.GatewayMAC, SourcePort: rules.PortSource(col),
	}
}

// Stations are worker w's on every port by which reports leave, in the order of
// the ports.
func (s *Collectors) Stations(w int) (all []burst.Station) {
	for i, p := range s.ports.ports {
		all = append(all, p.Station(w, s.Ports.Named(s.ports.names[i]).Queue(w), s.ReportPools[w], s.ports.own[i]))
	}
	return all
}

// StationOf is the one among stations that hears what the port receives; nil where
// no reports leave by that port.
func (s *Collectors) StationOf(name string, stations []burst.Station) burst.Station {
	for i := range stations {
		if s.ports.names[i] == name {
			return stations[i]
		}
	}
	return nil
}

// PortNames are those of the ports by which reports leave.
func (s *Collectors) PortNames() []string { return s.ports.names }

// ObservedPorts are those ports as the endpoint shows them.
func (s *Collectors) ObservedPorts() (all []vitals.ReportPort) {
	for i, p := range s.ports.ports {
		all = append(all, vitals.ReportPort{Name: s.ports.names[i], Port: p})
	}
	return all
}

// Readdress lets the exporters of reports that leave by a port begin anew, with its MAC address.
func (s *Collectors) Readdress(name string, mac port.MAC, change Change) {
	change(func(c *conf.Config) *conf.Config {
		for _, p := range s.ports.ports {
			p.AlsoSink(mac)
		}
		own := s.ports.named(name)
		if own == nil {
			return nil
		}
		own.SetMAC(mac)
		s.adopt(c, slices.DeleteFunc(slices.Clone(*s.all.Load()), func(c *collector) bool { return c.conf.Port == name }))
		return c
	})
}
