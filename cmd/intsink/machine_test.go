package main

import (
	"os/exec"
	"syscall"
	"testing"
)

// machine starts a shell with mounts of its own, and the other namespaces that flags ask for
// (unshare(2)), which runs script and then lives until the test ends. It returns the shell's pid, by
// which nsenter finds the namespaces, once script is done.
func machine(t *testing.T, flags uintptr, script string) (pid int) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script+"\necho ready; exec sleep infinity")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if n, err := out.Read(make([]byte, 64)); n == 0 {
		t.Fatal("the machine's shell ended: ", err)
	}
	return cmd.Process.Pid
}
