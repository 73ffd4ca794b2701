package installed_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/deploy/playground/scene"
)

// TestReplayTellsProblems: the summary of a capture in which a queue fills says which queue, since when, and who fills it, in
// text and as the API does; twice the same.
func TestReplayTellsProblems(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.pcap")
	var capture bytes.Buffer
	w := pcapgo.NewWriterNanos(&capture)
	w.WriteFileHeader(65535, layers.LinkTypeEthernet)
	n, now := scene.New(), time.Unix(0, sinktest.CaptureStart)
	for step := range 22_000 { // 80 s
		if step == 17_000 {
			if _, err := n.Do("fill"); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.Step(step, now, func(frame []byte) {
			w.WritePacket(gopacket.CaptureInfo{Timestamp: now, CaptureLength: len(frame), Length: len(frame)}, frame)
		}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(scene.Pause)
	}
	if err := os.WriteFile(in, capture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func() string {
		stdout, stderr, code := sinktest.Run(t, "replay", "--config", "../../../../deploy/playground/playground.hcl", "--in", in, "--out", filepath.Join(dir, "out"), "--reports", filepath.Join(dir, "reports"))
		if code != 0 {
			t.Fatal(stderr)
		}
		return stdout
	}
	stdout := run()
	if !regexp.MustCompile(`(?m)^problems   1, of which 1 at the end\n! node 302, egress 12, queue 2: .* \(since .* UTC, 19s\)\n    .* x its usual .*\n    filled by udp:10.2.0.19:40055-10.3.2.12:8000 with 93 % of its bytes\n    delays udp:`).MatchString(stdout) {
		t.Error(stdout)
	}
	all := sinktest.LastLine(t, stdout).Problems
	if len(all) != 1 || all[0].Kind != problem.QueueCongested || len(all[0].Evidence.Culprits) == 0 || !strings.Contains(all[0].Evidence.Culprits[0].Flow, ":40055-") {
		t.Errorf("%+v", all)
	}
	if again := run(); again != stdout {
		t.Errorf("another time it says\n%s", again)
	}
}

// TestReadmesCapture: the capture that the README has replayed has something wrong in it, and replay says what.
func TestReadmesCapture(t *testing.T) {
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	typed := regexp.MustCompile(`(?m)^bin/intsink (gen --out) int.pcap (.*)$`).FindSubmatch(readme)
	if typed == nil {
		t.Fatal("the README has no gen")
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "int.pcap")
	if _, stderr, code := sinktest.Run(t, append(append(strings.Fields(string(typed[1])), in), strings.Fields(string(typed[2]))...)...); code != 0 {
		t.Fatal(stderr)
	}
	stdout, stderr, code := sinktest.Run(t, "replay", "--config", "../../../../conf/examples/minimal.hcl", "--in", in, "--out", filepath.Join(dir, "out"), "--reports", filepath.Join(dir, "reports"))
	if code != 0 || !regexp.MustCompile(`(?m)^! node 102\b`).MatchString(stdout) {
		t.Errorf("%s%s", stdout, stderr)
	}
}
