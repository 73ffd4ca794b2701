// Package dpdktest starts DPDK without hugepages and NICs, for tests.
package dpdktest

import (
	"fmt"
	"os"
	"testing"

	"intsink/dpdk/eal"
)

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

const memoryMiB = 128

// Null is a port that makes packets of size bytes from nothing, and frees what
// it transmits.
func Null(n, size int) string { return fmt.Sprintf("net_null%d,size=%d", n, size) }

// Pcap is a port that receives the packets of one capture and transmits into
// another.
func Pcap(n int, rx, tx string) string {
	return fmt.Sprintf("net_pcap%d,rx_pcap=%s,tx_pcap=%s", n, rx, tx)
}
