package dut

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
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
func start(cmd *exec.Cmd) error {
	all := everywhere.Load()
	if all == nil {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		return err
	}
	if err := unix.SchedSetaffinity(0, all); err != nil {
		return err
	}
	defer unix.SchedSetaffinity(0, &mine)
	return cmd.Start()
}
