// Run: a command that a configuration names, with its exit code and first words; ReapOrphans: the duty of process 1.

// Package hook runs the commands that a configuration names, such as that of a bypass switch.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// outputPatience is how long the output of a command that has ended is waited for: its children may hold it open.
const outputPatience = 100 * time.Millisecond

// running is held to read while commands run, whose exit codes nobody else may take.
var running sync.RWMutex

// Run runs a command until ctx ends, which ends it with its children. What counts is its exit code; children that
// outlive a command that has succeeded are left alone. The error has the first words of the output.
func Run(ctx context.Context, command []string) error {
	var out tail
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, outputPatience
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	ended := make(chan error, 1)
	go func() {
		running.RLock()
		defer running.RUnlock()
		ended <- cmd.Run()
	}()
	err := errors.New("it cannot be started or ended: it waits in the kernel")
	select {
	case err = <-ended:
	case <-ctx.Done():
		select { // its end is near, but for a process that waits for a device
		case err = <-ended:
		case <-time.After(2 * outputPatience):
			return err
		}
	}
	if errors.Is(err, exec.ErrWaitDelay) { // exit code 0
		err = nil
	}
	if err != nil && ctx.Err() != nil {
		err = errors.New("it took too long and was ended")
	}
	if text := out.words(); err != nil && text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// tail keeps the first bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

var _ io.Writer = (*tail)(nil)

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), 200-min(len(t.text), 200))]...)
	return len(b), nil
}

// words is what was written, in one line of UTF-8.
func (t *tail) words() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(string(bytes.ToValidUTF8(t.text, []byte("?")))), " ")
}

// ReapOrphans begins to take the exit codes of processes whose parents have ended, where this process is the first one
// of its container: the kernel gives them to it, and they stay as zombies otherwise.
func ReapOrphans() {
	if os.Getpid() != 1 {
		return
	}
	go func() {
		for range time.Tick(time.Second) {
			reap()
		}
	}()
}

// reap takes what there is, unless a command runs: it would take the command's exit code.
func reap() {
	if !running.TryLock() {
		return
	}
	defer running.Unlock()
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.EINTR && pid <= 0 {
			return
		}
	}
}
