// visitReport, visitCollector: the schemas of these blocks: version, metadata, fragment,
// coalesce, budget; defaults that depend on the version.

package conf

import (
	"time"

	"intsink/conf/schema"
)

// visitReport is the schema of report. Version and profile, where they stand
// there, set other defaults before the rest is read.
func visitReport(v schema.Visitor, r *Report) {
	v.Attr("version", schema.Then(schema.Choice(&r.Version, Report20, Report10, Report05), r.versionDefaults))
	v.Attr("layout", schema.Checked(schema.Choice(&r.Layout, StandardLayout, Layout2018), func(x *schema.Expr) bool {
		if r.Layout == Layout2018 && r.Version != Report10 {
			return x.Fail(`a layout of version = "1.0", not of %q`, r.Version)
		}
		return true
	}))
	v.Attr("profile", schema.Checked(schema.Choice(&r.Profile, "", TransparentSecurity), func(x *schema.Expr) bool {
		if r.Profile != "" && r.Version != Report20 {
			return x.Fail(`a profile of version = "2.0", not of %q`, r.Version)
		}
		r.profileDefaults()
		return true
	}))
	v.Attr("metadata", schema.Choices(&r.Metadata, "metadata", reportMetadata...).OrNone())
	v.Attr("fragment", fragment(r))
	v.Attr("fragment_ipv6", schema.Integer(&r.IPv6, 0, MaxFragment))
	v.Attr("inner", schema.Checked(schema.Choice(&r.Inner, InnerIP, InnerEthernet), func(x *schema.Expr) bool {
		if r.Inner == InnerIP && r.Version == Report05 {
			return x.Fail(`version 0.5 carries packets from the Ethernet header on only: "ethernet"`)
		}
		return true
	}))
	v.Attr("explain", schema.Boolean(&r.Explain))
	v.Attr("domain", schema.Integer(&r.Domain, 0, 65535))
	v.Block("coalesce", &r.Coalesce, func(v schema.Visitor) { visitCoalesce(v, r) })
}

func visitCoalesce(v schema.Visitor, r *Report) {
	c := &r.Coalesce
	v.Attr("max_bytes", schema.Integer(&c.MaxBytes, 1, 9216))
	v.Attr("max_reports", schema.Checked(schema.Integer(&c.MaxReports, 0, 1000), func(x *schema.Expr) bool {
		if c.MaxReports > 1 && !r.Coalesces() {
			x.Report(schema.Warning, "%s: version %s has one report to a packet: it stays 1", x.Where, r.Version)
			c.MaxReports = 1
		}
		return true
	}))
	v.Attr("max_delay", schema.Duration(&c.MaxDelay, 0, 10*time.Second))
}

// versionDefaults are those that 1.0 and 0.5 do not share with 2.0.
func (r *Report) versionDefaults() {
	if !r.Coalesces() {
		r.Inner, r.Coalesce.MaxReports = "ethernet", 1
	}
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

// reportMetadata are the names of the sink's own metadata in the order of RepMdBits.
var reportMetadata = []string{"interfaces", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp", "tx_utilization", "buffer"}

// MaxFragment is a jumbo frame's worth. A report of 255 words or more is the last
// of its packet.
const MaxFragment = 8192
