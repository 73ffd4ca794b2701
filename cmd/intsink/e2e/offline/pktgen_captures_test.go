package offline_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestCapturesForPktgen: bench/pktgen/captures.sh makes its captures in a directory that does not exist yet, and names
// them. Pktgen reads pcap with microseconds only.
func TestCapturesForPktgen(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "of", "its own")
	cmd := exec.Command("../../../../bench/pktgen/captures.sh", directory)
	cmd.Env = append(os.Environ(), "INTSINK="+os.Args[0], "INTSINK_TEST_MAIN=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\neditcap is in Debian's wireshark-common, which make deps installs", err, out)
	}
	var names []string
	for _, c := range []struct {
		name           string
		packets, bytes int
	}{
		{"int-138", 1000, 138}, {"int-256", 1000, 256}, {"int-512", 1000, 512}, {"int-1024", 1000, 1024}, {"int-1400", 1000, 1400},
		{"int-hops-1", 1000, 512}, {"int-hops-8", 1000, 512}, {"int-64k-flows", 65536, 138},
	} {
		path := filepath.Join(directory, c.name+".pcap")
		names = append(names, path)
		all := sinktest.PacketsOf(t, path)
		if len(all) != c.packets {
			t.Errorf("%s: %d packets, want %d", c.name, len(all), c.packets)
		}
		for i := range all {
			if len(all[i].Data) != c.bytes {
				t.Fatalf("%s: packet %d has %d bytes, want %d", c.name, i+1, len(all[i].Data), c.bytes)
			}
		}
		f, err := os.ReadFile(path)
		if err != nil || string(f[:4]) != "\xd4\xc3\xb2\xa1" {
			t.Errorf("%s begins with %x, %v", c.name, f[:4], err)
		}
	}
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); strings.Join(got, "\n") != strings.Join(names, "\n") {
		t.Errorf("it names %q, want %q", got, names)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) != len(names) {
		t.Errorf("%d files, %v", len(left), err)
	}
}
