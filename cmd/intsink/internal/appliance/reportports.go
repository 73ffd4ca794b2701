// Starts DPDK ports that are for reports only; makes the stations and MAC addresses of all ports
// that collectors use.

package appliance

import (
	"fmt"

	"intsink/cmd/intsink/internal/rules"
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
func (a *Appliance) makeReportPorts(c *conf.Config) error {
	r := &a.exporters.ports
	macs := a.portMACs()
	for i := range c.Collectors {
		col := &c.Collectors[i]
		if col.Port == "" || r.named(col.Port) != nil {
			continue
		}
		mac, err := a.port(col.Port).device.mac()
		if err != nil {
			return fmt.Errorf("collector %q: port %q: %w", col.Name, col.Port, err)
		}
		p := port.New(port.MAC(mac), macs...)
		r.names, r.ports, r.own = append(r.names, col.Port), append(r.ports, p), append(r.own, !inLink(c, col.Port))
	}
	return nil
}

// portMACs returns the MAC addresses of all ports that have one.
func (a *Appliance) portMACs() (macs []port.MAC) {
	for _, p := range a.ports {
		if mac, err := p.device.mac(); err == nil {
			macs = append(macs, port.MAC(mac))
		}
	}
	return macs
}

func (r *reportPorts) named(name string) *port.Port {
	for i := range r.names {
		if r.names[i] == name {
			return r.ports[i]
		}
	}
	return nil
}

func inLink(c *conf.Config, name string) bool {
	for _, l := range c.Links {
		if l.Network == name || l.Host == name {
			return true
		}
	}
	return false
}

func portConfig(col *conf.Collector) port.Config {
	return port.Config{
		Collector: col.Address, Source: col.Source, VLAN: col.VLAN, DSCP: col.DSCP, TTL: col.TTL,
		Gateway: col.Gateway, GatewayMAC: col.GatewayMAC, SourcePort: rules.PortSource(col),
	}
}

// stations are worker w's on every port by which reports leave, in the order of
// the ports.
func (a *Appliance) stations(w int) []burst.Station {
	var all []burst.Station
	for i, p := range a.exporters.ports.ports {
		q := a.port(a.exporters.ports.names[i]).queue(w)
		all = append(all, p.Station(w, q, a.reportPools[w], a.exporters.ports.own[i]))
	}
	return all
}

// stationOf is the one among stations that hears what name receives; nil where
// no reports leave by that port.
func (a *Appliance) stationOf(name string, stations []burst.Station) burst.Station {
	for i := range stations {
		if a.exporters.ports.names[i] == name {
			return stations[i]
		}
	}
	return nil
}
