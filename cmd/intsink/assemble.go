package main

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"intsink/conf"
	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
)

// rulesOf turns the configuration into what the workers read per packet.
func rulesOf(c *conf.Config) *engine.Rules {
	r := &engine.Rules{
		INT:           inthdrConfig(&c.INT),
		DropMalformed: c.INT.Malformed == "drop",
		Devices:       deviceFields(&c.INT),
		DropInterval:  int64(c.Events.Drop.Interval),
		Report:        reportRules(c),
		NodeModels:    nodeModels(c),
	}
	names := collectorNames(c)
	for _, col := range c.Collectors {
		r.Collectors = append(r.Collectors, col.Address)
	}
	for i := range c.Watches {
		w := &c.Watches[i]
		r.Watches = append(r.Watches, watchOf(w, names))
		r.Policies = append(r.Policies, policyOf(w, &c.Events))
	}
	return r
}

func collectorNames(c *conf.Config) []string {
	names := make([]string, len(c.Collectors))
	for i := range c.Collectors {
		names[i] = c.Collectors[i].Name
	}
	return names
}

// metadataBits are the RepMdBits (Telemetry Report 2.0, section "Individual
// Report Main Contents for RepType 1") of the names in report.metadata that
// this sink can provide.
var metadataBits = map[string]uint16{
	"interfaces":        inthdr.BitLevel1Interfaces,
	"hop_latency":       inthdr.BitHopLatency,
	"queue":             inthdr.BitQueue,
	"tx_utilization":    inthdr.BitTxUtilization,
	"buffer":            inthdr.BitBuffer,
	"ingress_timestamp": inthdr.BitIngressTimestamp,
	"egress_timestamp":  inthdr.BitEgressTimestamp,
}

func reportRules(c *conf.Config) engine.ReportRules {
	r := engine.ReportRules{
		Fragment:   c.Report.Fragment,
		Ethernet:   c.Report.Inner == "ethernet",
		MaxReports: c.Report.Coalesce.MaxReports,
		MaxDelay:   c.Report.Coalesce.MaxDelay,
		Explain:    c.Report.Explain,
	}
	switch c.Report.Version {
	case "1.0":
		r.Format = report.Format10
	case "0.5":
		r.Format = report.Format05
	}
	if c.Report.Profile == "transparent-security" {
		r.Domain = report.TransparentSecurityID
	}
	for _, name := range c.Report.Metadata {
		r.MdBits |= metadataBits[name]
	}
	for _, col := range c.Collectors {
		headers := col.TagLen() + frameOverhead(col.Address.Addr())
		r.MaxPayload = append(r.MaxPayload, c.Report.Coalesce.MaxBytes-headers)
		r.Budgets = append(r.Budgets, engine.Budget{
			Packets: col.Budget.Packets, Bits: col.Budget.Bits, Burst: int64(col.Budget.Burst), Headers: headers,
		})
	}
	return r
}

// frameOverhead is the length of the Ethernet, IP and UDP headers.
func frameOverhead(a netip.Addr) int {
	if a.Unmap().Is4() {
		return 14 + 20 + 8
	}
	return 14 + 40 + 8
}

func inthdrConfig(c *conf.INT) inthdr.Config {
	out := inthdr.Config{
		UDPPort:       c.UDPPort,
		ProbeMarker:   c.ProbeMarker,
		BeforeOptions: c.TCPOptions == "before",
		GREProtocol:   c.GREProtocol,
		Version2:      slices.Contains(c.Versions, "2"),
		Version1:      slices.Contains(c.Versions, "1"),
		Version0:      slices.Contains(c.Versions, "0"),
		Fragments:     c.Fragments == "strip",
	}
	if c.DSCP != nil {
		out.DSCP = &inthdr.DSCP{Value: c.DSCP.Value, Mask: c.DSCP.Mask}
	}
	if c.VXLANGPE != nil {
		out.VXLANGPE = &inthdr.VXLANGPE{Port: c.VXLANGPE.Port, NextProtocol: c.VXLANGPE.NextProtocol}
	}
	if c.Geneve != nil {
		out.Geneve = &inthdr.Geneve{Port: c.Geneve.Port, OptionClass: c.Geneve.OptionClass}
	}
	for _, r := range c.ProbePorts {
		out.ProbePorts = append(out.ProbePorts, inthdr.PortRange(r))
	}
	for i := range c.Domains {
		d := inthdr.Domain{ID: c.Domains[i].ID}
		for _, in := range c.Domains[i].Instructions {
			d.Bits[in.Bit].Length = in.Length
			d.Bits[in.Bit].SourceOnly = in.Scope != "hop"
			d.Bits[in.Bit].Role = roles[in.Role]
		}
		out.Domains = append(out.Domains, d)
	}
	return out
}

var roles = map[string]inthdr.Role{"sequence": inthdr.Sequence, "device_id": inthdr.DeviceID}

// hwID is the hw_id of worker w: 6 bits.
func hwID(c *conf.Config, w int) uint8 {
	return uint8(min(int(c.Node.HwIDBase)+w, math.MaxUint8)) & 0x3f
}

func policyOf(w *conf.Watch, defaults *conf.Events) event.Policy {
	e := defaults
	if w.Override != nil {
		e = w.Override
	}
	p := event.Policy{Sample: w.Sample, SampleByFlow: w.SampleBy == "flow", Thresholds: thresholds(e)}
	for _, name := range w.Events {
		if ev, ok := event.Named(name); ok { // always: conf knows the same names
			p.Events |= ev.Set()
		}
	}
	return p
}

func thresholds(e *conf.Events) event.Thresholds {
	return event.Thresholds{
		NewFlowRate: e.NewFlow.Rate,
		Paths:       e.PathChange.Paths, PathMemory: int64(e.PathChange.Memory),
		PathRate: e.PathChange.Rate, ReportKnown: e.PathChange.ECMP == "report",
		Latency:  deadband(&e.HopLatency),
		EndToEnd: deadband(&e.EndToEnd), PTP: e.EndToEnd.Clock == "ptp", ClockOffset: int64(e.EndToEnd.ClockOffset),
		LinkLatency:     deadband(&e.LinkLatency),
		CongestionRaise: e.Congestion.Raise, CongestionClear: e.Congestion.Clear,
		CongestionLatency: nanoseconds(e.Congestion.RaiseLatency),
		CongestionQuota:   e.Congestion.Quota, CongestionTimeout: int64(e.Congestion.Timeout),
		TxRaise: e.TxUtilization.Raise, TxClear: e.TxUtilization.Clear, TxHold: int64(e.TxUtilization.Hold),
		LossWindow: e.Loss.Window, LossTimeout: int64(e.Loss.Timeout), LossInterval: int64(e.Loss.Interval),
		DropInterval:  int64(e.Drop.Interval),
		HopLimitRearm: int64(e.HopLimit.Rearm), MTURearm: int64(e.MTUExceeded.Rearm),
		RefreshEvery: int64(e.Refresh.Every), RefreshJitter: e.Refresh.Jitter,
	}
}

func deadband(d *conf.Deadband) event.Deadband {
	return event.Deadband{
		Absolute: nanoseconds(d.Absolute), Relative: d.Relative, K: d.K, N: d.N, Interval: int64(d.Interval),
	}
}

// nanoseconds is a latency as the wire carries it; longer ones than fit are never
// reached.
func nanoseconds(d time.Duration) uint32 { return uint32(min(d, math.MaxInt32)) }
