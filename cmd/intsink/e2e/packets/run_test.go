package packets_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/appliance"
)

func TestEALArgsThatEndTheProcess(t *testing.T) {
	text := strings.ReplaceAll(sinktest.Small, "%s", "") + sinktest.Config("udp_port = 5000")
	text = strings.Replace(text, "mbufs      = 4096", "mbufs = 8192\n  eal_args = [\"--help\"]", 1)
	path := sinktest.Write(t, filepath.Join(t.TempDir(), "c.hcl"), text)
	for _, command := range []string{"run", "check"} {
		stdout, stderr, code := sinktest.Run(t, command, "--config", path)
		if code != 1 || stdout != "" || !strings.Contains(stderr, `"--help"`) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, %q", command, code, stdout, stderr)
		}
	}
}

// TestBadPort: one line says why nothing was started, with nothing before it that
// speaks of an end.
func TestBadPort(t *testing.T) {
	text := strings.ReplaceAll(sinktest.Small, "%s", "") + sinktest.Config("udp_port = 5000")
	text = strings.Replace(text, `device = "net_null0"`, `device = "net_pcap0,rx_pcap=/nowhere/x.pcap"`, 1)
	text = strings.Replace(text, "mbufs      = 4096", "mbufs = 8192", 1)
	path := sinktest.Write(t, filepath.Join(t.TempDir(), "c.hcl"), text)
	_, stderr, code := sinktest.Run(t, "run", "--config", path)
	if code != 1 || !strings.HasPrefix(stderr, `intsink: not started: port "`) ||
		!strings.Contains(stderr, "/nowhere/x.pcap") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestMoreMbufsThanMemory(t *testing.T) {
	text := strings.ReplaceAll(sinktest.Small, "%s", "") + sinktest.Config("udp_port = 5000")
	text = strings.Replace(text, "mbufs      = 4096", "mbufs = 67108864", 1)
	path := sinktest.Write(t, filepath.Join(t.TempDir(), "c.hcl"), text)
	const want = "dpdk.mbufs = 67108864: the pools need 262"
	if appliance.AvailableMiB() > 262_000 {
		t.Log("this machine has the memory: TestEnoughMemory tests the arithmetic")
	} else {
		if _, stderr, code := sinktest.Run(t, "run", "--config", path); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("run: exit code %d, %q", code, stderr)
		}
		if _, stderr, code := sinktest.Run(t, "check", "--config", path); code != 0 || !strings.Contains(stderr, "warning: this machine cannot run it: "+want) {
			t.Errorf("check: exit code %d, %q", code, stderr)
		}
	}
}

// TestStopDuringTheStart: the process ends soon after SIGTERM, whatever it is
// doing.
func TestStopDuringTheStart(t *testing.T) {
	big := strings.Replace(sinktest.Small, "mbufs      = 4096", "mbufs = 1000000", 1)
	for after := 30 * time.Millisecond; ; after *= 2 {
		r := sinktest.Start(t, big+sinktest.Config("udp_port = 5000"))
		time.Sleep(after)
		code := r.Stop(t, sinktest.Patience)
		if code > 0 || code < 0 && after > 20*time.Second { // before it has a handler, the signal ends it
			t.Fatalf("SIGTERM after %v: exit code %d\n%s", after, code, r.Stderr)
		}
		if code == 0 && after > 400*time.Millisecond {
			return
		}
	}
}
