// Pools, ports and threads of tests that receive and transmit.

package dpdktest

import (
	"runtime"
	"testing"

	"intsink/dpdk/eal"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mempool"
)

// Pool makes a pool that must have all its mbufs when the test ends.
func Pool(t testing.TB, name string) *mempool.Mempool {
	t.Helper()
	p, err := mempool.New(name, 2047, 64, 2176, mempool.AnySocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.InUse() != 0 {
			t.Errorf("pool %q: %d mbufs in use at the end", name, p.InUse())
		}
		p.Free()
	})
	return p
}

// Start attaches a port and starts it; the test closes it.
func Start(t testing.TB, devargs string, c ethdev.Config) ethdev.Port {
	t.Helper()
	port, err := ethdev.Attach(devargs)
	if err == nil {
		err = port.Configure(c)
	}
	if err == nil {
		err = port.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// OnePair is a port with one queue pair, whose packets are mbufs of p.
func OnePair(p *mempool.Mempool) ethdev.Config {
	return ethdev.Config{RxQueues: 1, TxQueues: 1, Pools: []*mempool.Mempool{p}}
}

// Worker runs f as a worker is run, on a thread of its own that DPDK knows. Its result comes when f
// has returned: an error, where DPDK did not take the thread.
func Worker(f func()) <-chan error {
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := eal.RegisterThread()
		if err == nil {
			defer eal.UnregisterThread()
			f()
		}
		ended <- err
	}()
	return ended
}
