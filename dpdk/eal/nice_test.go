package eal

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHasten runs in processes of its own: nice values of this one stay as they are.
func TestHasten(t *testing.T) {
	if os.Getenv("HASTEN") == "" {
		for _, nice := range []string{"0", "5"} {
			cmd := exec.Command("nice", "-n", nice, os.Args[0], "-test.run=^TestHasten$", "-test.v")
			cmd.Env = append(os.Environ(), "HASTEN="+nice)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
				t.Errorf("from nice value %s: %v\n%s", nice, err, out)
			}
		}
		return
	}
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := 20 - raw
	may := want == 0 && os.Geteuid() == 0
	if may {
		want = hasty
	}
	if done, err := Hasten(); done != may || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	started := make(chan int)
	go func() { started <- unix.Gettid() }()
	<-started
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil || len(tasks) < 2 {
		t.Fatalf("%d threads, %v", len(tasks), err)
	}
	for _, task := range tasks {
		tid, _ := strconv.Atoi(task.Name())
		if got, err := unix.Getpriority(unix.PRIO_PROCESS, tid); err == nil && 20-got != want {
			t.Errorf("thread %d has nice value %d, want %d", tid, 20-got, want)
		}
	}
}
