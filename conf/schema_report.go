package conf

import "time"

// visitReport is the schema of report. Version and profile, where they stand
// there, set other defaults before the rest is read.
func visitReport(v visitor, r *Report) {
	v.attr("version", then(choice(&r.Version, "2.0", "1.0", "0.5"), r.versionDefaults))
	v.attr("profile", checked(choice(&r.Profile, "", transparentSecurity), func(x *expr) bool {
		if r.Profile != "" && r.Version != "2.0" {
			return x.fail(`a profile of version = "2.0", not of %q`, r.Version)
		}
		r.profileDefaults()
		return true
	}))
	v.attr("metadata", choices(&r.Metadata, "metadata", reportMetadata...).orNone())
	v.attr("fragment", integer(&r.Fragment, 0, maxFragment))
	v.attr("inner", checked(choice(&r.Inner, "ip", "ethernet"), func(x *expr) bool {
		if r.Inner == "ip" && r.Version == "0.5" {
			return x.fail(`version 0.5 carries packets from the Ethernet header on only: "ethernet"`)
		}
		return true
	}))
	v.attr("explain", boolean(&r.Explain))
	v.block("coalesce", &r.Coalesce, func(v visitor) { visitCoalesce(v, r) })
}

func visitCoalesce(v visitor, r *Report) {
	c := &r.Coalesce
	maxBytes := int64(9216)
	if r.Profile == transparentSecurity {
		maxBytes = transparentSecurityBytes
	}
	v.attr("max_bytes", integer(&c.MaxBytes, 1, maxBytes))
	v.attr("max_reports", checked(integer(&c.MaxReports, 0, 1000), func(x *expr) bool {
		if c.MaxReports > 1 && !r.Coalesces() {
			x.d.report(Warning, x.e.Range(), "%s: version %s has one report to a packet: it stays 1", x.where, r.Version)
			c.MaxReports = 1
		}
		return true
	}))
	v.attr("max_delay", duration(&c.MaxDelay, 0, 10*time.Second))
}

// versionDefaults are those that 1.0 and 0.5 do not share with 2.0.
func (r *Report) versionDefaults() {
	if !r.Coalesces() {
		r.Inner, r.Coalesce.MaxReports = "ethernet", 1
	}
}

// checked is v with a check of what was read from a file, which says itself what
// is wrong.
func checked(v value, good func(x *expr) bool) value { return checkedValue{v, good} }

type checkedValue struct {
	value
	good func(x *expr) bool
}

func (c checkedValue) read(x *expr) bool { return c.value.read(x) && c.good(x) }

// omitted is v, which a dump leaves out where absent.
func omitted(v value, absent func() bool) value { return omittedValue{v, absent} }

type omittedValue struct {
	value
	absent func() bool
}

func (o omittedValue) write() (string, bool) {
	if o.absent() {
		return "", false
	}
	return o.value.write()
}

func visitCollector(v visitor, c *Collector) {
	v.required("address", endpoint(c))
	v.attr("source", address(&c.Source))
	v.attr("source_port", sourcePort(c))
	v.attr("port", omitted(text(&c.Port), func() bool { return c.Port == "" }))
	v.attr("gateway", address(&c.Gateway))
	v.attr("gateway_mac", mac(&c.GatewayMAC))
	v.attr("vlan", omitted(integer(&c.VLAN, 1, 4094), func() bool { return c.VLAN == 0 }))
	v.block("budget", &c.Budget, func(v visitor) {
		v.attr("packets", integer(&c.Budget.Packets, 0, 1<<40))
		v.attr("bits", integer(&c.Budget.Bits, 0, 1<<40))
		v.attr("burst", duration(&c.Budget.Burst, time.Millisecond, time.Minute))
	})
}

// reportMetadata is what the sink can say of itself, in the order of RepMdBits.
var reportMetadata = []string{"interfaces", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp", "tx_utilization", "buffer"}

// maxFragment is a jumbo frame's worth. A report of 255 words or more is the last
// of its packet.
const maxFragment = 8192
