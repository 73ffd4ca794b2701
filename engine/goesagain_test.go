package engine

import (
	"reflect"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
)

// incastHops are those of a flow whose second queue is full.
func incastHops() []intgen.Hop {
	hops := make([]intgen.Hop, 3)
	for i := range hops {
		hops[i] = intgen.Hop{NodeID: uint32(i + 1), Ingress: 1, Egress: 2, LatencyNs: 10_000, QueueID: uint8(i + 1), QueueOccupancy: 10}
	}
	hops[1].LatencyNs, hops[1].QueueOccupancy = 50_000, 500
	return hops
}

// TestGoesAgain: C counts a packet in the episode of its flow's last packet without looking queues up again (goes_again), but only where
// its hops are in the same queues. Whatever differs, the worker counts as one that parses each packet.
func TestGoesAgain(t *testing.T) {
	through := func(node uint32, queue uint8, occupancy uint32) []intgen.Hop { // of another flow
		return []intgen.Hop{{NodeID: node, Ingress: 1, Egress: 2, LatencyNs: 10_000, QueueID: queue, QueueOccupancy: occupancy}}
	}
	other := func(queue uint8, occupancy uint32) []intgen.Hop { return through(1, queue, occupancy) }
	for name, c := range map[string]struct {
		others [][]intgen.Hop // of other flows, in front
		twist  func(hops []intgen.Hop)
		opened int // episodes
	}{
		"the same":                             {nil, func([]intgen.Hop) {}, 1},
		"another queue of a node, in between":  {[][]intgen.Hop{other(9, 150)}, func(h []intgen.Hop) { h[0].QueueID, h[0].QueueOccupancy = 9, 70 }, 2},
		"the same queue, full since":           {[][]intgen.Hop{other(1, 150)}, func(h []intgen.Hop) { h[0].QueueOccupancy = 70 }, 2},
		"a second full queue":                  {nil, func(h []intgen.Hop) { h[0].QueueOccupancy = 150 }, 2},
		"a second queue with a latency":        {nil, func(h []intgen.Hop) { h[2].LatencyNs = 2_000_000 }, 2},
		"unknown latency":                      {nil, func(h []intgen.Hop) { h[2].LatencyNs = 1<<32 - 1 }, 1},
		"other nodes with queues of those ids": {nil, func(h []intgen.Hop) { h[0].NodeID, h[1].NodeID = 11, 12 }, 2},
		"other nodes, as full before":          {[][]intgen.Hop{through(12, 2, 150)}, func(h []intgen.Hop) { h[0].NodeID, h[1].NodeID = 11, 12 }, 2},
		"no queue is told":                     {nil, func(h []intgen.Hop) { h[1].LatencyNs = 2_000_000 }, 2},
		"the full queue is calm":               {nil, func(h []intgen.Hop) { h[1].QueueOccupancy, h[1].LatencyNs = 10, 10_000 }, 1},
		"it is twice as full":                  {nil, func(h []intgen.Hop) { h[1].QueueOccupancy, h[1].LatencyNs = 5000, 500_000 }, 1},
		"two hops fewer":                       {nil, func(h []intgen.Hop) { h[0], h[2] = h[1], h[1] }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rules := func(r *Rules) {
				for i := range r.Watches {
					p := &r.Watches[i].Policy
					p.Sample, p.Events = 0, event.NewFlow.Set()|event.PathChange.Set()|event.Congestion.Set()
					p.Thresholds.CongestionRaise, p.Thresholds.CongestionClear, p.Thresholds.CongestionLatency, p.Thresholds.CongestionTimeout = 100, 50, 1_000_000, 1e9
				}
			}
			b, long := newLinksBed(t, false, rules), newLinksBed(t, false, rules)
			var ended uint64
			play := func(frames ...[]byte) {
				t.Helper()
				x := round{room: [4]int{unlimited, unlimited, unlimited, unlimited}, step: 1e5}
				for _, f := range frames {
					x.frames[0] = append(x.frames[0], append([]byte(nil), f...))
				}
				b.live(&x)
				for i, f := range frames { // what they are was written over
					x.frames[0][i] = append([]byte(nil), f...)
				}
				long.forget()
				long.live(&x)
				b.sameAs(t, long)
				sameEpisodes(t, b, long, &ended)
				for i, f := range b.flows() {
					if got, want := whole(f), whole(long.flows()[i]); !reflect.DeepEqual(got, want) {
						t.Fatalf("flow %d is\n%+v, the long way\n%+v", i, got, want)
					}
				}
			}
			source := intgen.Source{UDPPort: 5000, Bitmap: 0xf000, MaxHops: 20}
			frame := func(flow byte, hops []intgen.Hop) []byte {
				f := intgen.Flow{Src: address(10, 0, 1, flow), Dst: address(10, 1, 0, 1), Proto: intgen.UDP, SrcPort: 1024, DstPort: 7999}
				b, err := source.Insert(f.Frame(100, 1), hops)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			full := frame(1, incastHops())
			for range 40 {
				play(full, full, full, full)
			}
			for n, hops := range c.others {
				for range 3 {
					play(frame(byte(2+n), hops))
				}
			}
			before := b.flows()[0].Cold().Again
			play(full, full)
			hops := incastHops()
			c.twist(hops)
			if name == "no queue is told" {
				source.Bitmap = 0xe000
			}
			twisted := frame(1, hops)
			source.Bitmap = 0xf000
			play(full, twisted, full, twisted, twisted)
			beside := frame(9, incastHops())
			for range 3 {
				play(beside, beside, beside)
			}
			play(twisted, twisted)
			for range 3 {
				play(twisted, full)
			}
			open := b.Episodes().Totals()
			if before.Epoch == 0 || int(open.Ended)+open.Open < c.opened {
				t.Errorf("%+v, %d episodes ended and %d are open: want %d, and C to know the flow's last packet", before, open.Ended, open.Open, c.opened)
			}
		})
	}
}
