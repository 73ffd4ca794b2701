package fast

import (
	"fmt"
	"testing"

	"intsink/engine/event"
	"intsink/engine/usual"
	"intsink/engine/wire/intgen"
)

// TestThresholdsByWhatIsUsual: without a deadband, a packet is passed up to the floor, or up to so many times what is usual in
// its queue where that is more; one over it is deferred, and so is what crosses that queue behind it.
func TestThresholdsByWhatIsUsual(t *testing.T) {
	watches := everyEvent()[:1]
	watches[0].Events, watches[0].Sample = event.NewFlow.Set()|event.Congestion.Set(), 0
	th := &watches[0].Thresholds
	th.CongestionRaise, th.CongestionClear, th.CongestionFactor, th.CongestionLatency = 0, 0, 8, 100_000
	calm := intgen.Hop{NodeID: 7, Egress: 2, QueueID: 255, LatencyNs: 1700}
	for _, c := range []struct {
		usual, latency uint32 // usual 0: nothing is known
		want           bool   // it is passed
	}{{0, 99_999, true}, {0, 100_000, false}, {50_000, 150_000, true}, {50_000, 399_999, true}, {50_000, 500_000, false}, {1000, 99_999, true}, {1000, 100_000, false}} {
		for _, portable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d ns, usually %d, portable %v", c.latency, c.usual, portable), func(t *testing.T) {
				w := newWorld(t, anyMarking(intgen.ByPort, false), watches, portable)
				for n := range int64(1300) { // thirteen minutes
					if c.usual > 0 {
						w.detector.Usual().Learn(1+n*600e6, []usual.Reading{{Place: usual.Place{Kind: usual.Queue, Key: [2]uint64{7<<32 | 2, 255}}, Latency: c.usual, Occupancy: 1<<32 - 1}})
					}
				}
				flow := intgen.NthFlow(1, false, false)
				packet := func(h intgen.Hop) []byte { return ofOneHop(t, flow, 0xf000, h) }
				for range 3 {
					w.of(packet(calm))
				}
				if !w.passes(packet(calm)) {
					t.Fatal("a quiet packet is not passed")
				}
				slow := calm
				slow.LatencyNs = c.latency
				if got := w.passes(packet(slow)); got != c.want {
					t.Errorf("passed: %v, want %v", got, c.want)
				}
				if got := w.passes(packet(calm)); got != c.want {
					t.Errorf("the next one passed: %v, want %v", got, c.want)
				}
			})
		}
	}
}
