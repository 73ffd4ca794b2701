// Fills in and checks the report profile transparent-security: frames of 200 bytes, and the
// fragment that fits.

package conf

import "net/netip"

// transparentSecurityBytes is the frame of a report packet of that profile: its document
// allows report packets of 200 bytes, which is taken for the whole frame.
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
