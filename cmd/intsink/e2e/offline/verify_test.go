package offline_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/verify"
)

// TestVerify as users run it: page, JSON, exit codes.
func TestVerify(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.pcap")
	sinktest.Must(t, "gen", "--out", in, "--plain", "1", "--count", "20", "--flows", "5", "--proto", "tcp", "--ipv6")
	page := sinktest.Must(t, "verify", "--in", in)
	if !strings.Contains(page, "cases of 20 packets gave back every byte.") || strings.Contains(page, "DIFFERENT") {
		t.Error(page)
	}
	var r verify.Result
	if err := json.Unmarshal([]byte(sinktest.Must(t, "verify", "--in", in, "--json", "--limit", "7", "--seed", "9")), &r); err != nil || r.Packets != 7 || r.Seed != 9 || !r.Beyond || r.Different != 0 {
		t.Errorf("%v %+v", err, r)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no file", nil, 2, "--in is missing"},
		{"a file that is not there", []string{"--in", in + "x"}, 1, "no such file"},
		{"a bad limit", []string{"--in", in, "--limit", "-1"}, 2, "--limit -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, stderr, code := sinktest.Run(t, append([]string{"verify"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, %s", code, stderr)
			}
		})
	}
}
