// Block watch, whole but for the values of match (value_match.go): which flows are watched, and what is reported of them.

package conf

import (
	"fmt"
	"math"
	"net/netip"
	"slices"

	"intsink/conf/schema"
)

func (d checker) checkWatches(c *Config) {
	if len(c.Watches) == 0 {
		d.WarnAt(nil, `there is no watch block: INT is stripped and nothing is reported; watch "all" {} watches everything`)
	}
	if len(c.Watches) > MaxWatches {
		d.ErrorAt([]any{&c.Watches[MaxWatches]}, "%d watch blocks; at most %d", len(c.Watches), MaxWatches)
	}
	known := collectorNames(c.Collectors)
	all := ""
	for i := range c.Watches {
		w := &c.Watches[i]
		where := fmt.Sprintf("watch %q", w.Name)
		if all != "" {
			d.WarnAt([]any{w}, "%s is never reached: watch %q before it matches everything", where, all)
		} else if w.Match == nil || isEmpty(w.Match) && !d.anyFailed(w.Match) {
			all = w.Name
		}
		for j, name := range w.Collectors {
			d.checkKnown(schema.ElementOf(&w.Collectors, j), where+": collectors", name, "collector", known)
		}
		if d.Has(&w.Collectors) && len(w.Collectors) == 0 {
			d.ErrorAt([]any{&w.Collectors}, "%s: collectors is empty; leave it out to report to all of them", where)
		}
		if w.Override != nil {
			d.checkEvents(w.Override, &c.Events, where+": events_override")
		}
		d.checkEventNames(c, w, where)
		d.checkCollectorTraffic(c, w, where)
		d.checkMatch(c, w, where)
		d.checkIngress(c, w, where)
	}
}

func isEmpty(m *Match) bool {
	return m.Flow == AnyLayer && len(m.Source)+len(m.Destination)+len(m.Protocol)+len(m.SourcePort)+len(m.DestinationPort)+
		len(m.VLAN)+len(m.DSCP)+len(m.VNI)+len(m.Device)+len(m.Link)+len(m.Port) == 0
}

// anyFailed reports whether an attribute of m could not be read: m is then empty by mistake, which
// is reported already.
func (d checker) anyFailed(m *Match) bool {
	all := []any{&m.Source, &m.Destination, &m.Protocol, &m.SourcePort, &m.DestinationPort, &m.Flow, &m.VLAN, &m.DSCP, &m.VNI, &m.Device, &m.Link, &m.Port}
	return slices.ContainsFunc(all, d.Wrong)
}

func (d checker) checkEventNames(c *Config, w *Watch, where string) {
	at := []any{&w.Events, w}
	e := &c.Events
	if w.Override != nil {
		e = w.Override
	}
	if slices.Contains(w.Events, "sample") && w.Sample == 0 && d.Has(&w.Events) {
		d.WarnAt(at, "%s: events has \"sample\", but sample is 0: set sample = N for one packet in N", where)
	}
	if w.Events != nil && len(w.Events) == 0 && w.Sample == 0 {
		d.WarnAt(at, "%s: no events and no sample: nothing of these flows is reported", where)
	}
	if slices.Contains(w.Events, "congestion") && e.Congestion.Raise == 0 && e.Congestion.RaiseLatency == 0 {
		d.WarnAt(at, "%s: congestion has no threshold: set raise or raise_latency in events { congestion { ... } }", where)
	}
}

// checkCollectorTraffic: reports are never watched, so a watch that asks for
// nothing else is a mistake.
func (d checker) checkCollectorTraffic(c *Config, w *Watch, where string) {
	if w.Match == nil || w.Match.Flow == InnerLayer {
		return
	}
	for i := range c.Collectors {
		a := c.Collectors[i].Address
		if !a.IsValid() || len(w.Match.Destination) == 0 {
			continue
		}
		only := !slices.ContainsFunc(w.Match.Destination, func(p netip.Prefix) bool { return !p.IsSingleIP() || p.Addr() != a.Addr() })
		udp := len(w.Match.Protocol) == 0 || slices.Contains(w.Match.Protocol, 17)
		port := len(w.Match.DestinationPort) == 0 || slices.ContainsFunc(w.Match.DestinationPort, func(r PortRange) bool {
			return r.Has(a.Port())
		})
		if only && udp && port {
			d.WarnAt([]any{&w.Match.Destination}, "%s: traffic to collector %q is never watched: reports about reports would not end", where, c.Collectors[i].Name)
		}
	}
}

