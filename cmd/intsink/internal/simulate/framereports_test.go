package simulate

import (
	"net/netip"
	"testing"

	"intsink/conf"
	"intsink/engine/wire/report"
)

// TestSourcePortOfFrames: a file has the source port that the sink would send from, where that follows from the flow or
// stands in the configuration; 0 where the kernel chooses. DSCP and TTL are the configuration's.
func TestSourcePortOfFrames(t *testing.T) {
	h := report.Handoff{Entropy: 0x1234}
	for _, c := range []struct {
		mode conf.SourcePortMode
		port string
		want uint16
	}{
		{conf.HashedSourcePort, "", report.EntropyPort(0x1234)},
		{conf.HashedSourcePort, "telemetry", report.EntropyPort(0x1234)},
		{conf.FixedSourcePort, "", 777},
		{conf.AnySourcePort, "", 0},
	} {
		col := &conf.Collector{Address: netip.MustParseAddrPort("192.0.2.10:8555"), SourcePortMode: c.mode, Port: c.port, DSCP: 46, TTL: 9}
		if c.mode == conf.FixedSourcePort {
			col.SourcePort = 777
		}
		f := FrameOf(col)
		if to := f.To(h); to.Src.Port() != c.want || to.DSCP != 46 || to.TTL != 9 {
			t.Errorf("%s by %q: %+v, want port %d", c.mode, c.port, to, c.want)
		}
	}
}
