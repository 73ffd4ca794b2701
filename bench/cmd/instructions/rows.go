//go:build linux && amd64

package main

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"intsink/bench/internal/traffic"
	"intsink/engine"
	"intsink/engine/aside/capture"
	"intsink/engine/aside/mitigate"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
)

// row is a task of the worker.
type row struct {
	name    string
	traffic traffic.Spec
	rules   func(*engine.Rules) // changes those of the reference
	plain   bool                // none of its packets is INT
	silent  bool                // nothing is reported
	page    bool                // a page is open: what is reported goes into the feed of events, too
	parse   bool                // no packet takes the fast path
	capture *capture.Filter     // a capture runs, and is read as fast as it fills

	recorder int // bytes of the flight recorder; 0: recorderBytes

	mitigations []*mitigate.Rule
	drops       bool   // these drop all packets
	warm        int    // bursts before those; 0: warmBursts
	bursts      int    // that are counted; 0: two
	pause       int64  // without packets before those that are counted, nanoseconds
	links       int    // 0: one
	places      int    // for flows; 0: 65,536
	against     string // the row that this one may cost hostileMost times as much as
}

// counted returns how many bursts are counted. Two: flows behave alike.
func (r *row) counted() int { return cmp.Or(r.bursts, 2) }

var rows = slices.Concat(rowsOfINT, rowsOfFormats())

