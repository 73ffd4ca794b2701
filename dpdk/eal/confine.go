// Confine: keeps all other threads of the process off the workers' CPUs.

package eal

import "golang.org/x/sys/unix"

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
	err := eachThread(func(tid int) error { return unix.SchedSetaffinity(tid, &cpus) })
	return err == nil, err
}
