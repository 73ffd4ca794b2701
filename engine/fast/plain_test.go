package fast

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/intgen"
)

// TestStreaksOfPlainPackets: a packet that is not like those without INT before it, anywhere in
// a burst, is found by C as by Go: by a UDP port behind which there may be INT, its headers,
// or lengths; none is read beyond its end.
func TestStreaksOfPlainPackets(t *testing.T) {
	others := []struct {
		name    string
		change  func(r *rand.Rand, udp []byte) (frame []byte, pktLen int)
		unknown int // packets of the burst that have to be parsed
	}{
		{"none", func(_ *rand.Rand, f []byte) ([]byte, int) { return f, len(f) }, 0},
		{"port of INT", func(_ *rand.Rand, f []byte) ([]byte, int) { return setPort(f, 5000), len(f) }, 1},
		{"port of VXLAN-GPE", func(_ *rand.Rand, f []byte) ([]byte, int) { return setPort(f, 4790), len(f) }, 1},
		{"fragment", func(_ *rand.Rand, f []byte) ([]byte, int) { f[20] |= 0x20; return f, len(f) }, 1},
		{"EtherType", func(_ *rand.Rand, f []byte) ([]byte, int) { f[12] ^= 0x80; return f, len(f) }, 1},
		{"GRE", func(_ *rand.Rand, f []byte) ([]byte, int) { f[23] = 47; return f, len(f) }, 1},
		{"cut before the port", func(_ *rand.Rand, f []byte) ([]byte, int) { return f[:37], 37 }, 1},
		{"cut anywhere", func(r *rand.Rand, f []byte) ([]byte, int) { n := 1 + r.IntN(37); return f[:n], n }, 1},
		{"longer than a frame", func(_ *rand.Rand, f []byte) ([]byte, int) { return f, 65536 }, 1},
	}
	for _, o := range others {
		t.Run(o.name, func(t *testing.T) {
			c := anyMarking(intgen.ByGeneve, false)
			a, b := newWorld(t, c, everyEvent(), false), newWorld(t, c, everyEvent(), true)
			r := rand.New(rand.NewPCG(1, 2))
			for odd := -1; odd < mbuf.MaxBurst; odd++ { // the first burst makes the template
				frames, lens := make([][]byte, mbuf.MaxBurst), make([]int, mbuf.MaxBurst)
				for i := range frames {
					frames[i], lens[i] = plainUDP(r), 80
					if i == odd {
						frames[i], lens[i] = o.change(r, frames[i])
					}
				}
				a.receive(1e18, frames, lens, 0)
				b.receive(1e18, frames, lens, 0)
				if what := a.compare(b, len(frames)); what != "" {
					t.Fatalf("packet %d: %s differs", odd, what)
				}
				if odd < 0 {
					a.parse(0)
					b.parse(0)
				} else if got := fmt.Sprint(a.At[:a.ints], a.ints); o.unknown == 1 && got != fmt.Sprint([]int{odd}, 1) || o.unknown == 0 && a.ints != 0 {
					t.Fatalf("packet %d: unknown are %s", odd, got)
				}
			}
		})
	}
}

// plainUDP is a packet of 80 bytes: Ethernet, IPv4, UDP to port 80.
func plainUDP(r *rand.Rand) []byte {
	f := make([]byte, 80)
	for i := range f {
		f[i] = byte(r.Uint32())
	}
	copy(f[12:], []byte{8, 0, 0x45, 0, 0, 66, 0, 0, 0x40, 0, 64, 17})
	binary.BigEndian.PutUint16(f[38:], 46)
	return setPort(f, 80)
}

func setPort(f []byte, port uint16) []byte {
	binary.BigEndian.PutUint16(f[36:], port)
	return f
}
