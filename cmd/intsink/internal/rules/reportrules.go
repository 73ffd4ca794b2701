// Makes report rules and collectors of the blocks report and collector.

package rules

import (
	"net/netip"

	"intsink/conf"
	"intsink/engine/reporting"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
)

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

func reportRules(c *conf.Config) reporting.Rules {
	r := reporting.Rules{
		Fragment:   c.Report.Fragment,
		Fragment6:  c.Report.IPv6,
		Ethernet:   c.Report.Inner == conf.InnerEthernet,
		MaxReports: c.Report.Coalesce.MaxReports,
		MaxDelay:   c.Report.Coalesce.MaxDelay,
		Explain:    c.Report.Explain,
		Domain:     c.Report.Domain,
	}
	if r.Fragment == conf.WholeINT {
		r.Fragment, r.WholeINT = conf.LeastFragment, true
	}
	if r.Fragment6 == 0 {
		r.Fragment6 = r.Fragment
	}
	switch c.Report.Version {
	case conf.Report10:
		r.Format = report.Format10
		if c.Report.Layout == conf.Layout2018 {
			r.Format = report.Format2018
		}
	case conf.Report05:
		r.Format = report.Format05
	}
	if c.Report.Profile == conf.TransparentSecurity {
		r.Domain = report.TransparentSecurityID
	}
	for _, name := range c.Report.Metadata {
		r.MdBits |= metadataBits[name]
	}
	return r
}

func collectors(c *conf.Config) []reporting.Collector {
	all := make([]reporting.Collector, len(c.Collectors))
	for i := range c.Collectors {
		col := &c.Collectors[i]
		headers := col.TagLen() + frameOverhead(col.Address.Addr())
		all[i] = reporting.Collector{
			Name: col.Name, Address: col.Address, MaxPayload: c.PacketBytes(col) - headers,
			Budget: reporting.Budget{Packets: col.Budget.Packets, Bits: col.Budget.Bits, Reports: col.Budget.Reports, Burst: int64(col.Budget.Burst), Headers: headers},
		}
	}
	return all
}

// frameOverhead is the length of the Ethernet, IP and UDP headers.
func frameOverhead(a netip.Addr) int {
	if a.Unmap().Is4() {
		return packet.EthernetLen + packet.IPv4Len + packet.UDPLen
	}
	return packet.EthernetLen + packet.IPv6Len + packet.UDPLen
}
