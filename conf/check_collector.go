// Checks collectors: source addresses, gateway and VLAN of one that is reached by a DPDK
// port, budget, frame length.

package conf

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"intsink/conf/schema"
)

// checkCollectorPort checks that a collector with a port has all addresses that a frame needs,
// and that a collector without one, which the kernel sends to, has none of these attributes.
func (d checker) checkCollectorPort(c *Config, col *Collector) {
	where := fmt.Sprintf("collector %q", col.Name)
	if !d.Has(&col.Port) {
		for _, a := range []struct {
			name string
			key  any
		}{{"gateway", &col.Gateway}, {"gateway_mac", &col.GatewayMAC}, {"vlan", &col.VLAN}} {
			if d.Has(a.key) {
				d.ErrorAt([]any{a.key}, "%s: %s does nothing without port: the kernel sends the reports, by its routes; name the port that they leave by, or leave %s out",
					where, a.name, a.name)
			}
		}
		if to := col.Address.Addr(); linkLocalWithoutZone(to) {
			d.ErrorAt([]any{&col.Address}, "%s: address %s is link-local: name the interface that leads there, such as [%s%%eth0]:%d", where, to, to, col.Address.Port())
		}
		if linkLocalWithoutZone(col.Source) {
			d.ErrorAt([]any{&col.Source}, "%s: source %s is link-local: the kernel does not know on which interface; take a global address, or leave source out", where, col.Source)
		}
		return
	}
	if col.Port == "" && d.Good(&col.Port) {
		d.ErrorAt([]any{&col.Port}, "%s: port is empty; name the port that the reports leave by, or leave it out to have the kernel send them", where)
	}
	known := portNames(c)
	d.checkKnown(&col.Port, where, col.Port, "port", known)
	for i := range c.Taps {
		if t := &c.Taps[i]; t.Port == col.Port && slices.Contains(known, col.Port) {
			d.ErrorAt([]any{&col.Port}, "%s: port %q is that of tap %q, which only watches; name a link's port, or one of the reports' own",
				where, schema.Short(col.Port), t.Name)
		}
	}
	d.checkFrameAddresses(col, where)
	d.checkFrameLength(c, col, where)
}

func linkLocalWithoutZone(a netip.Addr) bool {
	return a.Is6() && a.IsLinkLocalUnicast() && a.Zone() == ""
}

// checkFrameAddresses: all addresses are one host's, of one family, and not each
// other's.
func (d checker) checkFrameAddresses(col *Collector, where string) {
	to := col.Address.Addr()
	if !d.Has(&col.Source) {
		d.ErrorAt([]any{&col.Port}, "%s: source is missing: reports that leave by a port have the sink's own IP address there, which nobody else uses", where)
	}
	if a := col.Source; a.IsValid() && !oneHost(a) {
		d.ErrorAt([]any{&col.Source}, "%s: source %s is no address of a host", where, a)
	}
	if to.IsLoopback() {
		d.ErrorAt([]any{&col.Address}, "%s: %s is a loopback address: no port leads there; leave port out to have the kernel send the reports", where, to)
	}
	if to.IsMulticast() {
		d.ErrorAt([]any{&col.Address}, "%s: %s is a multicast address: by a port, reports go to one host", where, to)
	}
	if to.IsValid() && to == col.Source {
		d.ErrorAt([]any{&col.Source}, "%s: source %s is the collector's address; the sink needs one of its own", where, to)
	}
	g := col.Gateway
	switch {
	case !g.IsValid():
	case !oneHost(g):
		d.ErrorAt([]any{&col.Gateway}, "%s: gateway %s is no address of a host", where, g)
	case to.IsValid() && g.Is4() != to.Is4():
		d.ErrorAt([]any{&col.Gateway}, "%s: gateway %s and address %s must be both IPv4 or both IPv6", where, g, col.Address)
	case g == col.Source:
		d.ErrorAt([]any{&col.Gateway}, "%s: gateway %s is the source; it is the router that passes the reports on", where, g)
	case d.Good(&col.GatewayMAC):
		d.WarnAt([]any{&col.Gateway}, "%s: gateway does nothing beside gateway_mac: nobody is asked for an address that is given", where)
	}
}

