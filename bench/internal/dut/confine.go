package dut

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"intsink/bench/internal/cleanup"
)

// everywhere is the CPUs that this process had before Confine; nil before.
var everywhere atomic.Pointer[unix.CPUSet]

// Confine keeps all threads of this process on one CPU, those to come too, so that
// they take no time from what is measured on the others. Devices under test get
// all CPUs.
func Confine(cpu int) error {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	one.Set(cpu)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			if err := unix.SchedSetaffinity(tid, &one); err != nil && err != unix.ESRCH {
				return err
			}
		}
	}
	everywhere.Store(&all)
	return nil
}

// start starts cmd on all CPUs: a child has the CPUs of the thread that starts it.
// A signal that ends this process kills cmd, and so does ended.
func start(cmd *exec.Cmd) (ended func(), err error) {
	if all := everywhere.Load(); all != nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var mine unix.CPUSet
		if err := unix.SchedGetaffinity(0, &mine); err != nil {
			return nil, err
		}
		if err := unix.SchedSetaffinity(0, all); err != nil {
			return nil, err
		}
		defer unix.SchedSetaffinity(0, &mine)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return cleanup.Add(func() { cmd.Process.Kill() }), nil
}