// checkMatch warns of matches that no packet can have.
func (d checker) checkMatch(c *Config, w *Watch, where string) {
	m := w.Match
	if m == nil {
		return
	}
	for i, value := range m.DSCP {
		if slices.ContainsFunc(c.INT.DSCP, func(mark DSCP) bool { return mark.Mask == 63 && mark.Value == value }) {
			d.WarnAt([]any{schema.ElementOf(&m.DSCP, i)}, "%s: match: dscp = %d is what marks INT; a watch compares the DSCP that the packet leaves with", where, value)
		}
	}
	for i, id := range m.Device {
		if id > math.MaxUint32 && !slices.ContainsFunc(c.INTs(), func(x *INT) bool { return x.hasRole(DeviceIDRole) }) {
			d.WarnAt([]any{schema.ElementOf(&m.Device, i)}, "%s: match: device = %s: node ids have 32 bits, and no int domain has an instruction with "+
				`role = "device_id"; no packet has it`, where, formatDevice(id))
		}
	}
	const (
		tcp, udp, dccp, sctp, udpLite = 6, 17, 33, 132, 136
	)
	ports := func(p uint8) bool { return p == tcp || p == udp || p == dccp || p == sctp || p == udpLite }
	for _, list := range []*[]PortRange{&m.SourcePort, &m.DestinationPort} {
		zero := slices.ContainsFunc(*list, func(r PortRange) bool { return r.First == 0 })
		if len(*list) > 0 && !zero && len(m.Protocol) > 0 && !slices.ContainsFunc(m.Protocol, ports) {
			d.WarnAt([]any{list}, "%s: match: the protocols of this watch have no ports; it matches nothing", where)
		}
	}
}

// checkIngress checks the names of links and ports that packets arrive by.
func (d checker) checkIngress(c *Config, w *Watch, where string) {
	m := w.Match
	if m == nil {
		return
	}
	var links, ports []string
	for i := range c.Links {
		links, ports = append(links, c.Links[i].Name), append(ports, c.Links[i].Network, c.Links[i].Host)
	}
	for i := range c.Taps {
		links, ports = append(links, c.Taps[i].Name), append(ports, c.Taps[i].Port)
	}
	for i, name := range m.Link {
		d.checkKnown(schema.ElementOf(&m.Link, i), where+": match", name, "link or tap", links)
	}
	for i, name := range m.Port {
		if at := schema.ElementOf(&m.Port, i); slices.Contains(portNames(c.Ports), name) && !slices.Contains(ports, name) {
			d.ErrorAt([]any{at}, "%s: match: port %q is in no link and no tap: no packet arrives by it", where, name)
		} else {
			d.checkKnown(at, where+": match", name, "port", ports)
		}
	}
	if len(m.Link) > 0 && len(m.Port) > 0 && len(m.Ingress(c)) == 0 {
		d.WarnAt([]any{&m.Port}, "%s: match: none of these ports is one of these links: the watch matches nothing", where)
	}
}

// Ingress is a port that packets arrive by: the one on the host side of link number Link, or that of the network; taps
// are counted behind the links.
type Ingress struct {
	Link int
	Host bool
}

// Ingress returns the ports that m selects; none where it names some and they are none of its links.
func (m *Match) Ingress(c *Config) (all []Ingress) {
	add := func(n int, link, port string, host bool) {
		if (len(m.Link) == 0 || slices.Contains(m.Link, link)) && (len(m.Port) == 0 || slices.Contains(m.Port, port)) {
			all = append(all, Ingress{n, host})
		}
	}
	for i := range c.Links {
		l := &c.Links[i]
		add(i, l.Name, l.Network, false)
		add(i, l.Name, l.Host, true)
	}
	for i := range c.Taps {
		add(len(c.Links)+i, c.Taps[i].Name, c.Taps[i].Port, false)
	}
	return all
}