var rowsOfINT = []row{
	{name: "reference", traffic: traffic.Reference()},
	{name: "nodes-queues", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Bitmap = 0x9000 })},
	{name: "nodes", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Bitmap = 0x8000 })},
	{name: "plain", traffic: traffic.Reference(), plain: true, rules: func(r *engine.Rules) { *r.INT.UDPPort++ }},
	{name: "strip", traffic: traffic.Reference(), silent: true, rules: func(r *engine.Rules) { r.Watches = nil }},
	{name: "sample1", traffic: traffic.Reference(), rules: func(r *engine.Rules) { r.Watches[0].Policy.Sample = 1 }},
	{name: "congestion", traffic: traffic.Reference(), rules: byQueue},
	{name: "npt2", traffic: spec(traffic.NPT2, nil)},
	{name: "tcp-dscp", traffic: spec(traffic.DSCP, func(s *traffic.Spec) { s.TCP = true }), rules: byDSCP},
	{name: "ipv6", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.IPv6 = true })},
	{name: "varied", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Frames = 20 * s.Flows })},
	{name: "udp-dscp", traffic: spec(traffic.DSCP, nil), rules: byDSCP},
	{name: "tcp6-dscp", traffic: spec(traffic.DSCP, func(s *traffic.Spec) { s.TCP, s.IPv6 = true, true }), rules: byDSCP},
	{name: "vlan", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Tags = 1 })},
	{name: "qinq", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Tags = 2 })},
	{name: "probe", traffic: spec(traffic.Probe, nil), rules: byProbe},
	{name: "mix", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Mix, s.Frames = len(traffic.Mixed), 4*s.Flows }), rules: byAll},
	{name: "events", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Stamps = true }), rules: everyEvent},
	{name: "few-events", traffic: traffic.Reference(), pause: pastRefresh, rules: func(r *engine.Rules) { r.Watches[0].Policy.Events = event.NewFlow.Set() }},
	{name: "busy", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Busy = 10 }), rules: byUtilization},
	{name: "sequence", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Numbers, s.Flows, s.Frames = true, 32, 32*1536 }), rules: byNumber},
	{name: "node-model", traffic: traffic.Reference(), rules: byModel},
	{name: "facts", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Tags = 1 }), rules: byTag},
	{name: "mx", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.MX = true })},
	{name: "noisy", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Noisy, s.Frames = 8, 64*s.Flows })},
	{name: "episode", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Full = true })},
	{name: "episode-raise", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Full = true }), rules: byOccupancy},
	{name: "marked", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Marked = true })},
	{name: "episode-marked", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Full, s.Marked = true, true })},
	{name: "unwatched", traffic: traffic.Reference(), silent: true, rules: func(r *engine.Rules) { r.Watches[0].Protocol = []uint8{packet.ProtoTCP} }},
	{name: "explained", traffic: traffic.Reference(), rules: func(r *engine.Rules) { r.Watches[0].Policy.Sample, r.Report.Explain = 1, true }},
	{name: "budget", traffic: traffic.Reference(), rules: byBudget},
	{name: "shed", traffic: traffic.Reference(), rules: func(r *engine.Rules) { byBudget(r); r.Report.Explain = false }},
	{name: "report10", traffic: traffic.Reference(), rules: inFormat(report.Format10)},
	{name: "report05", traffic: traffic.Reference(), rules: inFormat(report.Format05)},
	{name: "transparent", traffic: traffic.Reference(), rules: transparentSecurity},
	{name: "sample10", traffic: traffic.Reference(), rules: func(r *engine.Rules) { r.Watches[0].Policy.Sample = 10 }},
	{name: "norefresh", traffic: traffic.Reference(), pause: pastRefresh, rules: func(r *engine.Rules) { r.Watches[0].Policy.Events &^= event.Refresh.Set() }},
	{name: "page", traffic: traffic.Reference(), page: true},
	{name: "page1", traffic: traffic.Reference(), page: true, rules: func(r *engine.Rules) { r.Watches[0].Policy.Sample = 1 }},
	{name: "capture", traffic: traffic.Reference(), capture: filterOf("192.0.2.99/32")},
	{name: "capture1", traffic: traffic.Reference(), capture: filterOf("0.0.0.0/0")},
	{name: "mitigate", traffic: traffic.Reference(), mitigations: ruleOf("192.0.2.99/32", mitigate.Drop)},
	{name: "mitigate-all", traffic: traffic.Reference(), mitigations: ruleOf("0.0.0.0/0", mitigate.Count)},
	{name: "mitigate-drop", traffic: traffic.Reference(), mitigations: ruleOf("0.0.0.0/0", mitigate.Drop), drops: true, rules: func(r *engine.Rules) { r.Watches[0].Policy.Thresholds.DropInterval = 1e9 }},
	{name: "recorder", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Full = true }), recorder: 1 << 32},
	{name: "mix4", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Mix, s.Frames = 4, 4*s.Flows }), rules: byAll},
	{name: "gpe", traffic: spec(traffic.VXLANGPE, nil), rules: byGPE},
	{name: "gre", traffic: spec(traffic.GRE, nil), rules: byGRE},
	{name: "geneve", traffic: spec(traffic.Geneve, nil), rules: byGeneve},
	{name: "int-ifa", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.WithIFA, s.Size = true, 160 }), rules: byINTAndIFA},
	{name: "hops1", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Hops = 1 })},
	{name: "hops8", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Hops = 8 })},
	{name: "size512", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Size = 512 })},
	{name: "size1400", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Size = 1400 })},
	{name: "int10", traffic: spec(traffic.DSCP, func(s *traffic.Spec) { s.Format = intgen.Format1 }), rules: func(r *engine.Rules) { byDSCP(r); r.INT.Version1 = true }},
	{name: "int2016", traffic: spec(traffic.VXLANGPE, func(s *traffic.Spec) { s.Format = intgen.Format2016 }), rules: func(r *engine.Rules) { byGPE(r); r.INT.Version0 = true }},
	{name: "bitmaps", traffic: spec(traffic.UDP, func(s *traffic.Spec) { s.Bitmaps = true })},
	{name: "flood", traffic: flood(nil), places: 1 << 9, bursts: floodBursts},
	{name: "flood-episode", traffic: flood(func(s *traffic.Spec) { s.Full = true }), places: 1 << 9, bursts: floodBursts, rules: byOccupancy},
	{name: "flood-queues", traffic: flood(func(s *traffic.Spec) { s.Full, s.Queues = true, 63 }), places: 1 << 9, warm: 8 * warmBursts, bursts: floodBursts, rules: byOccupancy},
	{name: "flood-queues4096", traffic: flood(func(s *traffic.Spec) { s.Full, s.Queues = true, 1<<12 }), places: 1 << 9, bursts: floodBursts, rules: byOccupancy},
	{name: "hostile400", traffic: hostile(400), rules: byAny, bursts: hostileBursts, against: "hostile400-parse"},
	{name: "hostile400-parse", traffic: hostile(400), rules: byAny, bursts: hostileBursts, parse: true},
}

