package conf

import (
	"net/netip"
	"testing"
)

// TestPacketBytes: over IPv6 a report packet fits the least MTU of a link, unless the file says that the path
// takes more, or one report is longer.
func TestPacketBytes(t *testing.T) {
	four, six := netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("[2001:db8::1]:1")
	for _, c := range []struct {
		col                Collector
		maxBytes, fragment int
		want               int
	}{
		{Collector{Address: four}, 1400, 128, 1400},
		{Collector{Address: six}, 1400, 128, 1294},
		{Collector{Address: six, VLAN: 7}, 1400, 128, 1298},
		{Collector{Address: six}, 600, 128, 600},
		{Collector{Address: six}, 1500, 128, 1500},
		{Collector{Address: netip.AddrPortFrom(netip.MustParseAddr("::ffff:192.0.2.1"), 1)}, 1400, 128, 1400},
	} {
		f := defaultConfig()
		f.Report.Coalesce.MaxBytes, f.Report.Fragment, f.Collectors = c.maxBytes, c.fragment, []Collector{c.col}
		if got := f.PacketBytes(&c.col); got != c.want {
			t.Errorf("%+v, max_bytes %d: %d, want %d", c.col, c.maxBytes, got, c.want)
		}
	}
	f := defaultConfig()
	f.Report.Fragment = 1240
	if got, one := f.PacketBytes(&Collector{Address: six}), leastReport(f); got != one || one <= 1294 {
		t.Errorf("a report of %d bytes: %d", one, got)
	}
}
