package ethdev_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/mbuf"
)

// TestPcapInPcapOut: frames of one buffer and of chains go through byte for
// byte.
func TestPcapInPcapOut(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "out.pcap")
	sizes := []int{60, 138, 1514, 2048, 2049, 9000}
	var frames [][]byte
	octets := 0
	for _, n := range sizes {
		frames = append(frames, frame(n))
		octets += n
	}
	dpdktest.WritePcap(t, in, frames)
	port := start(t, dpdktest.Pcap(0, in, out), dpdktest.Pool(t, "pcap"))
	q, v := port.Queue(0), mbuf.NewVec()
	n := q.RxBurst(v)
	if n != len(frames) {
		t.Fatalf("received %d packets, want %d", n, len(frames))
	}
	for i, want := range frames {
		m := v[i]
		if got := m.AppendTo(nil, m.PktLen()); !bytes.Equal(got, want) || m.NbSegs() != (len(want)+2047)/2048 || m.PortID() != port.ID() {
			t.Errorf("packet %d: %d bytes of %d in %d segments from port %d", i, len(got), len(want), m.NbSegs(), m.PortID())
		}
	}
	if sent := q.TxBurst(v, n); sent != n {
		t.Errorf("sent %d of %d", sent, n)
	}
	s, err := port.Stats()
	if err != nil || s.IPackets != uint64(n) || s.OPackets != uint64(n) || s.IBytes != uint64(octets) || s.OBytes != uint64(octets) {
		t.Errorf("stats %+v, %v; want %d packets, %d bytes", s, err, n, octets)
	}
	port.Stop() // writes the capture
	port.Close()
	if got := dpdktest.ReadPcap(t, out); !cmp.Equal(got, frames) {
		t.Error("the capture written is not the one read")
	}
}

// A jumbo frame fills its first buffer: headers that go beyond it cannot be
// pulled up, and nothing changes.
func TestPullupOfJumboFrame(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.pcap")
	dpdktest.WritePcap(t, in, [][]byte{frame(9000)})
	p := dpdktest.Pool(t, "jumbo")
	q, v := start(t, dpdktest.PcapRx(1, in), p).Queue(0), mbuf.NewVec()
	if n := q.RxBurst(v); n != 1 {
		t.Fatalf("received %d", n)
	}
	m := v[0]
	if !m.Pullup(2048) || m.Pullup(2049) || m.DataLen() != 2048 || !bytes.Equal(m.AppendTo(nil, 9000), frame(9000)) {
		t.Errorf("%d bytes in the first segment", m.DataLen())
	}
	p.FreeBulk(v, 1)
}

// Pcap in, over and over, as benchmarks use it.
func TestPcapLoop(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.pcap")
	dpdktest.WritePcap(t, in, [][]byte{frame(100), frame(200)})
	p := dpdktest.Pool(t, "loop")
	port := start(t, dpdktest.PcapLoop(2, in), p)
	q, v := port.Queue(0), mbuf.NewVec()
	for range 10 {
		n := q.RxBurst(v)
		if n == 0 {
			t.Fatal("the capture ended")
		}
		for i, m := range v[:n] {
			if want := frame(100 + i%2*100); !bytes.Equal(m.Bytes(), want) {
				t.Fatalf("packet %d has %d bytes, want %d", i, m.DataLen(), len(want))
			}
		}
		p.FreeBulk(v, n)
	}
}