// rowsOfFormats are about telemetry that is not INT.
func rowsOfFormats() (all []row) {
	for _, f := range traffic.Formats {
		rules := func(r *engine.Rules) { r.INT = inthdr.Config{Version2: true, Formats: f.Parser} }
		all = append(all, row{name: string(f.Encap), traffic: spec(f.Encap, func(s *traffic.Spec) { s.Headers = f.Headers }), rules: rules})
	}
	return all
}

// pastRefresh is longer than RefreshEvery of referenceRules: the refresh of each flow would be due.
const pastRefresh = 3e9

// filterOf takes packets to a prefix, as they came and as they left.
func filterOf(destination string) *capture.Filter {
	m := selector.Match{Destination: []netip.Prefix{netip.MustParsePrefix(destination)}}
	return &capture.Filter{Stages: capture.Both, Match: selector.Of(m), SnapLength: capture.MaxSnap}
}

// ruleOf is a rule of mitigation for packets to a prefix.
func ruleOf(destination string, a mitigate.Action) []*mitigate.Rule {
	m := selector.Match{Destination: []netip.Prefix{netip.MustParsePrefix(destination)}}
	return []*mitigate.Rule{mitigate.NewRule(1, m, a, 0, 0, math.MaxInt64, 1)}
}

// spec returns the reference input in another encapsulation.
func spec(e traffic.Encap, change func(*traffic.Spec)) traffic.Spec {
	s := traffic.Reference()
	s.Encap = e
	if change != nil {
		change(&s)
	}
	return s
}

// flood is packets of more flows than places, one of each in turn.
func flood(change func(*traffic.Spec)) traffic.Spec {
	return spec(traffic.UDP, func(s *traffic.Spec) {
		if s.Flows, s.Frames = 1<<13, 1<<13; change != nil {
			change(s)
		}
	})
}

// hostile is packets of n kinds of headers, many more than package fast knows at once.
func hostile(n int) traffic.Spec {
	s := traffic.Reference()
	s.Random, s.Frames = n, 4096
	return s
}

// hostileBursts is how many bursts of hostile packets are counted: package fast tries templates
// on one of them and leaves the others to the parser.
const hostileBursts = 8

// floodBursts is how many bursts of a flood are counted that fill queues: few of them bring a flow that finds room, whose packet costs as
// much as ten others.
const floodBursts = 32

// hostileMost is how many times as much these packets may cost as in a worker that parses each
// packet.
const hostileMost = 1.1

// byAny looks for INT by all markings but the probe marker: with that, packets without INT get no
// template.
func byAny(r *engine.Rules) {
	port, protocol := uint16(traffic.UDPPort), uint16(traffic.GREProtocol)
	r.INT = inthdr.Config{
		Version2: true, UDPPort: &port, GREProtocol: &protocol, DSCP: []inthdr.DSCP{{Value: traffic.DSCPValue, Mask: 0x3f}},
		VXLANGPE: &inthdr.VXLANGPE{Port: traffic.GPEPort, NextProtocol: traffic.GPENextProtocol},
		Geneve:   &inthdr.Geneve{Port: traffic.GenevePort, OptionClass: traffic.GeneveOptionClass},
	}
}

// byQueue watches queues, which the traffic's never fill.
func byQueue(r *engine.Rules) {
	p := &r.Watches[0].Policy
	p.Events |= event.Congestion.Set() | event.TxUtilization.Set()
	p.Thresholds.CongestionRaise, p.Thresholds.TxRaise = 1<<24-1, 1<<31
	p.Thresholds.CongestionFactor, p.Thresholds.CongestionLatency = 0, 0
}

// byOccupancy has queues congested that are full, whatever is usual.
func byOccupancy(r *engine.Rules) {
	t := &r.Watches[0].Policy.Thresholds
	t.CongestionFactor, t.CongestionLatency, t.CongestionRaise, t.CongestionClear = 0, 0, 4000, 2000
}

func byDSCP(r *engine.Rules) {
	r.INT = inthdr.Config{Version2: true, DSCP: []inthdr.DSCP{{Value: traffic.DSCPValue, Mask: 0x3f}}}
}

// byProbe looks for the marker, byAll for all that a mix of traffic has.
func byProbe(r *engine.Rules) {
	marker := uint64(traffic.ProbeMarker)
	r.INT = inthdr.Config{Version2: true, ProbeMarker: &marker}
}

