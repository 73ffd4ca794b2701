package eal

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestConfine runs in a process of its own: the other tests may use all CPUs.
func TestConfine(t *testing.T) {
	if os.Getenv("CONFINE") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestConfine$", "-test.v")
		cmd.Env = append(os.Environ(), "CONFINE=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	var all []int
	for cpu := range 1024 {
		if before.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	if ok, err := Confine(all); ok || err != nil {
		t.Errorf("no CPU left: %v, %v", ok, err)
	}
	if !slices.Equal(cpusOf(t), all) {
		t.Errorf("with no CPU left, the threads moved")
	}
	if len(all) == 1 {
		return
	}
	if ok, err := Confine(all[1:]); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if got := cpusOf(t); !slices.Equal(got, all[:1]) {
		t.Errorf("threads run on %v, want %v", got, all[:1])
	}
}

// cpusOf are the CPUs that some thread of the process may use.
func cpusOf(t *testing.T) (cpus []int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		var set unix.CPUSet
		tid := 0
		for _, c := range task.Name() {
			tid = tid*10 + int(c-'0')
		}
		if unix.SchedGetaffinity(tid, &set) != nil {
			continue // it ended
		}
		for cpu := range 1024 {
			if set.IsSet(cpu) && !slices.Contains(cpus, cpu) {
				cpus = append(cpus, cpu)
			}
		}
	}
	slices.Sort(cpus)
	return cpus
}
