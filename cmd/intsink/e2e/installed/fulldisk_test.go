package installed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestAFullDisk: a command whose output has no room ends with 1, says what has no room, and
// leaves no file that is cut short. What it may not write it leaves alone.
func TestAFullDisk(t *testing.T) {
	full, dir := sinktest.SmallDisk(t, "64k"), t.TempDir()
	in, conf := filepath.Join(dir, "in.pcap"), sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Config("udp_port = 5000"))
	sinktest.Must(t, "gen", "--out", in, "--count", "1000", "--flows", "10", "--size", "200")
	at := func(name string) string { return filepath.Join(full, name) }
	beside := filepath.Join(dir, "beside.pcap")
	const noRoom = "no space left on device; "
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"gen", []string{"gen", "--out", at("a.pcap"), "--count", "1000"}, noRoom + at("a.pcap") + " is not complete and was removed"},
		{"gen --original", []string{"gen", "--out", beside, "--original", at("b.pcap"), "--count", "1000"}, noRoom + beside + " and " + at("b.pcap") + " are not complete and were removed"},
		{"replay --out", []string{"replay", "--config", conf, "--in", in, "--out", at("c.pcap"), "--reports", beside}, noRoom + at("c.pcap") + " and " + beside + " are not"},
		{"replay --reports", []string{"replay", "--config", sinktest.Write(t, filepath.Join(dir, "all.hcl"), strings.Replace(sinktest.Config("udp_port = 5000"), "sample = 100", "sample = 1", 1)), "--in", in, "--out", beside, "--reports", at("d.pcap")}, noRoom + beside + " and " + at("d.pcap") + " are not"},
		{"a folder that is not there", []string{"gen", "--out", beside, "--original", filepath.Join(dir, "none", "x.pcap")}, "no such file or directory; " + beside + " is not complete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, code := sinktest.Run(t, c.args...)
			left, err := os.ReadDir(full)
			if code != 1 || !strings.Contains(stderr, c.want) || len(left) != 0 || err != nil {
				t.Errorf("exit code %d, %s; want %s; files left %v %v", code, stderr, c.want, left, err)
			}
			if _, err := os.Stat(beside); err == nil {
				t.Errorf("%s is left", beside)
			}
		})
	}
	t.Run("small files", func(t *testing.T) {
		sinktest.Write(t, at("most"), strings.Repeat("x", 60<<10))
		for _, args := range [][]string{{"plan", "--config", conf, "--in", in, "--html", at("p.html")}, {"man", full}, {"report-bug", "--out", at("r.tgz"), "--config", conf}} {
			_, stderr, code := sinktest.Run(t, args...)
			if left, _ := filepath.Glob(at("[pr]*")); code != 1 || !strings.Contains(stderr, "no space left on device") || len(left) != 0 {
				t.Errorf("%q: exit code %d, %s; files left %v", args, code, stderr, left)
			}
		}
	})
	for _, args := range []string{"version", "completion bash", "check --config " + conf, "plan --config " + conf + " --in " + in, "verify --limit 1 --in " + in, "gen --count 1 --out " + beside} {
		t.Run("standard output: "+strings.Fields(args)[0], func(t *testing.T) {
			if code, stderr := toFullDevice(t, strings.Fields(args)); code != 1 || !strings.Contains(stderr, "no space left on device") {
				t.Errorf("exit code %d, %s", code, stderr)
			}
		})
	}
}

// TestOutputThatMayNotBeWritten stays as it is, and so does what stands beside it.
func TestOutputThatMayNotBeWritten(t *testing.T) {
	dir := t.TempDir()
	old := sinktest.Write(t, filepath.Join(dir, "old.pcap"), "old")
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := sinktest.Run(t, "gen", "--out", folder, "--original", old); code != 1 || !strings.Contains(stderr, "is a directory") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if b, err := os.ReadFile(old); string(b) != "old" {
		t.Errorf("%q %v", b, err)
	}
}
