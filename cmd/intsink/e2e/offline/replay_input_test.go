package offline_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestReplayOfOtherInput: replay and plan read compressed captures, packets with more captured
// bytes than their length on the wire, odd paths and standard input.
func TestReplayOfOtherInput(t *testing.T) {
	dir, f := t.TempDir(), sinktest.IntFrame(t, 1)
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	gzipped := func(b []byte) string {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		z.Write(b)
		z.Close()
		return out.String()
	}
	pcap := read(sinktest.Classic(t, filepath.Join(dir, "in.pcap"), 65535, []int64{0, 1000, 2000}, f, f, f))
	more := slices.Clone(pcap)
	binary.LittleEndian.PutUint32(more[24+12:], uint32(len(f)-2)) // on the wire
	ng := slices.Concat(section(), iface(1), enhanced(0, sinktest.CaptureStart/1000, f), enhanced(0, sinktest.CaptureStart/1000+1, f), enhanced(0, sinktest.CaptureStart/1000+2, f))
	for _, c := range []struct{ name, content string }{
		{"plain.pcap", string(pcap)}, {"in.pcap.gz", gzipped(pcap)}, {"in.pcapng.gz", gzipped(ng)}, {"more,than=there.pcap", string(more)}, {"more.pcap", string(more)},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sinktest.Write(t, filepath.Join(dir, c.name), c.content)
			r := sinktest.ReplayFile(t, path, "")
			if r.Code != 0 || r.Summary.Received != 3 || len(r.Out) != 3 || r.Out[2].At != 2000 || strings.Contains(r.Stderr, "warning") {
				t.Errorf("exit code %d, %+v, %d frames: %s", r.Code, r.Summary, len(r.Out), r.Stderr)
			}
			conf := sinktest.Write(t, filepath.Join(t.TempDir(), "c.hcl"), sinktest.Offline("udp_port = 5000"))
			if stdout, stderr, code := sinktest.Run(t, "plan", "--config", conf, "--in", path); code != 0 || !strings.Contains(stdout, "3") {
				t.Errorf("plan: exit code %d, %s %s", code, stdout, stderr)
			}
		})
	}
	conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline("udp_port = 5000"))
	cmd := exec.Command(os.Args[0], "replay", "--config", conf, "--in", "-", "--out", filepath.Join(dir, "out"), "--reports", filepath.Join(dir, "reports"))
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	cmd.Stdin = bytes.NewReader(pcap)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"received":3`) {
		t.Errorf("standard input: %v, %s", err, out)
	}
	cmd = exec.Command(os.Args[0], "plan", "--config", conf, "--against", conf, "--in", "-") // reads it twice
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	cmd.Stdin = bytes.NewReader(pcap)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "standard input: 0.0 s, 3 packets, 3 with INT") {
		t.Errorf("plan of standard input: %v, %s", err, out)
	}
}
