package conf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// base is valid and gives no warning.
const base = `
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
collector "primary" { address = "192.0.2.10:8555" }
`

func mustParse(t *testing.T, src string) *Config {
	t.Helper()
	c, d := parse("test.hcl", []byte(src), fakeMachine())
	if c == nil {
		t.Fatal(d.Err())
	}
	return c
}

func TestDefaultsThatRun(t *testing.T) {
	c := mustParse(t, base+`watch "all" {}`)
	if got := c.DPDK.Lcores; !slices.Equal(got, []int{7}) {
		t.Errorf("lcores %v, want the last CPU", got)
	}
	if c.DPDK.Mbufs != 65536 || c.HTTP.Listen != "127.0.0.1:9465" || c.Report.Fragment != WholeINT ||
		c.Report.Coalesce.MaxBytes != 1400 || c.Report.Coalesce.MaxDelay != time.Millisecond {
		t.Errorf("defaults: %+v", c)
	}
	if c.Ports[0].ID != 1 || c.Ports[1].ID != 2 {
		t.Errorf("port ids %d, %d", c.Ports[0].ID, c.Ports[1].ID)
	}
	if c.Collectors[0].SourcePortMode != "any" {
		t.Errorf("source port mode %q", c.Collectors[0].SourcePortMode)
	}
	if w := c.Watches[0]; w.Match != nil || w.Override != nil || !slices.Contains(w.Events, "congestion") ||
		!slices.Contains(w.Events, "new_flow") || !slices.Equal(w.Collectors, []string{"primary"}) {
		t.Errorf("watch %+v", w)
	}
}

func TestSourcePort(t *testing.T) {
	for src, want := range map[string]Collector{
		``:                     {SourcePortMode: "any"},
		`source_port = 0`:      {SourcePortMode: "fixed"},
		`source_port = 9000`:   {SourcePortMode: "fixed", SourcePort: 9000},
		`source_port = "hash"`: {SourcePortMode: "hash"},
	} {
		t.Run(src, func(t *testing.T) {
			c := mustParse(t, strings.Replace(base, `{ address = "192.0.2.10:8555" }`, "{\naddress = \"192.0.2.10:8555\"\n"+src+"\n}", 1))
			got := c.Collectors[0]
			if got.SourcePortMode != want.SourcePortMode || got.SourcePort != want.SourcePort {
				t.Errorf("%q: %q %d", src, got.SourcePortMode, got.SourcePort)
			}
		})
	}
}

func TestProfileAndOverride(t *testing.T) {
	c := mustParse(t, base+`
events {
  hop_latency { k = 4 }
  profile = "wan"
  congestion { raise = 8000 }
}
watch "a" {
  match { protocol = "udp" }
  events_override {
    hop_latency { absolute = "1us" }
  }
}
watch "b" {
  events_override { profile = "dc" }
}`)
	if e := c.Events.HopLatency; e.K != 4 || e.N != 8 || e.Absolute != 100*time.Microsecond || e.Relative != 0.25 {
		t.Errorf("wan: %+v", e)
	}
	if c.Events.EndToEnd.Absolute != time.Millisecond {
		t.Errorf("wan end_to_end: %v", c.Events.EndToEnd.Absolute)
	}
	if e := c.Events.Congestion; e.Clear != 4000 || e.RaiseLatency != 0 {
		t.Errorf("clear %d, want half of raise; raise_latency %v, want none with a number", e.Clear, e.RaiseLatency)
	}
	if e := c.Watches[0].Override.HopLatency; e.K != 4 || e.Absolute != time.Microsecond {
		t.Errorf("override starts from events: %+v", e)
	}
	if e := c.Watches[1].Override; e.HopLatency.K != 2 || e.Congestion.Raise != AutoRaise || e.Congestion.RaiseLatency != 100*time.Microsecond {
		t.Errorf("override with a profile starts from the profile: %+v", e)
	}
	if !slices.Contains(c.Watches[0].Events, "congestion") || !slices.Contains(c.Watches[1].Events, "congestion") {
		t.Error("congestion is on by default where it has a threshold")
	}
}

