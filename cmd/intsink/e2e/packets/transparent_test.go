package packets_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestTransparentSecurityRecipe: whatever happens, reports by the configuration in docs/reports.md have all that the
// project's own collector takes for granted: one word of metadata, and from byte 24 of the payload on a frame with INT.
func TestTransparentSecurityRecipe(t *testing.T) {
	doc, err := os.ReadFile("../../../../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindStringSubmatch(string(doc))
	if recipe == nil {
		t.Fatal("docs/reports.md has no configuration")
	}
	// A switch of Transparent Security puts its shim, whose Length counts the shim, into UDP: two hops, the device.
	frame, err := hex.DecodeString(strings.Join(strings.Fields(`000000000501 000000000101 0800 45000044 00010000 3f110000 c0a80102 c0a8010a 0000022b 00300000
		18080011 20000109 80005453 80004000 000000ea 0000007b 000000000101 0000 1a1816a0 00080000`), ""))
	if err != nil {
		t.Fatal(err)
	}
	unsound, other := slices.Clone(frame), slices.Clone(frame)
	unsound[43]++ // Length
	other[29]++   // the flow is another one
	dir := t.TempDir()
	const hour = int64(time.Hour)
	in := sinktest.Classic(t, filepath.Join(dir, "in"), 65535, []int64{0, 1, 2, hour}, frame, unsound, frame, other)
	for _, c := range []struct {
		name, old, new string
		reports        int
	}{
		{"as it is", "", "", 2},
		{"every packet", "sample = 1000", "sample = 1", 3},
		{"hop_latency", `["interfaces"]`, `["hop_latency"]`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := strings.Replace(recipe[1], c.old, c.new, 1) + sinktest.FewFlows
			path, reports := sinktest.Write(t, filepath.Join(dir, "c.hcl"), config), filepath.Join(dir, "reports")
			_, stderr, code := sinktest.Run(t, "replay", "--config", path, "--in", in, "--out", filepath.Join(dir, "out"), "--reports", reports)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			all := sinktest.PacketsOf(t, reports)
			for i, p := range all {
				b := p.Data[14+20+8:]
				if b[8] != 0x13 || b[10] != 1 || !bytes.Equal(b[24:24+26], frame[:26]) || !bytes.Equal(b[24+42:24+42+32], frame[42:42+32]) {
					t.Errorf("report %d: %x", i+1, b)
				}
			}
			if len(all) != c.reports {
				t.Errorf("%d reports, want %d", len(all), c.reports)
			}
		})
	}
	if _, stderr, code := sinktest.Run(t, "check", "--config", sinktest.Write(t, filepath.Join(dir, "c.hcl"), recipe[1])); code != 0 {
		t.Errorf("check: exit code %d: %s", code, stderr)
	}
}
