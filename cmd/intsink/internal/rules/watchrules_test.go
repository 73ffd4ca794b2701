package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/sinkconf"
	"intsink/conf"
	"intsink/engine/stage/tonetwork"
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

// TestLinksOfWatchesAndINT: links and taps are counted as workers have them, and each has its rules of INT.
func TestLinksOfWatchesAndINT(t *testing.T) {
	src := strings.Replace(assembleBase, `  host    = "host"
}`, `  host    = "host"
}
port "n2" { device = "net_null2" }
port "h2" { device = "net_null3" }
port "s" { device = "net_null4" }
link "own" {
  network = "n2"
  host    = "h2"
  int {
    udp_port  = 6000
    malformed = "drop"
    leak      = "strip"
    match { vlan = 10 }
  }
}
tap "span" { port = "s" }`, 1)
	for match, want := range map[string][]uint16{
		`link = "own"`: {2, 3}, `link = ["span", "edge"]`: {0, 1, 4}, `port = ["s", "host"]`: {1, 4}, `port = "n2"`: {2}, "link = \"own\"\nport = \"s\"": {65535}, ``: nil,
	} {
		c, d := conf.Parse("test.hcl", []byte(strings.Replace(src, `watch "all" {}`, "watch \"all\" {\n match {\n"+match+"\n}\n}", 1)))
		if c == nil {
			t.Fatal(d.Err())
		}
		r := Of(c)
		if got := r.Watches[0].Ingress; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", match, got, want)
		}
		if own := r.Own; len(own) != 3 || own[0] != nil || own[2] != nil || *own[1].INT.UDPPort != 6000 || !own[1].DropMalformed ||
			own[1].Leak != tonetwork.StripLeaks || !own[1].INT.Only.HasVLAN(10) || own[1].INT.Only.HasVLAN(11) || r.INT.Only != nil {
			t.Errorf("%+v", own)
		}
		for _, read := range sinkconf.Readers(c) {
			if read.Only != nil || !read.Fragments {
				t.Errorf("a reader takes %+v", read)
			}
		}
	}
}

// TestINTOfLinksReloads: what is in a link's int block changes while the sink runs, its ports do not.
func TestINTOfLinksReloads(t *testing.T) {
	with := func(attributes string) *conf.Config {
		c, d := conf.Parse("test.hcl", []byte(strings.Replace(assembleBase, `  host    = "host"
}`, `  host    = "host"
`+attributes+`}`, 1)))
		if c == nil {
			t.Fatal(d.Err())
		}
		return c
	}
	old, own, more := with(""), with("int { udp_port = 7 }\n"), with("mitigation = true\nint {\n udp_port = 8\n domain \"d\" {\n id = 1\n instruction \"i\" {\n bit = 0\n length = 4\n}\n}\n}\n")
	if left := NeedsRestart(conf.Diff(old, own), old, own, nil); len(left) != 0 {
		t.Errorf("%v need a restart", left)
	}
	if left := NeedsRestart(conf.Diff(own, more), own, more, nil); len(left) != 1 || left[0].Path != `link "edge".mitigation` {
		t.Errorf("%v need a restart", left)
	}
}
