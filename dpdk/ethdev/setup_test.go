package ethdev_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/eal"
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

// pool that must have all its mbufs when the test ends.
func pool(t testing.TB, name string) *mempool.Mempool {
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

// start a port with one queue pair; it is closed when the test ends, before p.
func start(t testing.TB, devargs string, p *mempool.Mempool) ethdev.Port {
	t.Helper()
	return startWith(t, devargs, ethdev.Config{RxQueues: 1, TxQueues: 1, Pools: []*mempool.Mempool{p}})
}

func startWith(t testing.TB, devargs string, c ethdev.Config) ethdev.Port {
	t.Helper()
	port := attach(t, devargs)
	if err := port.Configure(c); err != nil {
		t.Fatal(err)
	}
	if err := port.Start(); err != nil {
		t.Fatal(err)
	}
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

// onWorker runs f as a worker does: on a thread of its own that DPDK knows.
func onWorker(t testing.TB, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := eal.RegisterThread()
		if err == nil {
			defer eal.UnregisterThread()
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func writePcap(t testing.TB, path string, frames [][]byte) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriter(f)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for _, b := range frames {
		if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(b), Length: len(b)}, b); err != nil {
			t.Fatal(err)
		}
	}
}

func readPcap(t testing.TB, path string) (frames [][]byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, _, err := r.ReadPacketData()
		if err != nil {
			return frames
		}
		frames = append(frames, b)
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
