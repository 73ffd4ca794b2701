// Confine: keeps all other threads of the process off the workers' CPUs.

package eal

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Confine keeps all threads of the process from the given CPUs, which are for threads
// that PinThread moves there: threads inherit it from those that start them. Where no
// other CPU is left it does nothing and returns false.
func Confine(taken []int) (bool, error) {
	var cpus unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cpus); err != nil {
		return false, err
	}
	for _, cpu := range taken {
		cpus.Clear(cpu)
	}
	if cpus.Count() == 0 {
		return false, nil
	}
	for range 2 { // a thread may be started meanwhile, by one that was not confined yet
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return false, err
		}
		for _, t := range tasks {
			if tid, err := strconv.Atoi(t.Name()); err == nil {
				if err := unix.SchedSetaffinity(tid, &cpus); err != nil && err != unix.ESRCH {
					return false, err
				}
			}
		}
	}
	return true, nil
}
