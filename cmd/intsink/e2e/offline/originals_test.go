package offline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// TestReplayGivesBackTheOriginals: gen inserts, replay strips, over DPDK's pcap
// driver, for every marking; twice gives the same bytes.
func TestReplayGivesBackTheOriginals(t *testing.T) {
	for _, c := range []struct{ name, marking, flags string }{
		{"udp", `udp_port = 5000`, "--encap udp"},
		{"udp over ipv6 and vlan", `udp_port = 5000`, "--encap udp --ipv6 --vlan 7"},
		{"new udp header before tcp", `udp_port = 5000`, "--encap udp-new --proto tcp --size 200"},
		{"tcp by dscp", `dscp = { value = 23, mask = 63 }`, "--encap dscp --proto tcp --size 200"},
		{"probe marker", `probe_marker = "0x0102030405060708"`, "--encap probe --size 160"},
		{"jumbo frames", `udp_port = 5000`, "--size 9000 --hops 12"},
		{"half of it plain", `udp_port = 5000`, "--plain 0.5 --path-change-every 250 --latency-step-every 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in, orig := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "orig.pcap")
			sinktest.Must(t, append([]string{"gen", "--out", in, "--original", orig, "--flows", "40", "--count", "1500"}, strings.Fields(c.flags)...)...)
			conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline(c.marking))
			var out, reports [2]string
			for i := range 2 {
				out[i], reports[i] = filepath.Join(dir, "out"+string(rune('0'+i))), filepath.Join(dir, "rep"+string(rune('0'+i)))
				s := sinktest.LastLine(t, sinktest.Must(t, "replay", "--config", conf, "--in", in, "--out", out[i], "--reports", reports[i]))
				if s.Received != 1500 || s.Forwarded != 1500 || s.Reports["new_flow"] != 40 {
					t.Errorf("summary %+v", s)
				}
			}
			if !sameFile(t, orig, out[0]) {
				t.Error("the packets behind the sink are not the originals")
			}
			if !sameFile(t, out[0], out[1]) || !sameFile(t, reports[0], reports[1]) {
				t.Error("two runs gave different bytes")
			}
			if n := strings.Count(sinktest.Must(t, "decode", "--port", "8555", reports[0]), "\n"); n < 40 {
				t.Errorf("%d reports decoded, want at least one per flow", n)
			}
		})
	}
}

func TestReplayRefusesWithOneClearError(t *testing.T) {
	dir := t.TempDir()
	conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline("udp_port = 5000"))
	garbage := sinktest.Write(t, filepath.Join(dir, "garbage.pcap"), "this is no capture")
	for _, c := range []struct{ in, want string }{
		{garbage, "not a pcap or pcapng capture"},
		{filepath.Join(dir, "missing.pcap"), "no such file"},
	} {
		t.Run(c.in, func(t *testing.T) {
			_, stderr, code := sinktest.Run(t, "replay", "--config", conf, "--in", c.in, "--out", dir+"/o", "--reports", dir+"/r")
			if code != 1 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("replay of %s: exit code %d, %q; want 1 and one line with %q", c.in, code, stderr, c.want)
			}
		})
	}
}
