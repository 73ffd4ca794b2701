// Successor: the new program as the old one starts it; Turn: what the new one knows of that.

package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/notify"
	"intsink/cmd/internal/trusted"
	"intsink/cmd/intsink/internal/control"
)

// CPUs are those that this process was started on. Its threads leave some to the workers, which another program is not to inherit.
var CPUs = func() (set unix.CPUSet) {
	unix.SchedGetaffinity(0, &set)
	return set
}()

// Successor is a program that waits to take this one's place.
type Successor struct {
	Guard
	link   *os.File
	socket *control.SocketListener
	listen *os.File // socket's, for the guard
}

// mostPath is how long the path of a socket is at most (unix(7)).
const mostPath = 107

// startPatience is how long a new program may take until it waits for its turn.
const startPatience = 25 * time.Second

// Start starts the program at path with the arguments of this one, and returns when it waits for its turn. The error is why it
// does not: it has ended then, and nothing has changed. Who confirms it finds its guard at the socket.
func Start(path, socket string, t *Trial) (_ *Successor, err error) {
	if err := trustworthy(path); err != nil {
		return nil, err
	}
	if len(socket) > mostPath {
		return nil, fmt.Errorf("%s: a path of a socket has at most %d bytes: choose a shorter http.socket", socket, mostPath)
	}
	s := &Successor{Guard: Guard{Trial: t, Socket: socket}}
	defer func() {
		if err != nil {
			s.Cancel()
		}
	}()
	if s.socket, err = control.Listen(socket); err != nil {
		return nil, err
	}
	if s.listen, err = s.socket.File(); err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	told, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "link")
	s.link = os.NewFile(uintptr(pair[0]), "link")
	cmd := exec.Command(path)
	cmd.Args = slices.Clone(os.Args)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{theirs}                   // as descriptor 3
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what a terminal sends comes by the guard alone
	cmd.Env = append(environment(), notify.ParentEnv+"=3", trialEnv+"="+string(told))
	if os.Getenv("WATCHDOG_USEC") == "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("WATCHDOG_USEC=%d", watchdog.Microseconds()))
	}
	closeOnExec()
	adopt(true)
	s.Mine = children(os.Getpid())
	err = onAllCPUs(cmd.Start)
	theirs.Close() // where the new program ends, nobody is at the other end
	if err != nil {
		return nil, err
	}
	s.Pid, s.Fd = cmd.Process.Pid, int(s.link.Fd())
	return s, s.awaitWaiting()
}

// trustworthy returns an error unless nobody but root and this process's user can change the file at path, or put another in its place.
func trustworthy(path string) error {
	folder, err := trusted.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	file, err := folder.File(filepath.Base(path))
	if err != nil {
		return err
	}
	return file.Close()
}

// environment is that of this process, without what it was told of an upgrade before.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{notify.ParentEnv, trialEnv, guardEnv, endedEnv, "WATCHDOG_PID"}, name)
	})
}

// onAllCPUs calls start, which makes a process, on a thread that may run on all of CPUs.
func onAllCPUs(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var now unix.CPUSet
	if unix.SchedGetaffinity(0, &now) == nil && unix.SchedSetaffinity(0, &CPUs) == nil {
		defer unix.SchedSetaffinity(0, &now)
	}
	return start()
}

