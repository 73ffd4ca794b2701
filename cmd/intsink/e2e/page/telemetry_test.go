package page_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestDPDKTelemetry: with dpdk.telemetry, or --telemetry among EAL's arguments, DPDK
// answers on its socket; without, there is none.
func TestDPDKTelemetry(t *testing.T) {
	for _, c := range []struct {
		attribute string
		on        bool
	}{{`telemetry = true`, true}, {`eal_args = ["--telemetry"]`, true}, {``, false}} {
		t.Run(c.attribute, func(t *testing.T) {
			dir := t.TempDir()
			text := strings.NewReplacer("net_null0", "net_null0,no-rx=1", "net_null1", "net_null1,no-rx=1").Replace(sinktest.Offline("udp_port = 5000"))
			conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), text+`
http { listen = "" }
dpdk {
  `+c.attribute+`
  hugepages  = "off"
  mbufs      = 8192
  idle_sleep = "100us"
}
`)
			cmd := exec.Command(os.Args[0], "run", "--config", conf)
			cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1", "RUNTIME_DIRECTORY="+dir)
			logged, err := cmd.StderrPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				cmd.Process.Signal(syscall.SIGTERM)
				cmd.Wait()
			}()
			lines := bufio.NewScanner(logged)
			for lines.Scan() && !strings.Contains(lines.Text(), "running") {
			}
			conn, err := net.Dial("unixpacket", filepath.Join(dir, "dpdk", "rte", "dpdk_telemetry.v2"))
			if (err == nil) != c.on {
				t.Fatalf("socket: %v", err)
			}
			if !c.on {
				return
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(sinktest.Patience))
			b := make([]byte, 16384)
			if n, err := conn.Read(b); err != nil || !strings.Contains(string(b[:n]), `"DPDK 2`) {
				t.Fatalf("%v, %s", err, b[:n])
			}
			conn.Write([]byte("/ethdev/list"))
			if n, err := conn.Read(b); err != nil || !strings.Contains(string(b[:n]), `{"/ethdev/list":[0,1]}`) {
				t.Errorf("%v, %s", err, b[:n])
			}
		})
	}
}
