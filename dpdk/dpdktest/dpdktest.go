// TestMain that starts EAL without hugepages.

package dpdktest

import (
	"fmt"
	"os"
	"testing"

	"intsink/dpdk/eal"
)

const memoryMiB = 128

// Main is the TestMain of a package whose tests need EAL: it can be started
// once per process.
func Main(m *testing.M) {
	args, _, err := eal.Args(eal.Options{Hugepages: "off", MemoryMiB: memoryMiB})
	if err == nil {
		err = eal.Init(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dpdktest:", err)
		os.Exit(1)
	}
	code := m.Run()
	eal.Cleanup()
	os.Exit(code)
}
