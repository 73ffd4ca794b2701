package rules

import (
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/sinkconf"
	"intsink/conf"
	"intsink/engine/wire/inthdr"
)

// TestReadingOfINT: how INT is read, as the file says it.
func TestReadingOfINT(t *testing.T) {
	for _, c := range []struct {
		attributes string
		want       func(c *inthdr.Config) bool
	}{
		{``, func(c *inthdr.Config) bool {
			return !c.GEANT && !c.ShimInclusive && !c.KeepChecksum && c.Ignored == [inthdr.NumTypes]bool{} && c.Version2 && !c.Version1
		}},
		{`shim_length = "inclusive"`, func(c *inthdr.Config) bool { return c.ShimInclusive }},
		{`checksum = "keep"`, func(c *inthdr.Config) bool { return c.KeepChecksum }},
		{"versions = [\"2\", \"1\"]\nint1_dialect = \"geant\"", func(c *inthdr.Config) bool { return c.GEANT && c.Version1 }},
		{`types = ["md", "mx"]`, func(c *inthdr.Config) bool {
			return c.Ignored == [inthdr.NumTypes]bool{inthdr.Destination: true}
		}},
		{`types = ["destination"]`, func(c *inthdr.Config) bool {
			return c.Ignored == [inthdr.NumTypes]bool{inthdr.MD: true, inthdr.MX: true}
		}},
	} {
		t.Run(c.attributes, func(t *testing.T) {
			src := strings.Replace(assembleBase, "int { udp_port = 5000 }", "int {\nudp_port = 5000\n"+c.attributes+"\n}", 1)
			parsed, d := conf.Parse("test.hcl", []byte(src))
			if parsed == nil {
				t.Fatal(d.Err())
			}
			if got := sinkconf.INT(&parsed.INT); !c.want(&got) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestLatenciesAreNotCut: each up to the most that the configuration takes, and twice a deadband fits, too.
func TestLatenciesAreNotCut(t *testing.T) {
	var e conf.Events
	e.Congestion.RaiseLatency, e.HopLatency.Absolute = 4*time.Second, 2*time.Second
	got := thresholds(&e)
	if got.CongestionLatency != 4e9 || got.Latency.Absolute != 2e9 || 2*got.Latency.Absolute != 4e9 {
		t.Errorf("raise_latency %d, absolute %d", got.CongestionLatency, got.Latency.Absolute)
	}
}
