// Fills in and checks the report profile transparent-security: frames of 200 bytes, the fragment
// that fits, events and metadata that the project's own collector can read.

package conf

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"intsink/conf/schema"
)

// transparentSecurityBytes is the frame of a report packet of that profile where max_bytes is left out: what the
// reference implementation of its document has, which is taken for the whole frame.
const transparentSecurityBytes = 200

// profileDefaults sets the defaults of the profile: no metadata of the sink, one report a
// packet and Ethernet frames, so that as much of the packet as possible fits into 200 bytes.
func (r *Report) profileDefaults() {
	if r.Profile == TransparentSecurity {
		r.Metadata, r.Inner = []string{}, InnerEthernet
		r.Coalesce.MaxBytes, r.Coalesce.MaxReports = transparentSecurityBytes, 1
	}
}

// profileFragment makes the fragment, where the file does not say how long it is, what
// the collector with the most room gets: all that the headers and the metadata leave of
// the frame, in whole words. For the others it is cut when the report is built.
func (d checker) profileFragment(c *Config) {
	r := &c.Report
	if r.Profile != TransparentSecurity || d.Has(&r.Fragment) {
		return
	}
	r.Fragment = max(r.Coalesce.MaxBytes-leastHeaders(c)-metadataBytes(r.Metadata), 0) &^ 3
}

// leastHeaders is what all headers of a report with main contents take in front of its
// metadata, of the collector where that is least; without collectors, over IPv4.
func leastHeaders(c *Config) int {
	if len(c.Collectors) == 0 {
		return reportHeaders(netip.IPv4Unspecified())
	}
	least := 1 << 16
	for i := range c.Collectors {
		col := &c.Collectors[i]
		least = min(least, col.TagLen()+reportHeaders(col.Address.Addr()))
	}
	return least
}

// reportHeaders are Ethernet, IP, UDP, the group header, and the individual report header
// with the main contents of RepType 1.
func reportHeaders(to netip.Addr) int {
	ip := 40
	if !to.IsValid() || to.Unmap().Is4() { // what is not known is taken for the shorter one
		ip = 20
	}
	return 14 + ip + 8 + 8 + 12
}

// checkProfile warns of reports that Transparent Security's own collector cannot read: it takes one
// word of metadata and an Ethernet frame for granted, whatever the report says (docs/reports.md). Other
// collectors of the profile want no metadata: who writes metadata = [] has one of those.
func (d checker) checkProfile(c *Config) {
	r := &c.Report
	if r.Profile != TransparentSecurity || d.Wrong(&r.Profile) {
		return
	}
	oneWord := slices.Equal(r.Metadata, []string{"interfaces"}) || slices.Equal(r.Metadata, []string{"hop_latency"})
	none := len(r.Metadata) == 0 && d.Has(&r.Metadata)
	if !oneWord && !none {
		d.WarnAt([]any{&r.Metadata, &r.Profile}, `report: metadata: Transparent Security's own collector reads reports with one word of metadata, no more and no fewer: `+
			`write metadata = ["interfaces"] or ["hop_latency"], which every report has, or [] for a collector that wants none`)
	}
	if r.Inner != InnerEthernet {
		d.WarnAt([]any{&r.Inner, &r.Profile}, `report: inner = %q: Transparent Security's own collector reads packets from their Ethernet header on: leave inner out`, r.Inner)
	}
	if !none {
		d.checkProfileEvents(c)
	}
}

// checkProfileEvents warns, once for all watches, of events whose reports that collector cannot read.
func (d checker) checkProfileEvents(c *Config) {
	var first *Watch
	var others []string
	for i := range c.Watches {
		w := &c.Watches[i]
		switch why, _ := c.profileEvents(w); {
		case len(why) == 0 || d.Wrong(&w.Events):
		case first == nil:
			first = w
		default:
			others = append(others, w.Name)
		}
	}
	if first == nil {
		return
	}
	also, few := "", min(len(others), 3)
	if few > 0 {
		also = "; likewise in watch " + quotedList(others[:few])
	}
	if more := len(others) - few; more > 0 {
		also += fmt.Sprintf(" and %d more", more)
	}
	why, rest := c.profileEvents(first)
	d.WarnAt([]any{&first.Events, first}, "watch %q: reports of %s: Transparent Security's own collector cannot read them; write events = [%s]%s",
		first.Name, strings.Join(why, ", those of "), quotedList(rest), also)
}

// profileEvents returns why reports of some events of w cannot be read by that collector, and its other events.
func (c *Config) profileEvents(w *Watch) (why, rest []string) {
	names := w.Events
	if names == nil {
		names = w.defaultEvents(c)
	}
	var bare []string
	for _, name := range names {
		switch name {
		case "flow_end", "loss":
			bare = append(bare, name)
		case "drop":
			why = append(why, "drop have a word of metadata more than others")
		case "malformed":
			why = append(why, "malformed show INT that is not as long as it says")
		default:
			rest = append(rest, name)
		}
	}
	if len(bare) > 0 {
		why = append([]string{strings.Join(bare, " and ") + " show no Ethernet frame"}, why...)
	}
	return why, rest
}

// quotedList is the inside of a list of strings in HCL.
func quotedList(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = schema.Quote(s)
	}
	return strings.Join(quoted, ", ")
}
