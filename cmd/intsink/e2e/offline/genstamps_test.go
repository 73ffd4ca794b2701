package offline_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestLinkLatencyFromGen: gen writes packets of a link that gets slower. The sink reports an
// event that names the link's first node and both latencies, and forwards the original packets.
func TestLinkLatencyFromGen(t *testing.T) {
	for flags, marking := range map[string]string{
		"":                          byPort,
		"--format 1 --encap dscp":   byDSCP + version1,
		"--encap geneve --ipv6":     byGeneve,
		"--encap vxlan --hops 12":   byGPE,
		"--encap probe --proto tcp": byProbe,
	} {
		dir := t.TempDir()
		in, orig, out, rep := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "orig.pcap"), filepath.Join(dir, "out.pcap"), filepath.Join(dir, "rep.pcap")
		gen := append([]string{"gen", "--out", in, "--original", orig, "--flows", "5", "--count", "1000", "--pps", "200",
			"--timestamps", "--link-latency", "20us", "--link-step-every", "500"}, strings.Fields(flags)...)
		sinktest.Must(t, gen...)
		text := strings.Replace(sinktest.Offline("\n"+marking+"\n"), `watch "all" { sample = 100 }`, `watch "all" { events = ["link_latency"] }`, 1) +
			"events {\n  link_latency { absolute = \"10us\" }\n}\n" +
			"report { explain = true }\n"
		conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), text)
		s := sinktest.LastLine(t, sinktest.Must(t, "replay", "--config", conf, "--in", in, "--out", out, "--reports", rep))
		if s.Received != 1000 || s.Forwarded != 1000 || s.Reports["link_latency"] != 1 || !sameFile(t, orig, out) {
			t.Errorf("%q: summary %+v, same originals: %v", flags, s, sameFile(t, orig, out))
		}
		var r struct {
			EventNode uint32 `json:"event_node"`
			Reference uint32 `json:"reference"`
			Value     uint32 `json:"value"`
		}
		line := strings.SplitN(sinktest.Must(t, "decode", "--port", "8555", rep), "\n", 2)[0]
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.EventNode != 101 || r.Reference < 20_000 || r.Reference > 21_000 || r.Value < 120_000 || r.Value > 121_000 {
			t.Errorf("%q: %+v\n%s", flags, r, line)
		}
	}
}

// TestTimestampsAreTheSame each time, and other flags give what they gave without.
func TestTimestampsAreTheSame(t *testing.T) {
	dir := t.TempDir()
	a, b, c, d := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c"), filepath.Join(dir, "d")
	for _, path := range []string{a, b} {
		sinktest.Must(t, "gen", "--out", path, "--timestamps", "--link-latency", "1ms", "--count", "100")
	}
	sinktest.Must(t, "gen", "--out", c, "--timestamps", "--link-latency", "0s", "--count", "100")
	sinktest.Must(t, "gen", "--out", d, "--timestamps", "--link-latency", "0s", "--count", "100", "--seed", "2")
	if !sameFile(t, a, b) || sameFile(t, a, c) || sameFile(t, c, d) {
		t.Errorf("twice the same: %v; other latency, the same: %v; other seed, the same: %v", sameFile(t, a, b), sameFile(t, a, c), sameFile(t, c, d))
	}
}
