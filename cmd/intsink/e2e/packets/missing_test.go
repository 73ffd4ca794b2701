package packets_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
)

// others are ports whose devices are not there: of a link, and of reports only.
const others = `port "gone" { device = "kernel:nowhere0" }
port "behind" { device = "net_null2" }
port "reports" { device = "0000:ff:1f.7" }
link "other" {
  network = "gone"
  host    = "behind"
}
collector "by port" {
  address = "192.0.2.11:8555"
  port    = "reports"
  source  = "192.0.2.1"
}
`

// TestMissingPorts: a NIC and an interface that are not there stop what needs them; the other link
// forwards, and /readyz names the port.
func TestMissingPorts(t *testing.T) {
	r := sinktest.Start(t, strings.Replace(sinktest.Small, "4096", "32768", 1)+sinktest.Config("udp_port = 5000")+others)
	for end := time.Now().Add(sinktest.Patience); ; time.Sleep(10 * time.Millisecond) {
		if p := r.Get(t, "/metrics"); strings.Contains(p, `intsink_port_rx_packets_total{port="network"} `) && !strings.Contains(p, `intsink_port_rx_packets_total{port="network"} 0`) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("nothing is received\n%s", r.Get(t, "/metrics"))
		}
	}
	ready := r.Get(t, "/readyz?verbose")
	for _, want := range []string{
		"port \"network\": ok\n", "port \"host\": ok\n", `port "gone": interface "nowhere0": there is no such interface; tried again each second`,
		`port "behind": link "other" is stopped, as port "gone" is not there; tried again each second`, "port \"reports\": device \"0000:ff:1f.7\"", "tried again once that changes", "degraded: port reports: since ",
	} {
		if !strings.Contains(ready, want) {
			t.Errorf("/readyz?verbose lacks %q:\n%s", want, ready)
		}
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "port: not opened; its link is stopped, others go on") {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}

// TestStatusOfAFailedStart: what systemd hears last of a start that failed is why.
func TestStatusOfAFailedStart(t *testing.T) {
	text := strings.ReplaceAll(sinktest.Small, "%s", "") + sinktest.Config("udp_port = 5000")
	for broken, want := range map[string]string{
		strings.Replace(text, "net_null0", "kernel:nowhere0", 1):                   `not started: port "network": interface "nowhere0"`,
		strings.Replace(text, "net_null0", "net_pcap0,rx_pcap=/nowhere/x.pcap", 1): `not started: port "network": device`,
		text + "nonsense = 1\n": "is not valid",
	} {
		dir := t.TempDir()
		systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer systemd.Close()
		cmd := exec.Command(os.Args[0], "run", "--config", sinktest.Write(t, filepath.Join(dir, "c.hcl"), broken))
		cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1", "NOTIFY_SOCKET="+filepath.Join(dir, "s"))
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("it starts: %s", out)
		}
		last, b := "", make([]byte, 4096)
		for systemd.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); ; {
			n, err := systemd.Read(b)
			if err != nil {
				break
			}
			for line := range strings.Lines(string(b[:n])) {
				if s, found := strings.CutPrefix(line, "STATUS="); found {
					last = s
				}
			}
		}
		if !strings.Contains(last, want) {
			t.Errorf("systemd heard last: %q, want %q", last, want)
		}
	}
}
