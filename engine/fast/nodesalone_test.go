package fast

import (
	"fmt"
	"testing"

	"intsink/engine/event"
	"intsink/engine/usual"
	"intsink/engine/wire/intgen"
)

// TestNodesAlone: with hops that have no interfaces, no latency, or neither, a quiet packet is passed at once, and one of
// another path is not.
func TestNodesAlone(t *testing.T) {
	for _, bitmap := range []uint16{0x8000, 0x9000, 0xa000, 0xb000, 0xc000, 0xd000, 0x8100, 0x9180, 0x9800, 0xb900} {
		for n := range 6 {
			portable, payload := n%2 == 0, []int{0, 4, 64}[n/2] // behind a hop of 4 bytes as many are read as there are
			t.Run(fmt.Sprintf("%#x portable %v payload %d", bitmap, portable, payload), func(t *testing.T) {
				w := newWorld(t, anyMarking(intgen.ByPort, false), everyEvent()[:1], portable)
				w.detector.View().Policies[0].SampleLeft = 1 << 30
				packet := func(node uint32) []byte {
					s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: bitmap, MaxHops: 15}
					f, err := s.Insert(intgen.NthFlow(1, false, false).Frame(payload, 0), []intgen.Hop{{NodeID: node, Ingress: 3, Egress: 4, LatencyNs: 1000}, {NodeID: 2, Ingress: 5, Egress: 6, LatencyNs: 1000}})
					if err != nil {
						t.Fatal(err)
					}
					return f
				}
				for range 3 {
					w.of(packet(1))
				}
				for range 5 {
					if !w.passes(packet(1)) {
						t.Fatal("a quiet packet is not passed")
					}
				}
				if w.passes(packet(7)) || w.detector.Counters.Fired[event.PathChange] != 1 {
					t.Errorf("another node: %d changes of the path, want 1", w.detector.Counters.Fired[event.PathChange])
				}
				if w.of(packet(7)); !w.passes(packet(7)) {
					t.Error("on its new path a packet is not passed")
				}
			})
		}
	}
}

// TestBitmapsOfOneFlow: packets of one flow whose hops have interfaces in turn, or latencies in turn, are those of the path
// that they tell; each of them that is not as the last one is left to Go.
func TestBitmapsOfOneFlow(t *testing.T) {
	for _, bitmaps := range [][2]uint16{{0xf000, 0x9000}, {0xe000, 0x8000}, {0xb000, 0x9000}} {
		for _, portable := range []bool{false, true} {
			w := newWorld(t, anyMarking(intgen.ByPort, false), everyEvent()[:1], portable)
			flow, hop := intgen.NthFlow(1, false, false), intgen.Hop{NodeID: 7, Egress: 2, LatencyNs: 1700}
			w.of(ofOneHop(t, flow, bitmaps[0], hop))
			w.of(ofOneHop(t, flow, bitmaps[0], hop))
			if w.passes(ofOneHop(t, flow, bitmaps[1], hop)) {
				t.Errorf("%#x, portable %v: a packet with another bitmap is passed", bitmaps, portable)
			}
			w.of(ofOneHop(t, flow, bitmaps[0], hop))
			if !w.passes(ofOneHop(t, flow, bitmaps[0], hop)) || w.detector.Counters.Fired[event.PathChange] != 0 || w.detector.Counters.Fired[event.HopLatency] != 0 {
				t.Errorf("%#x, portable %v: a quiet packet is not passed, or gave an event", bitmaps, portable)
			}
		}
	}
}

// TestQueuesAlone: of hops without latencies, an occupancy is held against so many times what is usual in the queue of a
// node, whatever its interface.
func TestQueuesAlone(t *testing.T) {
	watches := everyEvent()[:1]
	watches[0].Events, watches[0].Sample = event.NewFlow.Set()|event.PathChange.Set()|event.HopLatency.Set()|event.EndToEnd.Set()|event.Congestion.Set(), 0
	th := &watches[0].Thresholds
	th.CongestionRaise, th.CongestionClear, th.CongestionFactor, th.CongestionLatency = 0, 0, 8, 100_000
	for _, c := range []struct {
		usual, occupancy uint32 // usual 0: nothing is known
		want             bool   // it is passed
	}{{0, 9000, true}, {100, 700, true}, {100, 1000, false}, {100, 0xffffff, true}} {
		for _, portable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, usually %d, portable %v", c.occupancy, c.usual, portable), func(t *testing.T) {
				w := newWorld(t, anyMarking(intgen.ByPort, false), watches, portable)
				for n := range int64(1300) { // thirteen minutes
					if c.usual > 0 {
						w.detector.Usual().Learn(1+n*600e6, []usual.Reading{{Place: usual.Place{Kind: usual.Queue, Key: [2]uint64{7<<32 | 0xffff, 5}}, Latency: 1<<32 - 1, Occupancy: c.usual}})
					}
				}
				packet := func(occupancy uint32) []byte {
					return ofOneHop(t, intgen.NthFlow(1, false, false), 0x9000, intgen.Hop{NodeID: 7, QueueID: 5, QueueOccupancy: occupancy})
				}
				for range 3 {
					w.of(packet(10))
				}
				if !w.passes(packet(10)) {
					t.Fatal("a quiet packet is not passed")
				}
				if got := w.passes(packet(c.occupancy)); got != c.want {
					t.Errorf("passed: %v, want %v", got, c.want)
				}
				if got := w.passes(packet(10)); got != c.want {
					t.Errorf("the next one passed: %v, want %v", got, c.want)
				}
			})
		}
	}
}