func byAll(r *engine.Rules) {
	byProbe(r)
	port := uint16(traffic.UDPPort)
	r.INT.UDPPort, r.INT.DSCP = &port, []inthdr.DSCP{{Value: traffic.DSCPValue, Mask: 0x3f}}
}

// byNumber knows the domain of the sequence numbers.
func byNumber(r *engine.Rules) {
	d := inthdr.Domain{ID: traffic.DomainID}
	d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = 4, true, inthdr.Sequence
	r.INT.Domains = []inthdr.Domain{d}
	t := &r.Watches[0].Policy.Thresholds
	t.LossWindow, t.LossTimeout, t.LossInterval = 1024, 200e6, 1e9
}

// byModel takes latencies as units of two nanoseconds.
func byModel(r *engine.Rules) { r.NodeModels = []event.NodeModel{{LatencyUnit: 2}} }

// byTag watches packets of a VLAN: all of the traffic.
func byTag(r *engine.Rules) {
	r.Watches[0].VLAN = []watch.PortRange{{First: traffic.CustomerTag, Last: traffic.CustomerTag}}
}

// byBudget makes an explained report for every packet; the budget sheds most of them.
func byBudget(r *engine.Rules) {
	r.Watches[0].Policy.Sample, r.Report.Explain = 1, true
	r.Collectors[0].Budget = reporting.Budget{Packets: 1000, Burst: 100e6, Headers: 42}
}

// inFormat makes a report for every packet, in an older version.
func inFormat(f report.Format) func(*engine.Rules) {
	return func(r *engine.Rules) {
		r.Watches[0].Policy.Sample, r.Report.Format, r.Report.Ethernet = 1, f, true
	}
}

// transparentSecurity makes a report for every packet, of that profile.
func transparentSecurity(r *engine.Rules) {
	r.Watches[0].Policy.Sample, r.Collectors[0].MaxPayload = 1, 158
	r.Report = reporting.Rules{Domain: report.TransparentSecurityID, Ethernet: true, MaxReports: 1, Fragment: 136, MaxDelay: 1e6}
}

// everyEvent watches for all events; the traffic fires none.
func everyEvent(r *engine.Rules) {
	byQueue(r)
	p := &r.Watches[0].Policy
	p.Events |= event.LinkLatency.Set()
	p.Thresholds.LinkLatency = event.Deadband{Absolute: 1 << 30, K: 2, N: 4}
}

// byUtilization makes rules that watch interfaces.
func byUtilization(r *engine.Rules) {
	p := &r.Watches[0].Policy
	p.Events |= event.TxUtilization.Set()
	p.Thresholds.TxRaise, p.Thresholds.TxClear, p.Thresholds.TxHold = 90, 75, 5e9
}

func byGPE(r *engine.Rules) {
	r.INT = inthdr.Config{Version2: true, VXLANGPE: &inthdr.VXLANGPE{Port: traffic.GPEPort, NextProtocol: traffic.GPENextProtocol}}
}

func byGRE(r *engine.Rules) {
	protocol := uint16(traffic.GREProtocol)
	r.INT = inthdr.Config{Version2: true, GREProtocol: &protocol}
}

func byGeneve(r *engine.Rules) {
	g := inthdr.Geneve{Port: traffic.GenevePort, OptionClass: traffic.GeneveOptionClass}
	r.INT = inthdr.Config{Version2: true, Geneve: &g}
}

// byINTAndIFA is a link that carries both.
func byINTAndIFA(r *engine.Rules) {
	r.INT.IFA = traffic.Formats[0].Parser.IFA
}

func rowNames() []string {
	var names []string
	for i := range rows {
		names = append(names, rows[i].name)
	}
	return names
}

// rowsNamed picks from a list with commas; empty means all.
func rowsNamed(list string) ([]row, error) {
	if list == "" {
		return rows, nil
	}
	var picked []row
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if point, ok := pointNamed(name); ok {
			picked = append(picked, point)
			continue
		}
		if i < 0 {
			return nil, fmt.Errorf("no row %q; there are %s", name, strings.Join(rowNames(), ", "))
		}
		picked = append(picked, rows[i])
	}
	return picked, nil
}
