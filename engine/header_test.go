package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// TestHeadersOfOneMemo: packets in a burst take each other's place in what the locator
// remembers by the length of INT, before they are stripped and, where a packet made INT
// of a tunnel around it is stripped, after others were looked at. The original of each
// leaves, and the reports of each add up.
func TestHeadersOfOneMemo(t *testing.T) {
	insert := func(n int, s intgen.Source, hops int) (orig, marked []byte) {
		s.UDPPort, s.MaxHops = 5000, 20
		stack := make([]intgen.Hop, hops)
		for i := range stack {
			stack[i] = intgen.Hop{NodeID: uint32(i), LatencyNs: 10_000}
		}
		marked, err := s.Insert(plain(n), stack)
		if err != nil {
			t.Fatal(err)
		}
		return plain(n), marked
	}
	nestings := nestings()
	made := nestings[len(nestings)-1] // its INT is found a second time, as that of a plain packet
	kinds := []func(n int) (orig, marked []byte){
		func(n int) ([]byte, []byte) { return insert(n, intgen.Source{Bitmap: 0xf000}, 1) },
		func(n int) ([]byte, []byte) { return insert(n, intgen.Source{Bitmap: 0xf000}, 5) }, // 16 words more
		func(n int) ([]byte, []byte) { return insert(n, intgen.Source{Bitmap: 0xf900}, 9) }, // 48 words more than made's
		func(n int) ([]byte, []byte) { return insert(n, intgen.Source{Bitmap: 0xe000, DomainID: 7}, 5) },
		func(n int) ([]byte, []byte) { return insert(n, intgen.Source{Bitmap: 0xe000}, 5) },
		func(int) ([]byte, []byte) { return made.Frames(t, nil) },
	}
	for name, change := range map[string]func(*Rules){
		"samples":       func(r *Rules) { r.Watches[0].Policy.Sample = 1 },
		"some samples":  func(r *Rules) { r.Watches[0].Policy.Sample = 3 },
		"without":       func(r *Rules) { r.Watches[0].Policy.Sample = 0 },
		"not watched":   func(r *Rules) { r.Watches = nil },
		"more is asked": func(r *Rules) { r.Watches[0].DSCP = []uint8{0} },
	} {
		t.Run(name, func(t *testing.T) {
			b := nestedBed(t, change)
			r, packets := rand.New(rand.NewPCG(1, 2)), 0
			for range 200 {
				var want [][]byte
				for range 1 + r.IntN(64) {
					orig, marked := kinds[r.IntN(len(kinds))](r.IntN(8))
					want, b.network.RX = append(want, orig), append(b.network.RX, bytes.Clone(marked))
				}
				packets += len(want)
				b.host.TX = nil
				b.Poll()
				b.step(2e6)
				b.sealed()
				for i, f := range b.host.TX {
					if !bytes.Equal(f, want[i]) {
						t.Fatalf("packet %d of %d: forwarded %x\nwant %x", i, len(want), f, want[i])
					}
				}
				if len(b.host.TX) != len(want) {
					t.Fatalf("%d forwarded, want %d", len(b.host.TX), len(want))
				}
			}
			c := b.Snapshot()
			if c.Links[0].INT[inthdr.MD] != uint64(packets) || c.Links[0].Malformed != [inthdr.NumReasons]uint64{} {
				t.Errorf("%d packets with INT of %d, malformed %v", c.Links[0].INT[inthdr.MD], packets, c.Links[0].Malformed)
			}
			if name == "samples" && c.Collectors[0].Reports != uint64(packets) {
				t.Errorf("%d reports of %d packets", c.Collectors[0].Reports, packets)
			}
			b.balance()
		})
	}
}
