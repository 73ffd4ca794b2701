package hook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const script = `#!/bin/sh
case $1 in
fail) echo no card >&2; exit 3;;
hang) sleep 600 & echo $! > "$2"; exec sleep 600;;
loud) head -c 100000 /dev/zero; exit 1;;
child) sleep 600 & echo $! > "$2"; exit 0;;
failing-child) echo no card; sleep 600 & echo $! > "$2"; exit 4;;
esac
`

// alive tells whether there is a process that is no zombie.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// TestRun: the exit code counts, whatever children do; a command that takes too long ends with its children.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	path, child := filepath.Join(dir, "hook"), filepath.Join(dir, "child")
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, want string
		child      bool // outlives the command
	}{
		{"fine", "", false}, {"fail", "exit status 3: no card", false}, {"hang", "it took too long and was ended", false}, {"loud", "exit status 1", false},
		{"child", "", true}, {"failing-child", "exit status 4: no card", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			os.Remove(child)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if c.what == "hang" {
				go func() {
					for ctx.Err() == nil { // until its child is there
						if b, _ := os.ReadFile(child); strings.HasSuffix(string(b), "\n") {
							cancel()
						}
					}
				}()
			}
			began := time.Now()
			err := Run(ctx, []string{path, c.what, child})
			if (err == nil) != (c.want == "") || err != nil && (!strings.HasPrefix(err.Error(), c.want) || len(err.Error()) > 300) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			var pid int
			if text, err := os.ReadFile(child); err == nil {
				fmt.Sscan(string(text), &pid)
			}
			for end := time.Now().Add(time.Minute); !c.child && pid != 0 && alive(pid) && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // it was killed, and has yet to run to its end
			}
			if pid != 0 && c.child != alive(pid) {
				t.Errorf("child %d lives: %v", pid, !c.child)
			}
			if c.child {
				unix.Kill(pid, unix.SIGKILL)
			}
		})
	}
	if err := Run(context.Background(), []string{path + "-missing", "bypass"}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v", err)
	}
}

// TestReap: exit codes of orphans are taken, and never that of a command that runs.
func TestReap(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	pid := func() (n int) { // of an orphan of this process, soon a zombie: it outlives its parent, which could reap it
		text, err := exec.Command("sh", "-c", "(while kill -0 $$; do :; done) 2>/dev/null & echo $!").Output()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Sscan(string(text), &n)
		return n
	}
	stays := func(n int) bool { return unix.Kill(n, 0) == nil }
	orphan := pid()
	running.RLock()
	if reap(); !stays(orphan) {
		t.Error("reaped while a command runs")
	}
	running.RUnlock()
	for end := time.Now().Add(time.Minute); stays(orphan) && time.Now().Before(end); reap() {
	}
	if stays(orphan) {
		t.Error("an orphan stays a zombie")
	}
}
