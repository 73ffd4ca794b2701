package fast

import (
	"fmt"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
)

// TestAnEpisodeIsOfThoseWhoWatchIt: while an interface or a queue is in an episode, packets that cross it are Go's, deferred or met,
// where they carry the value and their watch watches it, and nowhere else: on every path of package fast.
func TestAnEpisodeIsOfThoseWhoWatchIt(t *testing.T) {
	const basic, withQueue, withBoth = 0xe000, 0xf000, 0xf100
	const all, tx, occupancy, latency = 0, 1, 2, 3 // watches
	watches := []event.Policy{everyEvent()[0], everyEvent()[0], everyEvent()[0], everyEvent()[0]}
	for i, events := range []event.Set{event.Congestion.Set() | event.TxUtilization.Set(), event.TxUtilization.Set(), event.Congestion.Set(), event.Congestion.Set()} {
		watches[i].Events, watches[i].Sample = event.NewFlow.Set()|event.PathChange.Set()|events, 0
	}
	watches[latency].Thresholds.CongestionRaise, watches[latency].Thresholds.CongestionLatency = 0, 500_000
	calm := intgen.Hop{NodeID: 7, Egress: 2, QueueID: 255} // the queue of packets that tell none, too
	full, busy := calm, calm
	full.QueueOccupancy, busy.TxUtilization = 6000, 95
	elsewhere := intgen.Hop{NodeID: 9, Egress: 2, QueueOccupancy: 6000, TxUtilization: 95} // so that no filter is empty
	for _, c := range []struct {
		name   string
		begins intgen.Hop
		watch  uint8
		bitmap uint16
		want   bool // the packet is passed
	}{
		{"no episode", calm, all, withBoth, true},
		{"a busy interface", busy, tx, withBoth, false},
		{"a busy interface, packets without utilization", busy, tx, withQueue, true},
		{"a busy interface, a watch of queues", busy, occupancy, withBoth, true},
		{"a full queue", full, occupancy, withQueue, false},
		{"a full queue, packets without occupancy", full, occupancy, basic, true},
		{"a full queue, packets with a latency that is watched", full, latency, basic, false},
		{"a full queue, a watch of interfaces", full, tx, withBoth, true},
	} {
		for _, models := range [][]event.NodeModel{nil, {{LatencyUnit: 2}}, {{Nodes: []event.NodeRange{{First: 1, Last: 2}}, LatencyUnit: 2}}} {
			for _, portable := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %d models, portable %v", c.name, len(models), portable), func(t *testing.T) {
					w := newWorld(t, anyMarking(intgen.ByPort, false), watches, portable)
					w.detector.SetRules(watches, models)
					of := func(watch uint8, bitmap uint16) func(intgen.Hop) []byte { // packets of a flow of that watch
						for n := 1; ; n++ {
							flow := intgen.NthFlow(n, false, false)
							if w.of(marked(t, flow, bitmap, 1)); w.Flows[0].Watch == watch {
								return func(h intgen.Hop) []byte { return ofOneHop(t, flow, bitmap, h) }
							}
						}
					}
					packet, crafted := of(c.watch, c.bitmap), of(all, withBoth)
					for range 3 {
						w.of(packet(calm), crafted(calm))
					}
					if !w.passes(packet(calm)) {
						t.Fatal("a quiet packet is not passed")
					}
					w.of(crafted(elsewhere))
					w.of(crafted(c.begins))
					if got := w.passes(packet(calm)); got != c.want {
						t.Errorf("passed %v, want %v", got, c.want)
					}
				})
			}
		}
	}
}

// ofOneHop is a packet of f with INT-MD of one hop.
func ofOneHop(t testing.TB, f *intgen.Flow, bitmap uint16, hop intgen.Hop) []byte {
	s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: bitmap, MaxHops: 15}
	frame, err := s.Insert(f.Frame(64, 0), []intgen.Hop{hop})
	if err != nil {
		t.Fatal(err)
	}
	return frame
}
