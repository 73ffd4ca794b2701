package ethdev_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
)

func TestMain(m *testing.M) { dpdktest.Main(m) }

func TestMbufLayoutIsC(t *testing.T) {
	if d := cmp.Diff(ethdev.MbufLayout(), mbuf.Layout()); d != "" {
		t.Errorf("offsets in C (-) and Go (+):\n%s", d)
	}
}

// start a port with one queue pair; it is closed when the test ends, before p.
func start(t testing.TB, devargs string, p *mempool.Mempool) ethdev.Port {
	t.Helper()
	return startWith(t, devargs, dpdktest.OnePair(p))
}

func startWith(t testing.TB, devargs string, c ethdev.Config) ethdev.Port {
	t.Helper()
	port := dpdktest.Start(t, devargs, c)
	t.Cleanup(port.Close)
	return port
}

func attach(t testing.TB, devargs string) ethdev.Port {
	t.Helper()
	port, err := ethdev.Attach(devargs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(port.Close)
	return port
}

// onWorker runs f as a worker does.
func onWorker(t testing.TB, f func()) {
	t.Helper()
	if err := <-dpdktest.Worker(f); err != nil {
		t.Fatal(err)
	}
}

// frame of n bytes, no two alike in a row of 251.
func frame(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((i + n) % 251)
	}
	return b
}
