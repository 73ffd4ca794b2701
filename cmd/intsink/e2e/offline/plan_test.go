package offline_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/plan"
	"intsink/cmd/intsink/internal/simulate"
)

// planned is what plan makes of a capture with the configuration of replayFile, and
// more of it.
func planned(t *testing.T, capture, more string, args ...string) (p plan.Result, stderr string) {
	t.Helper()
	conf := sinktest.Write(t, filepath.Join(t.TempDir(), "c.hcl"), sinktest.Offline("udp_port = 5000")+more)
	stdout, stderr, code := sinktest.Run(t, append([]string{"plan", "--config", conf, "--in", capture, "--format", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &p); err != nil {
		t.Fatalf("%q: %v", stdout, err)
	}
	return p, stderr
}

// threeSeconds has 10 new flows in the first second, 30 in the second and 5 in the
// third, which is half a second long.
func threeSeconds(t *testing.T) string {
	t.Helper()
	var times []int64
	var frames [][]byte
	for second, n := range []int64{10, 30, 5} {
		for i := range n {
			times = append(times, int64(second)*1e9+i*1e7)
			frames = append(frames, sinktest.IntFrame(t, len(frames)))
		}
	}
	times = append(times, 2.5e9)
	return sinktest.Classic(t, filepath.Join(t.TempDir(), "in"), 65535, times, append(frames, sinktest.IntFrame(t, 0))...)
}

// TestPlanCountsPerSecond: means and peaks of events, reports, packets and bits.
func TestPlanCountsPerSecond(t *testing.T) {
	in := threeSeconds(t)
	p, stderr := planned(t, in, `report {
  coalesce { max_reports = 1 }
}
`)
	if stderr != "" {
		t.Errorf("stderr %q", stderr)
	}
	if p.Seconds != 2.5 || p.Packets.Received != 46 || p.Packets.INT != 46 || p.Flows.Watched != 45 || p.Flows.Peak != 45 {
		t.Errorf("%+v", p)
	}
	e := p.Event("new_flow")
	want := plan.Rate{Total: 45, Mean: 18, Peak: 30}
	if e.Fired != want || e.Reports != want || math.Abs(e.Share-45./46) > 1e-9 || len(e.Suppressed) > 0 {
		t.Errorf("new_flow %+v, want %+v", e, want)
	}
	// Everything that replay writes is counted, to the byte.
	r := sinktest.ReplayFile(t, in, "report {\n  coalesce { max_reports = 1 }\n}\n")
	bits := uint64(0)
	for _, f := range r.Reports {
		bits += 8 * uint64(len(f.Data))
	}
	c := p.Collectors[0]
	if c.Collector != "primary" || c.Packets.Total != uint64(len(r.Reports)) || c.Bits.Total != bits || c.Packets.Peak < 30 || c.Packets.Peak > 31 {
		t.Errorf("%+v, want %d packets and %d bits", c, len(r.Reports), bits)
	}
	for name, n := range r.Summary.Reports {
		if got := p.Event(name).Reports.Total; got != n {
			t.Errorf("%s: %d reports, replay gives %d", name, got, n)
		}
	}
	if len(p.Events) != len(r.Summary.Reports) {
		t.Errorf("events %+v, replay gives %v", p.Events, r.Summary.Reports)
	}
}

func TestPlanAgainst(t *testing.T) {
	dir, in := t.TempDir(), threeSeconds(t)
	old := sinktest.Write(t, filepath.Join(dir, "old.hcl"), sinktest.Offline("udp_port = 5000")+"events {\n  new_flow { rate = 10 }\n}\n")
	p, _ := planned(t, in, "", "--against", old)
	if p.Against == nil {
		t.Fatal("no comparison")
	}
	e := p.Against.Event("new_flow")
	if p.Event("new_flow").Reports.Total != 45 || e.Fired.Total != 45 || e.Reports.Total+e.Suppressed["rate"] != 45 || e.Suppressed["rate"] == 0 {
		t.Errorf("against %+v", e)
	}
	conf := sinktest.Write(t, filepath.Join(dir, "new.hcl"), strings.Replace(sinktest.Offline("udp_port = 5000"), `"primary"`, `"other"`, 1))
	stdout, stderr, code := sinktest.Run(t, "plan", "--config", conf, "--in", in, "--against", old)
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	for _, want := range []string{
		"2.5 s, 46 packets, 46 with INT", conf + ": 45 flows watched, at most 45 in the table, 0 evicted",
		"new_flow        18    30         18    30      97.8       10.8    +67%", "other ", "primary", "-100%", "new",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
}

// TestFlowsByWatch: plan and replay say which watch took how many flows, also one that took none, and how many none took.
func TestFlowsByWatch(t *testing.T) {
	dir, in := t.TempDir(), threeSeconds(t)
	const watches = `
watch "few" {
  match { source = "10.0.0.0/29" }
}
watch "none" {
  match { source = "192.0.2.0/24" }
}
`
	for rest, left := range map[string]string{"watch \"all\" {}\n": "all", "": ""} {
		conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), strings.Replace(sinktest.Offline("udp_port = 5000"), "watch \"all\" { sample = 100 }\n", watches+rest, 1))
		var p plan.Result
		if err := json.Unmarshal([]byte(sinktest.Must(t, "plan", "--config", conf, "--in", in, "--format", "json")), &p); err != nil {
			t.Fatal(err)
		}
		if want := []simulate.FlowsOfWatch{{Watch: "few", Flows: 8}, {Watch: "none"}, {Watch: left, Flows: 37}}; !slices.Equal(p.Flows.ByWatch, want) {
			t.Errorf("plan: %+v, want %+v", p.Flows.ByWatch, want)
		}
		if left == "" {
			left = "no watch"
		}
		want := "few 8, none 0, " + left + " 37\n"
		if said := sinktest.Must(t, "plan", "--config", conf, "--in", in); !strings.Contains(said, conf+": by watch: "+want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
		if said := sinktest.Must(t, "replay", "--config", conf, "--in", in, "--out", filepath.Join(dir, "out"), "--reports", filepath.Join(dir, "rep")); !strings.Contains(said, "by watch   "+want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
}

// TestPlanOfOddCaptures: what cannot be taken as it is gets a warning, gaps and jumps
// of time no trouble.
func TestPlanOfOddCaptures(t *testing.T) {
	f := sinktest.IntFrame(t, 1)
	long := func(n int) []byte { return append(slices.Clone(f), make([]byte, n-len(f))...) }
	const day = 86400_000_000_000
	for _, c := range []struct {
		name     string
		times    []int64
		frames   [][]byte
		received uint64
		ends     uint64
		warning  string
	}{
		{"nothing", nil, nil, 0, 0, "there is no packet"},
		{"one packet", []int64{0}, [][]byte{f}, 1, 0, "shorter than a second"},
		{"long frames", []int64{0, 1, 2, 3e9}, [][]byte{f, long(65535), long(65536), long(9000)}, 3, 0, "1 of 4 packets are longer"},
		{"backwards", []int64{2e9, 0, 4e9}, [][]byte{f, f, f}, 3, 0, "1 of 3 packets have an earlier time"},
		{"a year's gap", []int64{0, 365 * day}, [][]byte{f, f}, 2, 1, ""},
		{"the end of time", []int64{0, math.MaxInt64 - sinktest.CaptureStart - 2e9}, [][]byte{f, f}, 2, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sinktest.Classic(t, filepath.Join(t.TempDir(), "in"), 262144, c.times, c.frames...)
			if c.name == "the end of time" {
				path = sinktest.Write(t, path, string(slices.Concat(section(), iface(layers.LinkTypeEthernet),
					enhanced(0, sinktest.CaptureStart/1000, f), enhanced(0, math.MaxInt64/1000-1e6, f))))
			}
			p, stderr := planned(t, path, "")
			if p.Packets.Received != c.received || p.Event("flow_end").Reports.Total != c.ends {
				t.Errorf("%s: %+v", c.name, p)
			}
			if !strings.Contains(stderr, c.warning) || c.warning == "" && stderr != "" {
				t.Errorf("%s: stderr %q, want %q", c.name, stderr, c.warning)
			}
		})
	}
}

func TestPlanOverBudget(t *testing.T) {
	conf := strings.Replace(sinktest.Offline("udp_port = 5000"), `collector "primary" { address = "192.0.2.10:8555" }`, `collector "primary" {
  address = "192.0.2.10:8555"
  budget { packets = 20 }
}
report {
  coalesce { max_reports = 1 }
}`, 1)
	path := sinktest.Write(t, filepath.Join(t.TempDir(), "c.hcl"), conf)
	stdout, _, code := sinktest.Run(t, "plan", "--config", path, "--in", threeSeconds(t))
	if code != 0 || !strings.Contains(stdout, "primary: its budget sheds new_flow ") || !strings.Contains(stdout, "  budget ") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}

func TestPlanUsage(t *testing.T) {
	dir := t.TempDir()
	in := threeSeconds(t)
	good := sinktest.Write(t, filepath.Join(dir, "good.hcl"), sinktest.Offline("udp_port = 5000"))
	bad := sinktest.Write(t, filepath.Join(dir, "bad.hcl"), "nod {}\n")
	b, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	b[20] = byte(layers.LinkTypeRaw)
	raw := sinktest.Write(t, filepath.Join(dir, "raw"), string(b))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--config", good}, 2, `plan needs --in:`},
		{[]string{"--in", in}, 2, `plan needs --config:`},
		{[]string{"--config", good, "--in", in, "--format", "xml"}, 2, "text or json"},
		{[]string{"--config", good, "--in", in, "x"}, 2, "x"},
		{[]string{"--config", bad, "--in", in}, 1, "bad.hcl:1:1: error"},
		{[]string{"--config", good, "--in", in, "--against", bad}, 1, "bad.hcl:1:1: error"},
		{[]string{"--config", good, "--in", filepath.Join(dir, "none")}, 1, "no such file"},
		{[]string{"--config", good, "--in", good}, 1, "not a pcap"},
		{[]string{"--config", good, "--in", raw}, 1, "need Ethernet"},
	} {
		_, stderr, code := sinktest.Run(t, append([]string{"plan"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %q; want %d and %q", c.args, code, stderr, c.code, c.want)
		}
	}
}
