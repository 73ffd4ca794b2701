// Ports and pools of DPDK for a worker under test, and the thread that it polls on.

package looptest

import (
	"runtime"
	"testing"

	"intsink/dpdk/eal"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mempool"
	"intsink/engine"
)

// newPool makes a pool that must have all its mbufs when the test ends.
func newPool(t *testing.T, name string) *mempool.Mempool {
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

// open starts a port with one queue pair; the test closes it.
func open(t *testing.T, devargs string, p *mempool.Mempool) ethdev.Port {
	port, err := ethdev.Attach(devargs)
	if err != nil {
		t.Fatal(err)
	}
	if err := port.Configure(ethdev.Config{RxQueues: 1, TxQueues: 1, Pools: []*mempool.Mempool{p}}); err != nil {
		t.Fatal(err)
	}
	if err := port.Start(); err != nil {
		t.Fatal(err)
	}
	return port
}

// poll runs the worker as it runs in the sink: on a thread that DPDK knows.
func poll(t *testing.T, w *engine.Worker, idle engine.Idle) (ended chan struct{}) {
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		if err := eal.RegisterThread(); err != nil {
			t.Error(err)
			return
		}
		defer eal.UnregisterThread()
		w.Run(idle)
	}()
	return ended
}
