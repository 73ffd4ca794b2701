// Block collector, whole but for looking up names (resolve.go): where reports go, and how many.

package conf

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
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
	known := portNames(c.Ports)
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

// Collector is where report packets go, and from where.
type Collector struct {
	Name           string
	Address        netip.AddrPort // resolved
	Host           string         // name that Address was resolved from; "": the file has an address
	Source         netip.Addr     // zero value: the kernel chooses
	SourcePort     uint16
	SourcePortMode SourcePortMode // "any": the kernel chooses | "fixed": SourcePort, 0 included, is on the wire | "hash": of the flow
	DSCP, TTL      uint8          // of report packets; TTL is the hop limit of IPv6, too
	Port           string         // the DPDK port that reports leave by; "": the kernel sends them
	VLAN           uint16         // with Port: 802.1Q VLAN id; 0: no tag
	Gateway        netip.Addr     // with Port: whose MAC address is asked for; with GatewayMAC, and without Port, the zero Addr
	GatewayMAC     [6]byte        // with Port: zero: unknown
	Budget         Budget

	unresolved *unresolved // until resolveCollectors has run
}

// Budget limits what one collector is sent per second; 0: no limit.
type Budget struct {
	Packets, Bits uint64
	Reports       uint64
	Burst         time.Duration
}

// SourcePortMode says what the UDP source port of reports is.
type SourcePortMode string

// What collector.source_port stands for.
const (
	AnySourcePort    SourcePortMode = "any"   // the kernel chooses
	FixedSourcePort  SourcePortMode = "fixed" // Collector.SourcePort, 0 included, is on the wire
	HashedSourcePort SourcePortMode = "hash"  // of the flow
)

func defaultCollector(int) Collector {
	return Collector{SourcePortMode: AnySourcePort, TTL: 64, Budget: Budget{Packets: 0, Bits: 0, Burst: 100 * time.Millisecond}}
}

func visitCollector(v schema.Visitor, c *Collector) {
	v.Required("address", endpoint(c))
	v.Attr("source", schema.Address(&c.Source))
	v.Attr("source_port", sourcePort(c))
	v.Attr("dscp", schema.Integer(&c.DSCP, 0, 63))
	v.Attr("ttl", schema.Integer(&c.TTL, 1, 255))
	v.Attr("port", schema.Omitted(schema.Text(&c.Port), func() bool { return c.Port == "" }))
	v.Attr("gateway", schema.Address(&c.Gateway))
	v.Attr("gateway_mac", schema.MAC(&c.GatewayMAC))
	v.Attr("vlan", schema.Omitted(schema.Integer(&c.VLAN, 1, 4094), func() bool { return c.VLAN == 0 }))
	v.Block("budget", &c.Budget, func(v schema.Visitor) {
		v.Attr("packets", schema.Integer(&c.Budget.Packets, 0, 1<<40))
		v.Attr("reports", schema.Integer(&c.Budget.Reports, 0, 1<<40))
		v.Attr("bits", schema.Integer(&c.Budget.Bits, 0, 1<<40))
		v.Attr("burst", schema.Duration(&c.Budget.Burst, time.Millisecond, time.Minute))
	})
}

func collectorNames(all []Collector) []string {
	var names []string
	for i := range all {
		if all[i].Name != "" {
			names = append(names, all[i].Name)
		}
	}
	return names
}

// endpoint is the address of a collector, "host:port". A host name is resolved
// when everything has been read.
func endpoint(c *Collector) schema.Value { return &endpointValue{c} }

type endpointValue struct{ c *Collector }

func (v *endpointValue) Key() any { return &v.c.Address }

func (v *endpointValue) Write() (string, bool) { return schema.Quote(v.c.Endpoint()), true }

func (v *endpointValue) Read(x *schema.Expr) bool {
	s, ok := x.Text(`"host:port"`)
	if !ok {
		return false
	}
	host, port, ok := schema.SplitEndpoint(x, s)
	if !ok {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return v.set(x, a.Unmap(), port)
	}
	v.c.unresolved = &unresolved{host: host, port: port, at: x}
	return true
}

func (v *endpointValue) set(x *schema.Expr, a netip.Addr, port uint16) bool {
	if !sendable(x, a) {
		return false
	}
	v.c.Address = netip.AddrPortFrom(a, port)
	return true
}

// sendable reports an address that the kernel does not send reports to.
func sendable(x *schema.Expr, a netip.Addr) bool {
	switch {
	case a.IsUnspecified():
		return x.Fail("%s stands for no host: reports cannot be sent to it", schema.Short(a.String()))
	case a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return x.Fail("%s is the broadcast address: the kernel refuses to send reports to it; name one collector", a)
	case a.IsMulticast():
		x.Warn("a multicast address: the kernel sends reports to it on one interface of its choice, " +
			"and no router passes them on (TTL 1)")
	}
	return true
}

// sourcePort is the UDP source port of reports: a number, or "hash".
func sourcePort(c *Collector) schema.Value { return &sourcePortValue{c} }

type sourcePortValue struct{ c *Collector }

func (v *sourcePortValue) Key() any { return &v.c.SourcePort }

func (v *sourcePortValue) Write() (string, bool) {
	switch v.c.SourcePortMode {
	case HashedSourcePort:
		return `"hash"`, true
	case FixedSourcePort:
		return strconv.Itoa(int(v.c.SourcePort)), true
	}
	return "", false
}

func (v *sourcePortValue) Read(x *schema.Expr) bool {
	const accepted = `a number from 0 to 65535, or "hash"`
	s, ok := x.TextOrNumber(accepted)
	if !ok {
		return false
	}
	if s == "hash" {
		v.c.SourcePort, v.c.SourcePortMode = 0, HashedSourcePort
		return true
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return x.Fail("must be %s%s", accepted, schema.DidYouMean(s, []string{"hash"}, "%q"))
	}
	v.c.SourcePort, v.c.SourcePortMode = uint16(n), FixedSourcePort
	return true
}
