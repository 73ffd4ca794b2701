// Package netns runs tests in network namespaces of their own. Only tests import it.
package netns

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// In runs the test that calls it again, in a process with a network namespace of its
// own; true: this is that process. Traffic stays in there, and all of it is gone when the
// process ends. It takes root, or user namespaces.
func In(t *testing.T) bool {
	t.Helper()
	const inside = "INTSINK_TEST_NETNS"
	if os.Getenv(inside) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("in a network namespace of its own (it takes root, or user namespaces): %v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// Sh runs shell commands, and ends the test where one fails.
func Sh(t testing.TB, lines string) string {
	t.Helper()
	out, err := exec.Command("sh", "-ec", lines).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, lines, out)
	}
	return string(out)
}
