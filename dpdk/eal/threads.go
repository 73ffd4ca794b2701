// Calls a function for every thread of the process, those included that are started meanwhile.

package eal

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// eachThread calls f with the number of each thread of the process, until no listing has a new one: a thread that f was
// not yet called for may start others. It ends with the first error of f but ESRCH, of a thread that has
// ended.
func eachThread(f func(tid int) error) error {
	seen := map[int]bool{}
	for n := -1; n != len(seen); {
		n = len(seen)
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil || seen[tid] {
				continue
			}
			seen[tid] = true
			if err := f(tid); err != nil && err != unix.ESRCH {
				return err
			}
		}
	}
	return nil
}
