package fast

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/intgen"
)

// TestStreaksOfINTPackets: a packet that is not like those with INT before it, anywhere in a burst,
// is found by C as by Go, and those around it stay known; none is read beyond its end.
func TestStreaksOfINTPackets(t *testing.T) {
	others := []struct {
		name    string
		change  func(f []byte) (frame []byte, pktLen int)
		unknown bool
	}{
		{"none", func(f []byte) ([]byte, int) { return f, len(f) }, false},
		{"port of another marking", func(f []byte) ([]byte, int) { return setPort(f, 5000), len(f) }, true},
		{"not marked", func(f []byte) ([]byte, int) { f[15] ^= 0x80; return f, len(f) }, true},
		{"TCP", func(f []byte) ([]byte, int) { f[23] = 6; return f, len(f) }, true},
		{"fragment", func(f []byte) ([]byte, int) { f[20] |= 0x20; return f, len(f) }, true},
		{"length of UDP", func(f []byte) ([]byte, int) { f[39]++; return f, len(f) }, true},
		{"instructions of INT", func(f []byte) ([]byte, int) { f[14+20+8+4+4] ^= 1; return f, len(f) }, true},
		{"longer than its headers say", func(f []byte) ([]byte, int) { return append(f, 0), len(f) + 1 }, true},
		{"longer than a frame", func(f []byte) ([]byte, int) { return f, len(f) + 65536 }, true},
		{"cut in INT", func(f []byte) ([]byte, int) { return f[:14+20+8+20], len(f) }, true},
		{"cut before the port", func(f []byte) ([]byte, int) { return f[:36], 36 }, true},
		{"payload in another segment", func(f []byte) ([]byte, int) { return f[:len(f)-10], len(f) }, false},
	}
	flow := intgen.Flow{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Proto: intgen.UDP, SrcPort: 1, DstPort: 80}
	s := &intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63, Type: intgen.TypeMD, Bitmap: 0xe000, MaxHops: 9}
	frame, err := s.Insert(flow.Frame(100, 1), []intgen.Hop{{NodeID: 1, LatencyNs: 100}, {NodeID: 2, LatencyNs: 100}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range others {
		t.Run(o.name, func(t *testing.T) {
			c := anyMarking(intgen.ByDSCP, false)
			a, b := newWorld(t, c, everyEvent(), false), newWorld(t, c, everyEvent(), true)
			for _, w := range []*world{a, b} {
				w.burst(1e18, [][]byte{frame}, []int{len(frame)}, 0)
			}
			for odd := range mbuf.MaxBurst {
				frames, lens := make([][]byte, mbuf.MaxBurst), make([]int, mbuf.MaxBurst)
				for i := range frames {
					frames[i], lens[i] = bytes.Clone(frame), len(frame)
					if i == odd {
						frames[i], lens[i] = o.change(frames[i])
					}
				}
				a.receive(1e18, frames, lens, 0)
				b.receive(1e18, frames, lens, 0)
				if what := a.compare(b, len(frames)); what != "" {
					t.Fatalf("packet %d: %s differs", odd, what)
				}
				want := uint64(0)
				if o.unknown {
					want = 1 << odd
				}
				if a.ints != mbuf.MaxBurst || a.Unknown != want {
					t.Fatalf("packet %d: %d packets, unknown are %#x, want %#x", odd, a.ints, a.Unknown, want)
				}
			}
		})
	}
}
