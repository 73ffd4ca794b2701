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

// replayed are the problems that replay tells of generated packets: 130 seconds, 200 packets each.
func replayed(t *testing.T, gen, text string) []*problem.Problem {
	t.Helper()
	dir := t.TempDir()
	in, config := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "sink.hcl")
	sinktest.Write(t, config, text)
	if _, stderr, code := sinktest.Run(t, append(strings.Fields("gen --out "+in+" --flows 10 --pps 200 --count 26000"), strings.Fields(gen)...)...); code != 0 {
		t.Fatal(stderr)
	}
	stdout, stderr, code := sinktest.Run(t, "replay", "--config", config, "--in", in, "--out", filepath.Join(dir, "out"), "--reports", filepath.Join(dir, "reports"))
	if code != 0 {
		t.Fatal(stderr)
	}
	return sinktest.LastLine(t, stdout).Problems
}

// TestReplayTellsABusyInterface: an interface whose load rises and falls is one problem, with its place, its load, when it began and when it
// was over; one that falls for seconds only is busy all the time; and where nobody knows what is full nothing is told.
func TestReplayTellsABusyInterface(t *testing.T) {
	minimal, err := os.ReadFile("../../../../conf/examples/minimal.hcl")
	if err != nil {
		t.Fatal(err)
	}
	const seconds = 130
	for name, c := range map[string]struct {
		gen, model string
		times      int
		from, to   float64 // of the last time, seconds; to: 0: it is open
	}{
		"for good":        {"--busy-after 30s", `node_model "all" { tx_utilization_full = 100 }`, 0, 31, 0},
		"twice":           {"--busy-after 30s --busy-for 25s", `node_model "all" { tx_utilization_full = 100 }`, 2, 81, 105},
		"every 6 seconds": {"--busy-after 30s --busy-for 3s", `node_model "all" { tx_utilization_full = 100 }`, 0, 31, 0},
		"unit not known":  {"--busy-after 30s", "", -1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := replayed(t, c.gen, string(minimal)+"\n"+c.model+"\n")
			if c.times < 0 {
				if len(all) != 0 {
					t.Errorf("%+v", all)
				}
				return
			}
			if len(all) != 1 || all[0].Kind != problem.InterfaceBusy || all[0].Where() != "node 102, egress 2" || all[0].Times != c.times || all[0].Amount() != "97 %" {
				t.Fatalf("%+v", all)
			}
			p, began := all[0], all[0].Since
			if p.Again != nil {
				began = *p.Again
			}
			start := time.Unix(1_700_000_000, 0)
			near := func(at time.Time, want float64) bool {
				return max(at.Sub(start).Seconds()-want, want-at.Sub(start).Seconds()) < 2
			}
			if !near(p.Since, 31) || !near(began, c.from) || (p.Until == nil) != (c.to == 0) || p.Until != nil && !near(*p.Until, c.to) {
				t.Errorf("since %v, again %v, until %v", p.Since, began, p.Until)
			}
			if wrong := p.Lasted(start.Add(seconds * time.Second)).Seconds(); c.times == 2 && (wrong < 45 || wrong > 52) {
				t.Errorf("it was wrong for %v s", wrong)
			}
		})
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
