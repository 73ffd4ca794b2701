package packets_test

import (
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

func TestRunRefusesDevicesThatAreNotThere(t *testing.T) {
	dir := t.TempDir()
	for device, want := range map[string]string{
		"net_pcap0,rx_pcap=/no/such/file": "/no/such/file",
		"net_nothing0":                    "check the driver's name",
	} {
		t.Run(device, func(t *testing.T) {
			text := strings.Replace(sinktest.Config("udp_port = 5000"), "net_null0", device, 1)
			conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), "dpdk {\n  mbufs = 4096\n}\nflows { capacity = 1024 }\nhttp { listen = \"\" }\n"+text)
			_, stderr, code := sinktest.Run(t, "run", "--config", conf)
			if code != 1 || !strings.Contains(stderr, `port "network"`) || !strings.Contains(stderr, want) {
				t.Errorf("%s: exit code %d\n%s", device, code, stderr)
			}
		})
	}
}