// awaitWaiting waits until the new program waits. What it said last is why it ended otherwise.
func (s *Successor) awaitWaiting() error {
	said := "it ended without a word: its messages are in the sink's log"
	end := time.Now().Add(startPatience)
	for {
		left := time.Until(end)
		if left <= 0 {
			return fmt.Errorf("it was not ready to take over within %v", startPatience)
		}
		fds := []unix.PollFd{{Fd: int32(s.link.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, int(left.Milliseconds())+1); n == 0 || err != nil {
			continue
		}
		for line := range strings.Lines(receive(int(s.link.Fd()))) {
			if v, ok := strings.CutPrefix(line, waiting); ok {
				s.Version = strings.TrimSpace(v)
				return nil
			}
			if v, ok := strings.CutPrefix(line, "STATUS="); ok {
				said = strings.TrimSpace(v)
			}
			if line == gone {
				return errors.New(said)
			}
		}
	}
}

// gone is what receive returns where nobody is at the other end any more.
const gone = "INTSINK_GONE=1"

// receive reads one message.
func receive(fd int) string {
	b := make([]byte, 8192)
	for {
		n, err := unix.Read(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return gone
		}
		return string(b[:n])
	}
}

// Cancel ends the new program, which has not taken over, with all that it has started.
func (s *Successor) Cancel() {
	for _, f := range []*os.File{s.link, s.listen} {
		if f != nil {
			f.Close()
		}
	}
	if s.socket != nil {
		s.socket.Close()
	}
	if s.Pid > 0 {
		unix.Kill(-s.Pid, unix.SIGKILL)
		unix.Wait4(s.Pid, nil, 0, nil)
		endAll(s.Pid, isTried)
	}
	adopt(false)
}

// Go gives the new program its turn.
func (g *Guard) Go() {
	if !g.Began {
		g.Began = unix.Send(g.Fd, []byte(goOn), unix.MSG_NOSIGNAL) == nil
	}
}

// HandOver gives the new program its turn: this process, in which the sink has stopped, becomes the guard. It returns only with an error.
func (s *Successor) HandOver() error {
	closeOnExec()
	s.Listen = int(s.listen.Fd())
	for _, fd := range []int{s.Fd, s.Listen} {
		unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	}
	told, err := json.Marshal(&s.Guard)
	if err != nil {
		return err
	}
	return again(guardEnv + "=" + string(told))
}

// closeOnExec keeps what is open from other programs: DPDK leaves groups of VFIO, which one process may have, to them.
func closeOnExec() {
	all, _ := os.ReadDir("/proc/self/fd") // without /proc there are no programs, either
	for _, e := range all {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// again makes this process the program anew that it is, with one more variable.
func again(variable string) error {
	return onAllCPUs(func() error {
		return syscall.Exec("/proc/self/exe", os.Args, append(environment(), variable))
	})
}

// Turn is what a new program knows of its trial; nil: it is on none.
type Turn struct {
	Trial
	to *notify.Notifier
	fd int
}

// MyTurn reads from environment what the old program has told this one.
func MyTurn(getenv func(string) string) (*Turn, error) {
	text := getenv(trialEnv)
	if text == "" {
		return nil, nil
	}
	t := &Turn{to: notify.New(getenv)}
	if _, err := fmt.Sscan(getenv(notify.ParentEnv), &t.fd); err != nil {
		return nil, fmt.Errorf("%s: %w", notify.ParentEnv, err)
	}
	unix.CloseOnExec(t.fd)
	if err := json.Unmarshal([]byte(text), &t.Trial); err != nil {
		return nil, fmt.Errorf("%s: %w", trialEnv, err)
	}
	return t, nil
}

// Wait tells the old program that this one, of a version, is ready, and returns when it is its turn. It is an error where the old
// program has gone instead: it may have the ports still, or somebody wants neither.
func (t *Turn) Wait(version string) error {
	t.to.Send(waiting + version)
	if receive(t.fd) != goOn {
		return errors.New("the program that was to hand over has not")
	}
	return nil
}

// Follow calls keep when somebody has confirmed, with who, and tells the old program what is worse than before. It returns when the
// old one is not there any more: under systemd it ends with the trial.
func (t *Turn) Follow(keep func(who string) []string) {
	for {
		text := receive(t.fd)
		if text == gone {
			return
		}
		if who, ok := strings.CutPrefix(text, kept); ok {
			lines := keep(who)
			told, _ := json.Marshal(lines[:min(len(lines), mostLines)]) // of strings: it cannot fail
			t.to.Send(worse + string(told))
		}
	}
}

// mostLines of what is worse fit into one message.
const mostLines = 20

// GoBack tells that the old program is to come back, for this one is about to stop.
func (t *Turn) GoBack(e *control.EndedTrial) {
	text, _ := json.Marshal(e) // of strings, numbers and times: it cannot fail
	t.to.Send(back + string(text))
}

// KeepName gives a process of an upgrade the name that who looks for the sink by it knows, in place of that of its program's file.
func KeepName(getenv func(string) string) {
	if getenv(trialEnv) != "" || getenv(guardEnv) != "" || getenv(endedEnv) != "" {
		os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0) // else it has another name
	}
}

// WentBack is how the trial ended from which this program is back; nil: it is not.
func WentBack(getenv func(string) string) *control.EndedTrial {
	var e control.EndedTrial
	if json.Unmarshal([]byte(getenv(endedEnv)), &e) != nil {
		return nil
	}
	return &e
}
