package ethdev_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

func pool(t testing.TB, name string) *mempool.Mempool {
	p, err := mempool.New(name, 2047, 64, 2176, mempool.AnySocket)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func start(t testing.TB, devargs string, p *mempool.Mempool) ethdev.Port {
	port, err := ethdev.Attach(devargs)
	if err == nil {
		err = port.Configure(ethdev.Config{RxQueues: 1, TxQueues: 1, Pools: []*mempool.Mempool{p}})
	}
	if err == nil {
		err = port.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestMbufLayoutIsC(t *testing.T) {
	if d := cmp.Diff(ethdev.MbufLayout(), mbuf.Layout()); d != "" {
		t.Errorf("offsets in C (-) and Go (+):\n%s", d)
	}
}

// TestPcapInPcapOut: frames of one buffer and of a chain go through byte for
// byte, and every mbuf comes home.
func TestPcapInPcapOut(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "out.pcap")
	var frames [][]byte
	for _, n := range []int{60, 138, 1514, 2048, 2049, 9000} {
		frames = append(frames, bytes.Repeat([]byte{byte(n), byte(n >> 8)}, n/2))
	}
	writePcap(t, in, frames)
	p := pool(t, "pcap")
	port := start(t, dpdktest.Pcap(0, in, out), p)
	q, v := port.Queue(0), mbuf.NewVec()
	n := q.RxBurst(v)
	if n != len(frames) {
		t.Fatalf("received %d packets, want %d", n, len(frames))
	}
	for i, want := range frames {
		if got := v[i].AppendTo(nil, v[i].PktLen()); !bytes.Equal(got, want) {
			t.Errorf("packet %d: %d bytes, want %d", i, len(got), len(want))
		}
	}
	if v[5].NbSegs() < 2 || !v[5].Pullup(1500) || v[5].DataLen() < 1500 {
		t.Errorf("9000 bytes: %d segments, %d bytes in the first", v[5].NbSegs(), v[5].DataLen())
	}
	if sent := q.TxBurst(v, n); sent != n {
		t.Errorf("sent %d of %d", sent, n)
	}
	s, err := port.Stats()
	if err != nil || s.IPackets != uint64(n) || s.OPackets != uint64(n) {
		t.Errorf("stats %+v, %v", s, err)
	}
	port.Stop()
	port.Close()
	if p.InUse() != 0 {
		t.Errorf("%d mbufs in use", p.InUse())
	}
	p.Free()
	if got := readPcap(t, out); !cmp.Equal(got, frames) {
		t.Error("the capture written is not the one read")
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for devargs, want := range map[string]string{
		"net_pcap7,rx_pcap=/no/such/file": "/no/such/file",
		"net_nothing0":                    "check the driver's name",
		"0000:ff:1f.7":                    "vfio-pci",
	} {
		if _, err := ethdev.Attach(devargs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q in it", devargs, err, want)
		}
	}
	p := pool(t, "few")
	defer p.Free()
	port, err := ethdev.Attach("net_ring0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	err = port.Configure(ethdev.Config{RxQueues: 100, TxQueues: 100, Pools: []*mempool.Mempool{p}})
	if err == nil || !strings.Contains(err.Error(), "100 workers") {
		t.Errorf("too many queues: %v", err)
	}
}

func TestPoolGivesAndTakes(t *testing.T) {
	p := pool(t, "give")
	v := mbuf.NewVec()
	if !p.AllocBulk(v, 64) || p.InUse() != 64 {
		t.Fatalf("in use %d, want 64", p.InUse())
	}
	b := v[0].SetLen(100)
	if len(b) != 100 || cap(b) != 100 || v[0].Headroom() != 128 {
		t.Errorf("len %d, cap %d, headroom %d", len(b), cap(b), v[0].Headroom())
	}
	p.FreeBulk(v, 64)
	if p.InUse() != 0 {
		t.Errorf("in use %d, want 0", p.InUse())
	}
	p.Free()
	if _, err := mempool.New("huge", 10_000_000, 0, 2176, mempool.AnySocket); err == nil || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("a pool larger than memory: %v", err)
	}
}

func writePcap(t *testing.T, path string, frames [][]byte) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriter(f)
	w.WriteFileHeader(65535, layers.LinkTypeEthernet)
	for _, b := range frames {
		if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(b), Length: len(b)}, b); err != nil {
			t.Fatal(err)
		}
	}
}

func readPcap(t *testing.T, path string) (frames [][]byte) {
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

// onWorker runs f as a worker does: on a thread of its own that DPDK knows.
func onWorker(t testing.TB, f func()) {
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

func TestBurstsDoNotAllocate(t *testing.T) {
	p := pool(t, "allocs")
	port := start(t, dpdktest.Null(5, 138), p)
	onWorker(t, func() {
		q, v := port.Queue(0), mbuf.NewVec()
		if n := testing.AllocsPerRun(1000, func() { q.TxBurst(v, q.RxBurst(v)) }); n != 0 {
			t.Errorf("%v allocations per burst", n)
		}
	})
	port.Stop()
	port.Close()
	if p.InUse() != 0 {
		t.Errorf("%d mbufs in use", p.InUse())
	}
	p.Free()
}

func BenchmarkBurst(b *testing.B) {
	p := pool(b, "bench")
	port := start(b, dpdktest.Null(6, 138), p)
	onWorker(b, func() {
		q, v := port.Queue(0), mbuf.NewVec()
		b.ReportAllocs()
		for i := 0; i < b.N; i += mbuf.MaxBurst {
			q.TxBurst(v, q.RxBurst(v))
		}
	})
	port.Stop()
	port.Close()
	p.Free()
}
