// Hasten: gives the process's threads more of the CPUs than other processes have.

package eal

import "golang.org/x/sys/unix"

// hasty is the nice value that Hasten sets: a thread of it gets about nine times what an
// ordinary one does of a CPU that both want (sched(7)).
const hasty = -10

// Hasten gives all threads of the process a nice value of -10, which those that they start
// inherit. Workers need it of the others: where the Go scheduler takes a worker's
// goroutine away, after 10 ms in which it did not wait, only another thread of the process gives it back
// (sysmon in package runtime), so that a thread that waits for its CPU makes a worker wait. A nice value that somebody has
// set is left alone, and so are the threads of who may set none (root, CAP_SYS_NICE); false:
// nothing was changed.
func Hasten() (bool, error) {
	// getpriority(2) of the kernel returns 20 less the nice value, so that it is never negative.
	if now, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err != nil || now != 20 {
		return false, err
	}
	switch err := eachThread(func(tid int) error { return unix.Setpriority(unix.PRIO_PROCESS, tid, hasty) }); err {
	case nil:
		return true, nil
	case unix.EACCES, unix.EPERM:
		return false, nil
	default:
		return false, err
	}
}