// hasRole reports whether some domain has an instruction with that role.
func (c *INT) hasRole(role Role) bool {
	return slices.ContainsFunc(c.Domains, func(d Domain) bool {
		return slices.ContainsFunc(d.Instructions, func(i Instruction) bool { return i.Role == role })
	})
}

// Watch selects flows and says what is reported of them; first match wins.
type Watch struct {
	Name       string
	Match      *Match // nil: everything
	Events     []string
	Sample     uint32   // one packet in Sample; 0: none
	SampleBy   SampleBy // "packet" | "flow"
	Collectors []string
	Override   *Events // events with events_override applied; nil: none
}

// Match selects flows: every list that is not empty must have an entry that
// fits.
type Match struct {
	Source, Destination         []netip.Prefix
	Protocol                    []uint8
	SourcePort, DestinationPort []PortRange
	Flow                        Layer // "any" | "outer" | "inner": which headers the lists above are about
	VLAN                        []PortRange
	DSCP                        []uint8
	VNI                         []VNIRange
	Device                      []uint64
	Link, Port                  []string // names: by which packets arrive
}

// Layer is watch.match.flow: which headers the addresses and ports of a match are about.
type Layer string

// The values of watch.match.flow.
const (
	AnyLayer   Layer = "any"
	OuterLayer Layer = "outer"
	InnerLayer Layer = "inner"
)

// SampleBy is watch.sample_by: whether one packet in so many is a sample, or all packets of
// one flow in so many.
type SampleBy string

// The values of watch.sample_by.
const (
	SamplePackets SampleBy = "packet"
	SampleFlows   SampleBy = "flow"
)

func defaultWatch(int) Watch {
	return Watch{Sample: 0, SampleBy: SamplePackets}
}

func defaultMatch() Match { return Match{Flow: AnyLayer} }

func visitWatch(v schema.Visitor, w *Watch, defaults *Events) {
	v.Optional("match", schema.Pointer(&w.Match, defaultMatch, visitMatch))
	v.Attr("events", schema.Choices(&w.Events, "event", EventNames()...).OrNone())
	v.Attr("sample", schema.Integer(&w.Sample, 0, 1<<32-1))
	v.Attr("sample_by", schema.Choice(&w.SampleBy, SamplePackets, SampleFlows))
	v.Attr("collectors", schema.Texts(&w.Collectors).OmitEmpty())
	v.Optional("events_override", schema.Pointer(&w.Override, func() Events { return *defaults }, visitEvents))
}

func visitMatch(v schema.Visitor, m *Match) {
	v.Attr("source", schema.Prefixes(&m.Source))
	v.Attr("destination", schema.Prefixes(&m.Destination))
	v.Attr("protocol", protocols(&m.Protocol))
	v.Attr("source_port", ports(&m.SourcePort, 0, 65535))
	v.Attr("destination_port", ports(&m.DestinationPort, 0, 65535))
	v.Attr("flow", schema.Choice(&m.Flow, AnyLayer, OuterLayer, InnerLayer))
	v.Attr("vlan", ports(&m.VLAN, 0, 4095))
	v.Attr("dscp", codePoints(&m.DSCP))
	v.Attr("vni", vnis(&m.VNI))
	v.Attr("device", devices(&m.Device))
	v.Attr("link", names(&m.Link, "edge"))
	v.Attr("port", names(&m.Port, "network"))
}

// defaultEvents are the events of w if it does not name any.
func (w *Watch) defaultEvents(c *Config) []string {
	e := &c.Events
	if w.Override != nil {
		e = w.Override
	}
	var names []string
	for i := range events {
		if events[i].on(e) {
			names = append(names, events[i].name)
		}
	}
	return names
}
