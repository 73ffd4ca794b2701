package upgrade

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/internal/control"
)

// TestMain lets the test be another process that confirms.
func TestMain(m *testing.M) {
	if path := os.Getenv("INTSINK_TEST_CONFIRMS"); path != "" {
		c, err := net.Dial("unix", path)
		if err != nil {
			os.Exit(3)
		}
		if _, err := ask(c); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// listening is a guard that listens, with what a new program is told.
func listening(t *testing.T) (g *Guard, asked <-chan *confirmation, told func() string) {
	t.Helper()
	g = &Guard{Trial: &Trial{Trial: control.Trial{Until: time.Unix(1e10, 0)}}, Socket: filepath.Join(t.TempDir(), "s.trial")}
	l, err := control.Listen(g.Socket)
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	if g.Listen, err = unix.Dup(int(f.Fd())); err != nil {
		t.Fatal(err)
	}
	f.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	g.Fd = pair[0]
	asked, stop := g.listen()
	t.Cleanup(func() {
		stop()
		l.Listener.Close()
		unix.Close(pair[0])
		unix.Close(pair[1])
	})
	return g, asked, func() string { return receive(pair[1]) }
}

// TestConfirm: who confirms tells the guard, which tells the new program, and answers what that says is worse.
func TestConfirm(t *testing.T) {
	g, asked, told := listening(t)
	answer := make(chan any, 1)
	from := func() {
		c, err := net.Dial("unix", g.Socket)
		if err != nil {
			answer <- err
			return
		}
		worse, err := ask(c)
		if err != nil {
			answer <- err.Error()
			return
		}
		answer <- worse
	}
	go from()
	now := time.Unix(1000, 0)
	g.confirm(<-asked, now)
	if said := told(); !strings.HasPrefix(said, kept+"unix uid ") || !g.kept {
		t.Errorf("the new program is told %q", said)
	}
	lines, _ := json.Marshal([]string{"more reports"})
	if on := g.take(worse+string(lines), now); on != "" {
		t.Errorf("systemd is told %q", on)
	}
	if got, _ := (<-answer).([]string); !slices.Equal(got, []string{"more reports"}) {
		t.Errorf("worse is %q", got)
	}
	go from()
	g.confirm(<-asked, now)
	if got, _ := (<-answer).(string); !strings.Contains(got, "nothing to confirm any more") {
		t.Errorf("again: %q", got)
	}
	g.kept = false
	go from()
	g.confirm(<-asked, now)
	told()
	g.answer(now.Add(worsePatience + 1)) // the new program says nothing
	if got, ok := (<-answer).([]string); !ok || len(got) != 0 {
		t.Errorf("worse is %q", got)
	}
	g.kept, g.back = false, &control.EndedTrial{Why: "it crashed"}
	go from()
	g.confirm(<-asked, now)
	if got, _ := (<-answer).(string); !strings.Contains(got, "it goes back: it crashed") || g.kept {
		t.Errorf("of one that goes: %q", got)
	}
}

// TestProgramOnTrialDoesNotConfirmItself: neither it, nor a child whose parents have ended, nor a user who has no part in it.
func TestProgramOnTrialDoesNotConfirmItself(t *testing.T) {
	g, asked, _ := listening(t)
	adopt(true)
	defer adopt(false)
	for _, script := range []string{`exec "$0"`, `(setsid "$0"; echo $? >"$OUT") & `} {
		out := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command("sh", "-c", script, os.Args[0])
		cmd.Env = append(os.Environ(), "INTSINK_TEST_CONFIRMS="+g.Socket, "OUT="+out)
		said, err := cmd.CombinedOutput()
		for end := time.Now().Add(20 * time.Second); err == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if b, _ := os.ReadFile(out); string(b) == "1\n" {
				break
			}
		}
		if !strings.Contains(string(said), "does not confirm itself") {
			t.Errorf("%s: %v %s", script, err, said)
		}
	}
	select {
	case <-asked:
		t.Error("it is heard")
	default:
	}
	if err := mayConfirm(1, os.Geteuid()+1); err == nil {
		t.Error("another user may")
	}
	if err := mayConfirm(os.Getppid(), os.Geteuid()); err != nil {
		t.Error(err)
	}
}

// TestAllDescendantsEnd: those in groups and sessions of their own, whose parents have ended, and that have cleared their environment.
func TestAllDescendantsEnd(t *testing.T) {
	adopt(true)
	defer adopt(false)
	beside := exec.Command("sleep", "1000") // of a hook of the configuration
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { beside.Process.Kill(); beside.Wait() }()
	mine := children(os.Getpid())
	pids := filepath.Join(t.TempDir(), "pids")
	cmd := exec.Command("sh", "-c", `sleep 1000 & echo $! >>$0
		(setsid sh -c 'echo $$ >>$0; exec env -i sleep 1000' $0 &)
		(setsid sh -c '(sleep 1000 & echo $! >>$0)' $0 &)
		setsid sh -c 'sleep 1000 & echo $! >>$0; echo $$ >>$0; wait' $0 &
		while [ $(wc -l <$0) -lt 5 ]; do sleep 0.01; done`, pids)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	endAll(cmd.Process.Pid, func(pid int) bool { return !slices.Contains(mine, pid) || isTried(pid) })
	text, _ := os.ReadFile(pids)
	for _, pid := range strings.Fields(string(text)) {
		if _, err := os.Stat("/proc/" + pid); err == nil {
			t.Errorf("process %s is there still", pid)
		}
	}
	if unix.Kill(beside.Process.Pid, 0) != nil || len(strings.Fields(string(text))) != 5 {
		t.Errorf("a process that is none of its has ended, or %q", text)
	}
}
