// Checks block report: adds up what one report with metadata, fragment and explain takes,
// which must fit max_bytes.

package conf

import "net/netip"

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