func oneHost(a netip.Addr) bool {
	return !a.IsUnspecified() && !a.IsMulticast() && !a.IsLoopback() && a != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// checkFrameLength: the port takes frames as long as report packets are.
func (d checker) checkFrameLength(c *Config, col *Collector, where string) {
	i := slices.IndexFunc(c.Ports, func(p Port) bool { return p.Name == col.Port })
	if i < 0 || c.Ports[i].MTU == 0 {
		return
	}
	if most := int(c.Ports[i].MTU) + 14 + col.TagLen(); c.PacketBytes(col) > most {
		d.WarnAt([]any{&col.Port}, "%s: report.coalesce.max_bytes = %d, and port %q with its mtu of %d takes frames of up to %d bytes",
			where, c.PacketBytes(col), col.Port, c.Ports[i].MTU, most)
	}
}

// TagLen is the length of the VLAN tag on the collector's reports.
func (c *Collector) TagLen() int {
	if c.VLAN != 0 {
		return 4
	}
	return 0
}

func (d checker) checkCollectors(c *Config) {
	if len(c.Collectors) == 0 && len(c.Watches) > 0 {
		d.WarnAt(nil, `there is no collector block: reports are made for nobody; write collector "primary" { address = "192.0.2.10:8555" }`)
	}
	if len(c.Collectors) > MaxCollectors {
		d.ErrorAt([]any{&c.Collectors[MaxCollectors]}, "%d collector blocks; at most %d", len(c.Collectors), MaxCollectors)
	}
	seen := map[netip.AddrPort]string{}
	for i := range c.Collectors {
		col := &c.Collectors[i]
		d.checkCollectorPort(c, col)
		if !col.Address.IsValid() {
			continue // reported where it was read or resolved
		}
		if other, twice := seen[col.Address]; twice {
			d.WarnAt([]any{&col.Address}, "collector %q: %s is the address of collector %q too: it gets every report twice", col.Name, col.Address, other)
		}
		seen[col.Address] = col.Name
		for _, p := range c.intPorts() {
			if *p.at == col.Address.Port() {
				d.ErrorAt([]any{&col.Address}, "collector %q: port %d is int.%s: a node on the way would take report packets for INT, and cut them; "+
					"take another port, such as %d, here and at the collector", col.Name, *p.at, p.name, c.otherPort())
			}
		}
		d.checkBudget(col, &c.Report)
		d.checkReportMark(c, col)
		if col.Source.IsValid() && col.Source.Is4() != col.Address.Addr().Is4() {
			d.ErrorAt([]any{&col.Source}, "collector %q: source %s and address %s must be both IPv4 or both IPv6", col.Name, col.Source, col.Address)
		}
	}
}

// checkReportMark: report packets do not bear a mark of INT, or a node on the way would take them for INT.
func (d checker) checkReportMark(c *Config, col *Collector) {
	for _, x := range c.INTs() {
		for _, mark := range x.DSCP {
			if col.DSCP != 0 && mark.Mask != 0 && mark.marks(col.DSCP) {
				d.ErrorAt([]any{&col.DSCP}, "collector %q: dscp = %d marks INT (int.dscp has value %d, mask %d): a node on the way would take report packets for INT; take another",
					col.Name, col.DSCP, mark.Value, mark.Mask)
				return
			}
		}
	}
}

// checkBudget warns of a budget that cannot carry one report, or not at once.
func (d checker) checkBudget(col *Collector, r *Report) {
	b := &col.Budget
	report := min(col.TagLen()+reportHeaders(col.Address.Addr())+reportBytes(r), r.Coalesce.MaxBytes)
	bits := uint64(report) * 8
	if b.Bits != 0 && b.Bits < bits {
		d.WarnAt([]any{&b.Bits, b}, "collector %q: budget: bits = %d: one report takes %d bits with its headers: less than one a second is sent",
			col.Name, b.Bits, bits)
	} else {
		d.checkBurst(col, &b.Bits, "bits", bits)
	}
	d.checkBurst(col, &b.Packets, "packets", 1)
	d.checkBurst(col, &b.Reports, "reports", 1)
}

// checkBurst warns if what may be sent at once of a rate, called name, is less than one, the
// amount that one report takes.
func (d checker) checkBurst(col *Collector, rate *uint64, name string, one uint64) {
	b := &col.Budget
	if *rate == 0 || float64(*rate)*b.Burst.Seconds() >= float64(one) {
		return
	}
	hint := ""
	if all := time.Duration(math.Ceil(float64(one*Priorities)/float64(*rate)*1000)) * time.Millisecond; all <= time.Minute {
		hint = fmt.Sprintf("; burst = %q has room for one of each priority", all)
	}
	d.WarnAt([]any{&b.Burst, rate, b}, "collector %q: budget: burst = %q of %s = %d is less than one report: "+
		"they are sent one at a time, and priorities hold only once something was shed%s",
		col.Name, b.Burst, name, *rate, hint)
}

// otherPort is a UDP port for reports that the configuration does not take for INT.
func (c *Config) otherPort() uint16 {
	taken := map[uint16]bool{}
	for _, p := range c.intPorts() {
		taken[*p.at] = true
	}
	port := uint16(8555)
	for taken[port] {
		port++
	}
	return port
}
