package control_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// stopThread stops one thread of a process while it waits in the kernel, as a driver does that
// does not come back: what else runs in the process goes on. resume lets it go.
func stopThread(t *testing.T, pid, tid int) (resume func()) {
	t.Helper()
	stopped, let, gone := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		runtime.LockOSThread() // who traces is a thread
		defer runtime.UnlockOSThread()
		err := unix.PtraceSeize(tid)
		for err == nil {
			if err = unix.PtraceInterrupt(tid); err != nil {
				break
			}
			if _, err = unix.Wait4(tid, nil, unix.WALL, nil); err != nil {
				break
			}
			call, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", pid, tid))
			if bytes.HasPrefix(call, fmt.Appendf(nil, "%d ", unix.SYS_NANOSLEEP)) || bytes.HasPrefix(call, fmt.Appendf(nil, "%d ", unix.SYS_RESTART_SYSCALL)) {
				break
			}
			err = unix.PtraceCont(tid, 0) // it was in the middle of something: another time
			time.Sleep(100 * time.Microsecond)
		}
		stopped <- err
		<-let
		if unix.PtraceDetach(tid) != nil { // it has ended, and stays until its tracer knows
			unix.Wait4(tid, nil, unix.WALL, nil)
		}
	}()
	if err := <-stopped; err != nil {
		t.Fatalf("thread %d: %v", tid, err)
	}
	return sync.OnceFunc(func() { close(let); <-gone })
}

// workerThread returns the worker's thread of a process: the only one with a timer slack of 1 ns,
// which the worker has asked the kernel for (PR_SET_TIMERSLACK).
func workerThread(t *testing.T, pid int) int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, task := range tasks {
		slack, _ := os.ReadFile("/proc/" + task.Name() + "/timerslack_ns")
		if tid, err := strconv.Atoi(task.Name()); err == nil && strings.TrimSpace(string(slack)) == "1" {
			found = append(found, tid)
		}
	}
	if len(found) != 1 {
		t.Fatalf("threads %v sleep as a worker does, want one", found)
	}
	return found[0]
}

// switchLab is a sink behind a relay: two bridges lead the traffic through it, and a third one
// around it, as the switch's command says.
const switchLab = `
for i in in out around; do ip link add $i type bridge mcast_snooping 0; ip link set $i mtu 2000 up; done
ip link set b-near master in; ip link set c-far master out`

const switchCommand = `#!/bin/sh
set -e
case $1 in
inline) ip link set a-far master in; ip link set d-near master out;;
bypass) ip link set a-far master around; ip link set d-near master around;;
esac
echo $1 $(date +%%s%%N) >> %s
`

// TestAStuckWorkerIsBypassed: a worker that hangs for good in the middle of traffic. The switch
// is turned within bypass.after and a little, packets flow around the sink, and through it again
// when the worker polls; both give an event, a metric and a line of the log.
func TestAStuckWorkerIsBypassed(t *testing.T) {
	if !netns.In(t) {
		return
	}
	sinktest.Wires(t, "a", "b", "c", "d")
	netns.Sh(t, switchLab)
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	command := sinktest.Write(t, filepath.Join(dir, "switch"), fmt.Sprintf(switchCommand, asked))
	if err := os.Chmod(command, 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(sinktest.KernelPorts("kernel:b-far", "kernel:c-near"), "mbufs      = 4096", "mbufs = 16384", 1)
	r := sinktest.Start(t, text+fmt.Sprintf("bypass {\n  command = [%q]\n  after   = \"4s\"\n  timeout = \"1m\"\n}\n", command)) // longer than a worker waits for its CPU beside other work
	r.Ready(t)
	through := sinktest.NewTraffic(t, "d-far")
	turned := func(times int, state string) time.Time {
		t.Helper()
		for end := time.Now().Add(sinktest.Patience); time.Now().Before(end); {
			b, _ := os.ReadFile(asked)
			if lines := strings.Fields(string(b)); len(lines) == 2*times && lines[len(lines)-2] == state {
				var ns int64
				fmt.Sscan(lines[len(lines)-1], &ns)
				return time.Unix(0, ns)
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("the switch was not asked for %s\n%s", state, r.Stderr)
		return time.Time{}
	}
	turned(1, "inline")
	through.Passes(t, "in line", true)
	told := events(t, r, "bypass")

	before := time.Now()
	resume := stopThread(t, r.Cmd.Process.Pid, workerThread(t, r.Cmd.Process.Pid))
	defer resume()
	// The command itself may wait for a CPU: the time that the sink takes to call it is tested in package failopen.
	if at := turned(2, "bypass"); at.Sub(before) < time.Second { // the last poll may have been a while before
		t.Errorf("the switch was turned after %v, want 4s and a little", at.Sub(before))
	}
	through.Passes(t, "around the sink", false)
	p := r.Wait(t, "the metrics to tell", func(p observetest.Exposition) bool { return p.Series["intsink_bypass_active"] == 1 })
	if p.Series[`intsink_bypass_commands_total{result="ok"}`] != 2 || p.Series[`intsink_mode{mode="full"}`] != 1 {
		t.Errorf("%v commands", p.Series[`intsink_bypass_commands_total{result="ok"}`])
	}
	r.Unhealthy(t)
	if s, _, code := sinktest.Run(t, "status", "--url", "http://"+r.HTTP); code != 1 || !strings.Contains(s, "bypass switch: bypass: worker w0 has not polled for ") {
		t.Errorf("status: exit code %d\n%s", code, s)
	}
	if e := <-told; e["state"] != "bypass" || e["was"] != "inline" || !strings.HasPrefix(e["why"], "worker w0 has not polled for 4s") {
		t.Errorf("event %v", e)
	}

	resume()
	turned(3, "inline")
	through.Passes(t, "in line again", true)
	r.Wait(t, "the metrics to tell", func(p observetest.Exposition) bool { return p.Series["intsink_bypass_active"] == 0 })
	if e := <-told; e["state"] != "inline" || e["was"] != "bypass" {
		t.Errorf("event %v", e)
	}
	if s := sinktest.Must(t, "status", "--url", "http://"+r.HTTP); strings.Contains(s, "bypass switch") {
		t.Errorf("status once it is over\n%s", s)
	}
	code := r.Stop(t, sinktest.Patience)
	for _, want := range []string{`msg="bypass: packets go around the sink" why="worker w0 has not polled for 4s"`, `msg="bypass: packets go through the sink"`} {
		if code != 0 || !strings.Contains(r.Stderr.String(), want) {
			t.Errorf("exit code %d; the log lacks %s\n%s", code, want, r.Stderr)
		}
	}
	turned(4, "bypass") // it has stopped
	through.Passes(t, "without the sink", false)
}

// events are those of one name, from now on.
func events(t *testing.T, r *sinktest.Sink, name string) <-chan map[string]string {
	t.Helper()
	stream, err := http.Get("http://" + r.HTTP + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Body.Close() })
	all := make(chan map[string]string, 100)
	go func() {
		is := false
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				is = event == name
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && is {
				e := map[string]string{}
				json.Unmarshal([]byte(data), &e)
				all <- e
			}
		}
	}()
	return all
}
