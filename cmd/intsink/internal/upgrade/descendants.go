// Descendants: what a new program has started, whatever groups and sessions that has made, is found and ended.

package upgrade

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// adopt has processes whose parents have ended become children of this one, in place of process 1.
func adopt(yes bool) {
	n := uintptr(0)
	if yes {
		n = 1
	}
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, n, 0, 0, 0)
}

// parents are the processes that can be seen, with their parents.
func parents() map[int]int {
	all := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, _ := os.ReadFile("/proc/" + e.Name() + "/stat") // it may be gone
		_, after, _ := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
		var state string
		var parent int
		if n, _ := fmt.Sscan(string(after), &state, &parent); n == 2 {
			all[pid] = parent
		}
	}
	return all
}

// children are those of pid.
func children(pid int) (all []int) {
	for child, parent := range parents() {
		if parent == pid {
			all = append(all, child)
		}
	}
	return all
}

// descendants are the children of pid, theirs, and so on.
func descendants(pid int) (all []int) {
	of := parents()
	for next := []int{pid}; len(next) > 0; {
		var found []int
		for child, parent := range of {
			if slices.Contains(next, parent) && child != pid {
				found = append(found, child)
				delete(of, child)
			}
		}
		all, next = append(all, found...), found
	}
	return all
}

// isTried tells whether a process was started by a program on trial, as its environment says.
func isTried(pid int) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.HasPrefix(text, []byte(trialEnv+"=")) || bytes.Contains(text, []byte("\x00"+trialEnv+"="))
}

// endAll ends what the program pid, which has ended, has started: its group, and those children of this process that are of it, with
// theirs, which are children of this one once their parents have ended. They may have the ports. It waits until they are gone.
func endAll(pid int, of func(pid int) bool) {
	ended := map[int]bool{}
	for end := time.Now().Add(allPatience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		group := unix.Kill(-pid, unix.SIGKILL) == nil
		left := slices.DeleteFunc(children(os.Getpid()), func(child int) bool { return !ended[child] && !of(child) })
		if !group && len(left) == 0 {
			return
		}
		for _, child := range left {
			for _, x := range append(descendants(child), child) {
				unix.Kill(x, unix.SIGKILL)
			}
			ended[child] = true // it has no environment any more
			unix.Wait4(child, nil, unix.WNOHANG, nil)
		}
	}
}
