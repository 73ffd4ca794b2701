package conf

import (
	"fmt"
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
	known := collectorNames(c)
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
		d.checkMatch(&c.INT, w, where)
	}
}

func isEmpty(m *Match) bool {
	return m.Flow == "any" && len(m.Source)+len(m.Destination)+len(m.Protocol)+len(m.SourcePort)+len(m.DestinationPort)+
		len(m.VLAN)+len(m.DSCP)+len(m.VNI)+len(m.Device) == 0
}

// anyFailed: the match is empty only because its lists are wrong.
func (d checker) anyFailed(m *Match) bool {
	lists := []any{&m.Source, &m.Destination, &m.Protocol, &m.SourcePort, &m.DestinationPort, &m.VLAN, &m.DSCP, &m.VNI, &m.Device}
	return slices.ContainsFunc(lists, d.Wrong)
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
	if w.Match == nil || w.Match.Flow == "inner" {
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
			return r.First <= a.Port() && a.Port() <= r.Last
		})
		if only && udp && port {
			d.WarnAt([]any{&w.Match.Destination}, "%s: traffic to collector %q is never watched: reports about reports would not end", where, c.Collectors[i].Name)
		}
	}
}

// checkEvents compares thresholds with each other, those that this block sets:
// what an override inherits is reported where it stands. inherited is nil where e is
// no override.
func (d checker) checkEvents(e, inherited *Events, where string) {
	for _, x := range []struct {
		name string
		b    *Deadband
	}{{"hop_latency", &e.HopLatency}, {"end_to_end", &e.EndToEnd}, {"link_latency", &e.LinkLatency}} {
		if x.b.K > x.b.N && (d.Has(&x.b.K) || d.Has(&x.b.N)) {
			d.ErrorAt([]any{&x.b.K, &x.b.N}, "%s: %s: k = %d of n = %d: k of the last n packets must deviate, so k is at most n", where, x.name, x.b.K, x.b.N)
		}
	}
	d.checkClear(&e.Congestion.Clear, &e.Congestion.Raise, where+": congestion")
	d.checkClear(&e.TxUtilization.Clear, &e.TxUtilization.Raise, where+": tx_utilization")
	idle := func(e *Events) bool { return e.EndToEnd.ClockOffset != 0 && e.EndToEnd.Clock != "ptp" }
	if d.Has(&e.EndToEnd.ClockOffset) && idle(e) && (inherited == nil || !idle(inherited)) {
		d.WarnAt([]any{&e.EndToEnd.ClockOffset}, `%s: end_to_end: clock_offset does nothing unless clock = "ptp"`, where)
	}
}

func (d checker) checkClear(clear, raise *uint32, where string) {
	if *clear > *raise && (d.Has(clear) || d.Has(raise)) {
		d.ErrorAt([]any{clear, raise}, "%s: clear = %d is above raise = %d: an episode would end as it begins; set clear to raise or less", where, *clear, *raise)
	}
}

// checkReport: one report must fit a report packet, and its own metadata.
func (d checker) checkReport(c *Config) {
	r := &c.Report
	least := leastReport(c)
	if r.Explain {
		d.checkExplain(r)
	}
	at := []any{&r.Coalesce.MaxBytes, &r.Fragment, r}
	if r.Coalesce.MaxBytes < least {
		d.ErrorAt(at, "report: coalesce.max_bytes = %d: one report with this fragment and metadata takes %d bytes, headers included; "+
			"allow so many, or lower fragment",
			r.Coalesce.MaxBytes, least)
	} else if r.Coalesce.MaxBytes > 1514 {
		d.WarnAt(at, "report: coalesce.max_bytes = %d is more than an Ethernet frame of 1514 bytes: the path to the collectors must take larger ones",
			r.Coalesce.MaxBytes)
	}
}

// leastReport is the frame of one report with all of its fragment: over IPv6, the longer
// headers. With the profile it is that of the collector with the most room, since the
// fragments of others are cut.
func leastReport(c *Config) int {
	if c.Report.Profile == transparentSecurity {
		return leastHeaders(c) + reportBytes(&c.Report)
	}
	tag := 0
	for i := range c.Collectors {
		tag = max(tag, c.Collectors[i].TagLen())
	}
	return tag + reportHeaders(netip.IPv6Unspecified()) + reportBytes(&c.Report)
}

// reportBytes are the metadata and the inner contents of one report.
func reportBytes(r *Report) int {
	n := metadataBytes(r.Metadata) + (r.Fragment+3)/4*4
	if r.Explain && r.Version == "2.0" && r.Profile == "" { // elsewhere it is an error
		n += explainBytes
	}
	return n
}

// explainBytes is what report.explain adds: a TLV of 44 bytes, and the header of
// that which the fragment then stands in.
const explainBytes = 4 + 44 + 4

// maxTLV is the longest data of a TLV (Telemetry Report 2.0, InType 1).
const maxTLV = 1020

func (d checker) checkExplain(r *Report) {
	switch at := []any{&r.Explain, r}; {
	case r.Version != "2.0":
		d.ErrorAt(at, "report: explain = true: only reports of version 2.0 have room for it, not %s; leave explain out", r.Version)
	case r.Profile != "":
		d.ErrorAt(at, "report: explain = true: profile %q has no room for it; leave one of them out", r.Profile)
	case r.Fragment > maxTLV:
		d.WarnAt([]any{&r.Fragment, r}, "report: fragment = %d: with explain = true at most %d bytes of a packet are sent", r.Fragment, maxTLV)
	}
}

// metadataBytes is the length of the sink's own metadata (Telemetry Report 2.0,
// RepMdBits): timestamps have 8 bytes, all else 4.
func metadataBytes(names []string) int {
	n := 0
	for _, name := range names {
		n += 4
		if name == "ingress_timestamp" || name == "egress_timestamp" {
			n += 4
		}
	}
	return n
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
		d.checkBudget(col, &c.Report)
		if col.Source.IsValid() && col.Source.Is4() != col.Address.Addr().Is4() {
			d.ErrorAt([]any{&col.Source}, "collector %q: source %s and address %s must be both IPv4 or both IPv6", col.Name, col.Source, col.Address)
		}
	}
}
