package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/conf"
)

// TestBudgetReload: a budget changes while the appliance runs, the rest of a
// collector does not.
func TestBudgetReload(t *testing.T) {
	load := func(collector string) *conf.Config {
		path := write(t, filepath.Join(t.TempDir(), "c.hcl"), strings.Replace(config("udp_port = 5000"), `{ address = "192.0.2.10:8555" }`, collector, 1))
		c, d := conf.Load(path)
		if c == nil {
			t.Fatal(d.Err())
		}
		return c
	}
	old := load("{\n  address = \"192.0.2.10:8555\"\n}")
	budget := load("{\n  address = \"192.0.2.10:8555\"\n  budget {\n    packets = 1000\n    bits    = 5000000\n    burst   = \"200ms\"\n  }\n}")
	more := load("{\n  address = \"192.0.2.11:8555\"\n}\nhttp { listen = \"\" }\nflows { capacity = 16 }")
	if what := needsRestart(old, more); what != "flows, collector, http" {
		t.Errorf("three changes need %q", what)
	}
	other := load("{\n  address = \"192.0.2.11:8555\"\n}")
	if what := needsRestart(old, budget); what != "" {
		t.Errorf("a budget needs a restart: %s", what)
	}
	if what := needsRestart(old, other); what != "collector" {
		t.Errorf("another address needs %q", what)
	}
	got := rulesOf(budget).Report.Budgets[0]
	if got.Packets != 1000 || got.Bits != 5_000_000 || got.Burst != int64(200*time.Millisecond) || got.Headers != 42 {
		t.Errorf("%+v", got)
	}
}

// TestReplayWithABudget: fewer reports, the same packets, and the same each time.
func TestReplayWithABudget(t *testing.T) {
	dir := t.TempDir()
	var frames [][]byte
	var times []int64
	for n := range 400 {
		frames = append(frames, intFrame(t, n))
		times = append(times, int64(n)*5e6) // 2 s
	}
	in := classic(t, filepath.Join(dir, "in.pcap"), 65535, times, frames...)
	text := strings.Replace(config("udp_port = 5000"), `{ address = "192.0.2.10:8555" }`,
		"{\n  address = \"192.0.2.10:8555\"\n  budget {\n    packets = 20\n    burst   = \"500ms\"\n  }\n}", 1)
	path := write(t, filepath.Join(dir, "c.hcl"), text)
	var last [2]string
	for i := range last {
		stdout, stderr, code := intsink(t, "replay", "--config", path, "--in", in,
			"--out", filepath.Join(dir, "out.pcap"), "--reports", filepath.Join(dir, "reports.pcap"))
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		last[i] = lines[len(lines)-1]
	}
	var s summary
	if err := json.Unmarshal([]byte(last[0]), &s); err != nil || last[0] != last[1] {
		t.Fatalf("%v: %q, %q", err, last[0], last[1])
	}
	if n := s.Reports["new_flow"]; n < 40 || n > 50 || s.Forwarded != 400 {
		t.Errorf("%d of 400 new flows reported, budget 20 a second for 2 s and a burst of 10: %s", n, last[0])
	}
}