// TestCongestionByItself: raise = "auto" is the default, a number ends it, and raise_latency is its floor.
func TestCongestionByItself(t *testing.T) {
	for src, want := range map[string]Congestion{
		``:                                   {Raise: AutoRaise, RaiseLatency: 100 * time.Microsecond},
		`raise = "auto"`:                     {Raise: AutoRaise, RaiseLatency: 100 * time.Microsecond},
		`raise_latency = "1ms"`:              {Raise: AutoRaise, RaiseLatency: time.Millisecond},
		`raise = 0`:                          {},
		`raise = 7`:                          {Raise: 7, Clear: 3},
		"raise = 0\nraise_latency = \"5ms\"": {RaiseLatency: 5 * time.Millisecond},
		"raise = 9\nclear = 2":               {Raise: 9, Clear: 2},
	} {
		c := mustParse(t, base+"watch \"all\" {}\nevents {\ncongestion {\n"+src+"\n}\n}").Events.Congestion
		want.Factor, want.Quota, want.Timeout = 8, 32, time.Second
		if c != want {
			t.Errorf("%q: %+v, want %+v", src, c, want)
		}
		c = mustParse(t, base+"events {\ncongestion { raise = 7 }\n}\nwatch \"all\" {\nevents_override {\ncongestion {\nraise = \"auto\"\n}\n}\n}").Watches[0].Override.Congestion
		if c.Raise != AutoRaise || c.Clear != 0 || c.RaiseLatency != 100*time.Microsecond {
			t.Errorf("an override back to auto: %+v", c)
		}
	}
}

func TestLcoresElsewhere(t *testing.T) {
	src := []byte(base + `watch "all" {}
dpdk { lcores = "6-9" }`)
	m := fakeMachine()
	if c, _ := parse("test.hcl", src, m); c != nil {
		t.Error("lcores that do not exist are taken")
	}
	m.elsewhere = true
	c, d := parse("test.hcl", src, m)
	if c == nil || len(d.Warnings) != 1 || !slices.Equal(c.DPDK.Lcores, []int{6, 7, 8, 9}) {
		t.Errorf("%v %v", d.Err(), diagText(d.Warnings))
	}
}

func TestLoad(t *testing.T) {
	c, d := Load(filepath.Join(t.TempDir(), "missing.hcl"))
	if c != nil || d.Err() == nil || !strings.Contains(d.Err().Error(), "missing.hcl: error: there is no such file; --config says where") {
		t.Errorf("%v %v", c, d.Err())
	}
	path := filepath.Join(t.TempDir(), "a.hcl")
	if err := os.WriteFile(path, []byte(base+`watch "all" {}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, d = Load(path); c == nil || len(d.Warnings) != 0 {
		t.Errorf("%v %v", d.Err(), diagText(d.Warnings))
	}
}

// TestDumpAddsNoWarnings, and the defaults give none when they are written out.
func TestDumpAddsNoWarnings(t *testing.T) {
	for src, warnings := range map[string]int{
		`watch "all" {}`: 0,
		`watch "all" { events = ["new_flow", "loss"] }`:                                                                  0,
		"watch \"all\" {\n events_override { profile = \"wan\" }\n}":                                                     0,
		"watch \"all\" {\n events_override {\n loss { window = 16 }\n }\n}":                                              0,
		"watch \"all\" {\n events_override {}\n}\nevents {\n end_to_end { clock_offset = \"1us\" }\n}":                   1,
		"watch \"all\" {\n events_override {\n congestion { raise = 1 }\n }\n}":                                          0,
		"watch \"all\" {\n match { dscp = [1] }\n}":                                                                      0,
		"watch \"all\" {}\nevents {\n profile = \"wan\"\n loss { window = 1024 }\n end_to_end { absolute = \"1ms\" }\n}": 0,
	} {
		t.Run(src, func(t *testing.T) {
			_, d := parse("test.hcl", []byte(base+src), fakeMachine())
			if d.Err() != nil || len(d.Warnings) != warnings {
				t.Errorf("%s: %v %d warnings, want %d\n%s", src, d.Err(), len(d.Warnings), warnings, diagText(d.Warnings))
				return
			}
			_, again := parse("dump.hcl", mustParse(t, base+src).Dump(), fakeMachine())
			sameWarnings(t, d, again)
		})
	}
}

func TestLcoresText(t *testing.T) {
	for want, list := range map[string][]int{"1-4": {1, 2, 3, 4}, "4,2-3,9": {4, 2, 3, 9}, "": nil} {
		t.Run(want, func(t *testing.T) {
			if got := lcoresText(list); got != want {
				t.Errorf("%v: %q, want %q", list, got, want)
			}
		})
	}
}
