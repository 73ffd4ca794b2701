package offline_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/simulate"
)

// TestReplayWithABudget: fewer reports, the same packets, and the same each time.
func TestReplayWithABudget(t *testing.T) {
	dir := t.TempDir()
	var frames [][]byte
	var times []int64
	for n := range 400 {
		frames = append(frames, sinktest.IntFrame(t, n))
		times = append(times, int64(n)*5e6) // 2 s
	}
	in := sinktest.Classic(t, filepath.Join(dir, "in.pcap"), 65535, times, frames...)
	text := strings.Replace(sinktest.Offline("udp_port = 5000"), `{ address = "192.0.2.10:8555" }`,
		"{\n  address = \"192.0.2.10:8555\"\n  budget {\n    packets = 20\n    burst   = \"500ms\"\n  }\n}", 1)
	path := sinktest.Write(t, filepath.Join(dir, "c.hcl"), text)
	var last [2]string
	for i := range last {
		stdout, stderr, code := sinktest.Run(t, "replay", "--config", path, "--in", in,
			"--out", filepath.Join(dir, "out.pcap"), "--reports", filepath.Join(dir, "reports.pcap"))
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		last[i] = lines[len(lines)-1]
	}
	var s simulate.Summary
	if err := json.Unmarshal([]byte(last[0]), &s); err != nil || last[0] != last[1] {
		t.Fatalf("%v: %q, %q", err, last[0], last[1])
	}
	if n := s.Reports["new_flow"]; n < 40 || n > 50 || s.Forwarded != 400 {
		t.Errorf("%d of 400 new flows reported, budget 20 a second for 2 s and a burst of 10: %s", n, last[0])
	}
}
