//go:build vm

package vm

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is the virtual machine.
type machine struct {
	folder string
	qemu   *exec.Cmd
}

// boot starts the machine, and returns when it answers. The test's network namespace is its network.
func boot(t *testing.T, folder string) *machine {
	t.Helper()
	m := &machine{folder: folder, qemu: exec.Command("./boot.sh", folder)}
	if *attach {
		return m
	}
	m.qemu.Stderr = os.Stderr
	m.qemu.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.qemu.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.qemu.Process.Kill(); m.qemu.Wait() })
	m.booted(t, "")
	return m
}

// booted waits until the machine runs under another boot id than before, with all of its services started.
func (m *machine) booted(t *testing.T, before string) (id string) {
	t.Helper()
	eventually(t, "the machine answers", 2*time.Minute, func() error {
		out, err := m.try("cat /proc/sys/kernel/random/boot_id")
		if id = strings.TrimSpace(out); err == nil && id == before {
			err = fmt.Errorf("it has not rebooted")
		}
		return err
	})
	m.try("systemctl is-system-running --wait")
	return id
}

// reboot is as an operator does it.
func (m *machine) reboot(t *testing.T) {
	t.Helper()
	before := strings.TrimSpace(m.sh(t, "cat /proc/sys/kernel/random/boot_id"))
	m.try("systemctl reboot")
	m.booted(t, before)
}

// try runs commands as root in the machine, and returns what they print.
func (m *machine) try(commands string) (string, error) {
	c := exec.Command("ssh", "-q", "-i", filepath.Join(m.folder, "key"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
		"-o", "ConnectTimeout=60", "-o", "ServerAliveInterval=20", "root@10.99.0.2", "set -e\n"+commands)
	out, err := c.CombinedOutput()
	return string(out), err
}

// sh is try where nothing may fail.
func (m *machine) sh(t *testing.T, commands string) string {
	t.Helper()
	out, err := m.try(commands)
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return out
}

// write makes a file in the machine.
func (m *machine) write(t *testing.T, name, text string) {
	t.Helper()
	m.sh(t, fmt.Sprintf("cat >%s <<'END OF FILE'\n%s\nEND OF FILE", name, text))
}

// until waits until commands succeed and print text.
func (m *machine) until(t *testing.T, within time.Duration, commands, text string) {
	t.Helper()
	eventually(t, commands+" prints "+text, within, func() error {
		out, err := m.try(commands)
		if err == nil && !strings.Contains(out, text) {
			err = fmt.Errorf("it prints %s", out)
		}
		return err
	})
}

// monitor tells QEMU's monitor something: to pull a cable or a card.
func (m *machine) monitor(t *testing.T, command string) {
	t.Helper()
	c, err := net.Dial("unix", filepath.Join(m.folder, "monitor"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(c, "%s\n", command)
	answer := bufio.NewReader(c)
	for range 2 { // the greeting's, then the answer's
		text, err := answer.ReadString(')')
		if err != nil {
			t.Fatalf("monitor: %s: %v", command, err)
		}
		if strings.Contains(text, "Error:") {
			t.Fatalf("monitor: %s: %s", command, text)
		}
	}
}

// log is what the sink said since a time that mark returned.
func (m *machine) log(t *testing.T, since string) string {
	t.Helper()
	return m.sh(t, "journalctl -u intsink -o cat --after-cursor="+since)
}

// mark is the cursor of the sink's last entry: behind one of another unit journalctl leaves the sink's first one out.
func (m *machine) mark(t *testing.T) string {
	t.Helper()
	return "'" + strings.TrimSpace(m.sh(t, "journalctl -u intsink -n 1 --show-cursor | sed -n 's/^-- cursor: //p'")) + "'"
}

// patience is by how much a machine in emulation may be slower than what steps allow, where other
// things run beside it.
const patience = 5

// eventually calls do once a second until it succeeds.
func eventually(t *testing.T, what string, within time.Duration, do func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience * within); time.Now().Before(end); time.Sleep(time.Second) {
		if err = do(); err == nil {
			return
		}
	}
	t.Fatalf("%s: not within %s: %v", what, patience*within, err)
}
