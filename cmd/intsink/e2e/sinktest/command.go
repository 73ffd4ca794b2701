package sinktest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"intsink/cmd/intsink/internal/simulate"
)

// SmallDisk is a folder with room for so many bytes ("64k"), on a file system of its own.
func SmallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("%v: this test mounts a small tmpfs and needs root", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Run runs the command and returns what it printed and its exit code.
func Run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Unpolled tells of what a command said whether it failed since a worker has not polled, as one may that other
// load keeps from its CPU for seconds.
func Unpolled(said string) bool {
	return strings.Contains(said, "has not polled for") || strings.Contains(said, "does not answer")
}

// Polled runs a command, again for as long as it fails since a worker has not polled.
func Polled(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	Eventually(func() bool {
		stdout, stderr, code = Run(t, args...)
		return code == 0 || !Unpolled(stderr)
	})
	return stdout, stderr, code
}

// Must runs a command that has to succeed, as Polled does.
func Must(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := Polled(t, args...)
	if code != 0 {
		t.Fatalf("intsink %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// Write makes a file.
func Write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// LastLine is the JSON summary of replay.
func LastLine(t *testing.T, stdout string) (s simulate.Summary) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
		t.Fatalf("last line %q: %v", lines[len(lines)-1], err)
	}
	return s
}

// Config is a configuration of a sink that never sees a packet.
func Config(marking string) string {
	return `node { id = 3 }
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { ` + marking + ` }
watch "all" { sample = 100 }
collector "primary" { address = "192.0.2.10:8555" }
`
}

// FewFlows is a small table: the kernel takes a tenth of a second to clear one of a million.
const FewFlows = "flows { capacity = 8192 }\n"

// Offline is a configuration for a file of packets.
func Offline(marking string) string { return Config(marking) + FewFlows }
