// Block report, whole but for profiles (transparentsecurity.go): what a report holds, and what it takes.

package conf

import (
	"fmt"
	"intsink/conf/schema"
	"net/netip"
	"strconv"
	"time"
)

// checkReport: one report must fit a report packet, and its own metadata.
func (d checker) checkReport(c *Config) {
	r := &c.Report
	least := leastReport(c)
	if r.Explain {
		d.checkExplain(r)
	}
	if r.Domain != 0 {
		d.checkReportDomain(r)
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

// Packets over IPv6 reach every collector with the least MTU that a link may have (RFC 8200,
// section 5). Nobody cuts larger ones, and the answer of who drops them often gets lost.
const leastMTU = 1280

// ordinaryBytes is the largest max_bytes that says nothing of the path.
const ordinaryBytes = 1400

// PacketBytes is the most that a report packet for col has: the whole frame.
func (c *Config) PacketBytes(col *Collector) int {
	most := c.Report.Coalesce.MaxBytes
	if col.Address.Addr().Unmap().Is4() || most > ordinaryBytes {
		return most
	}
	return min(most, max(14+col.TagLen()+leastMTU, leastReport(c)))
}

// leastReport returns the length of a frame with one report and its whole fragment, over IPv6,
// whose headers are longer. With the profile it is the frame of the collector with the most room,
// since fragments for the others are cut.
func leastReport(c *Config) int {
	if c.Report.Profile == TransparentSecurity {
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
	n := metadataBytes(r.Metadata) + (r.fragment()+3)/4*4
	if r.Explain && r.Version == Report20 && r.Profile == "" { // elsewhere it is an error
		n += explainBytes
	}
	return n
}

// explainBytes is what report.explain adds: a TLV of 44 bytes, the header of that which the fragment then
// stands in, and in front of the report one of 32 bytes that says which sink this is.
const explainBytes = 4 + 44 + 4 + 32

// maxTLV is the longest data of a TLV (Telemetry Report 2.0, InType 1).
const maxTLV = 1020

func (d checker) checkExplain(r *Report) {
	switch at := []any{&r.Explain, r}; {
	case r.Version != Report20:
		d.ErrorAt(at, "report: explain = true: only reports of version 2.0 have room for it, not %s; leave explain out", r.Version)
	case r.Profile != "":
		d.ErrorAt(at, "report: explain = true: profile %q has no room for it; leave one of them out", r.Profile)
	case r.fragment() > maxTLV:
		d.WarnAt([]any{&r.Fragment, &r.IPv6, r}, "report: fragment = %d: with explain = true at most %d bytes of a packet are sent", r.fragment(), maxTLV)
	}
}

// checkReportDomain: reports of version 2.0 alone name a domain, and readers take those of 0x5453 for the profile's.
func (d checker) checkReportDomain(r *Report) {
	switch at := []any{&r.Domain, r}; {
	case r.Version != Report20:
		d.ErrorAt(at, "report: domain = %d: only reports of version 2.0 name a domain, not %s; leave domain out", r.Domain, r.Version)
	case r.Profile != "":
		d.ErrorAt(at, "report: domain = %d: profile %q has a domain of its own; leave one of them out", r.Domain, r.Profile)
	case r.Domain == transparentSecurityDomain:
		d.ErrorAt(at, "report: domain = %d: that is Transparent Security's, whose reports have other contents; choose another", r.Domain)
	}
}

// transparentSecurityDomain is report.TransparentSecurityID.
const transparentSecurityDomain = 0x5453

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

// Report says what a report holds.
type Report struct {
	Version  ReportVersion // "2.0" | "1.0" | "0.5"
	Layout   ReportLayout  // "standard" | "2018", of version 1.0
	Profile  ReportProfile // "" | "transparent-security", of version 2.0
	Metadata []string      // subset, in this order, of: interfaces hop_latency queue ingress_timestamp egress_timestamp ...
	Fragment int           // bytes of the original packet, INT included; 0: none (InType 0); WholeINT
	IPv6     int           // the same of IPv6 packets; 0: as of others
	Inner    Inner         // "ip" (InType 4/5) | "ethernet" (InType 3)
	Explain  bool          // totals and counts of reports without a packet of their own go into a TLV
	Domain   uint16        // Domain Specific ID of all reports; 0: that of the packet
	Coalesce Coalesce
}

// Coalesce says when a report packet is full or old enough to be sent.
type Coalesce struct {
	MaxBytes   int // the whole frame, Ethernet header to end
	MaxReports int // 0: as many as fit
	MaxDelay   time.Duration
}

// WholeINT in place of Report.Fragment: headers, all INT and the L4 header behind it.
const WholeINT = -1

// LeastFragment is what a fragment of WholeINT has at least.
const LeastFragment = 128

// fragment is how many bytes of a packet have to fit a report.
func (r *Report) fragment() int {
	if r.Fragment == WholeINT {
		return max(LeastFragment, r.IPv6)
	}
	return max(r.Fragment, r.IPv6)
}

// Coalesces tells whether reports of this version can share a packet.
func (r *Report) Coalesces() bool { return r.Version == Report20 }

// ReportVersion is report.version: the version of Telemetry Report.
type ReportVersion string

// The values of report.version.
const (
	Report20 ReportVersion = "2.0"
	Report10 ReportVersion = "1.0"
	Report05 ReportVersion = "0.5"
)

// ReportLayout is report.layout: which RepMdBits reports of version 1.0 have.
type ReportLayout string

// The values of report.layout.
const (
	StandardLayout ReportLayout = "standard"
	Layout2018     ReportLayout = "2018"
)

// ReportProfile is report.profile; empty: none.
type ReportProfile string

// TransparentSecurity is the profile of Telemetry Report 2.0 of that name.
const TransparentSecurity ReportProfile = "transparent-security"

// Inner is report.inner: what a report's fragment begins with.
type Inner string

// The values of report.inner.
const (
	InnerIP       Inner = "ip"
	InnerEthernet Inner = "ethernet"
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

// reportMetadata are the names of the sink's own metadata in the order of RepMdBits.
var reportMetadata = []string{"interfaces", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp", "tx_utilization", "buffer"}

// MaxFragment is a jumbo frame's worth. A report of 255 words or more is the last
// of its packet.
const MaxFragment = 8192

func defaultReport() Report {
	return Report{
		Version:  Report20,
		Layout:   StandardLayout,
		Profile:  "",
		Metadata: []string{"interfaces", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp"},
		Fragment: WholeINT,
		Inner:    InnerIP,
		Explain:  false,
		Coalesce: Coalesce{MaxBytes: ordinaryBytes, MaxReports: 0, MaxDelay: time.Millisecond},
	}
}

// fragment is how much of a packet a report shows.
func fragment(r *Report) schema.Value { return &fragmentValue{r} }

type fragmentValue struct{ r *Report }

func (v *fragmentValue) Key() any { return &v.r.Fragment }

func (v *fragmentValue) Write() (string, bool) {
	if v.r.Fragment == WholeINT {
		return `"int"`, true
	}
	return strconv.Itoa(v.r.Fragment), true
}

func (v *fragmentValue) Read(x *schema.Expr) bool {
	accepted := fmt.Sprintf(`a number from 0 to %d, or "int"`, MaxFragment)
	s, ok := x.TextOrNumber(accepted)
	if !ok {
		return false
	}
	if s == "int" {
		v.r.Fragment = WholeINT
		return true
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > MaxFragment {
		return x.Fail("must be %s%s", accepted, schema.DidYouMean(s, []string{"int"}, "%q"))
	}
	v.r.Fragment = n
	return true
}
