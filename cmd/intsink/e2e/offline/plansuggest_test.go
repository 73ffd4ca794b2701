package offline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestPlanSuggests: the block that --suggest prints is one that a configuration takes; it says how often each threshold would
// have fired: with it, the latencies of a calm capture report nothing, and a capture without INT says so.
func TestPlanSuggests(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.pcap")
	if _, stderr, code := sinktest.Run(t, "gen", "--out", in, "--flows", "5", "--count", "2000", "--pps", "1000"); code != 0 {
		t.Fatal(stderr)
	}
	file := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline("udp_port = 5000"))
	block, stderr, code := sinktest.Run(t, "plan", "--config", file, "--in", in, "--suggest")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"# " + in + ": 2.0 s, 2000 packets with INT", "events {", `raise         = "auto"`, "0 in 2.0 s, 0 reports"} {
		if !strings.Contains(block, want) {
			t.Errorf("%q is missing in\n%s", want, block)
		}
	}
	with := sinktest.Write(t, filepath.Join(dir, "with.hcl"), sinktest.Offline("udp_port = 5000")+block)
	if _, stderr, code := sinktest.Run(t, "plan", "--config", with, "--in", in); code != 0 {
		t.Errorf("the block is not taken: %s\n%s", stderr, block)
	}
	if _, stderr, code := sinktest.Run(t, "gen", "--out", in, "--flows", "5", "--count", "20"); code != 0 {
		t.Fatal(stderr)
	}
	const own = "events {\n  hop_latency { absolute = \"70us\" }\n  end_to_end { absolute = \"90us\" }\n}\n"
	few, stderr, _ := sinktest.Run(t, "plan", "--config", sinktest.Write(t, filepath.Join(dir, "own.hcl"), sinktest.Offline("udp_port = 5000")+own), "--in", in, "--suggest")
	if !strings.Contains(few, `hop_latency { absolute = "70us" }`) || !strings.Contains(few, `end_to_end { absolute = "90us" }`) || !strings.Contains(few, "unknown, left as it is") {
		t.Errorf("of 20 packets: %s\n%s", few, stderr)
	}
	if _, stderr, code := sinktest.Run(t, "plan", "--config", file, "--in", in, "--suggest", "--format", "json"); code == 0 || !strings.Contains(stderr, "--suggest prints a block") {
		t.Errorf("with --format json: exit code %d, %s", code, stderr)
	}
}
