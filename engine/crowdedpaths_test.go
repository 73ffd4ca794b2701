package engine

import (
	"net/netip"
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/wire/intgen"
)

// TestMadeUpPathsTakeNoDescription: a hundred times as many made-up paths as there is room for, each of a flow of one or two packets,
// leave the paths of flows with traffic described: of those from before within the flood, of one that comes in it within seconds.
func TestMadeUpPathsTakeNoDescription(t *testing.T) {
	b := newBed(t, nil)
	b.config.Flows.Capacity, b.config.Flows.IdleTimeout = 1<<17, 3e9
	b.Worker = NewWorker(b.config)
	real := func(n int) []byte {
		return withINT(t, plain(n), func(_ *intgen.Source, hops []intgen.Hop) { hops[0].Egress = uint16(n) })
	}
	forged := func(n int) []byte {
		f := intgen.Flow{Src: netip.AddrFrom4([4]byte{11, byte(n >> 16), byte(n >> 8), byte(n)}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1}), Proto: intgen.UDP, SrcPort: 7, DstPort: 9}
		return f.Frame(20, 1)
	}
	made, flows := 0, 20
	round := func() { // 100 ms
		for n := range flows {
			b.network.RX = append(b.network.RX, real(n))
		}
		for range inspect.MaxPaths / 4 {
			made++
			frame := withINT(t, forged(made), func(_ *intgen.Source, hops []intgen.Hop) {
				hops[0].NodeID, hops[1].NodeID = uint32(1000+made), uint32(made)
			})
			b.network.RX = append(b.network.RX, frame)
			if made%2 == 0 {
				b.network.RX = append(b.network.RX, frame)
			}
		}
		for b.Poll() > 0 {
			if len(b.network.RX) == 0 {
				break
			}
		}
		for range 100 {
			b.step(tickNs)
		}
	}
	lacking := func() (n int) {
		asked := inspect.New(inspect.BestFlows|inspect.Ways, 100)
		asked.Filter.Source = inspect.PrefixOf(netip.MustParsePrefix("10.0.0.0/16"))
		q := b.answer(asked)
		known := map[uint64]bool{}
		for _, w := range q.Ways {
			known[w.Key[0]] = true
		}
		for n := range flows {
			k, found := keyOf(n), false
			for _, f := range q.Best() {
				found = found || f.Key == k && f.Flow.NumPaths > 0 && known[f.Flow.Paths[0].Hash]
			}
			if !found {
				return n + 1
			}
		}
		return 0
	}
	for range 40 { // 4 s of calm
		for n := range flows {
			b.network.RX = append(b.network.RX, real(n))
		}
		b.Poll()
		for range 100 {
			b.step(tickNs)
		}
	}
	for i := range 400 {
		if i == 200 {
			flows++ // one more real flow
		}
		if round(); i > 40 && (i < 200 || i >= 230) && i%30 == 0 {
			if n := lacking(); n > 0 {
				t.Fatalf("round %d: the path of real flow %d is not described", i, n-1)
			}
		}
	}
}
