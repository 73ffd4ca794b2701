package fast

import (
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// TestThresholdsInLongHops: a queue over its threshold is seen however much metadata of a domain follows in each
// hop, in C as in Go.
func TestThresholdsInLongHops(t *testing.T) {
	const domain = 9
	for _, more := range []int{0, 12, 28, 32, 44} {
		for _, portable := range []bool{false, true} {
			c := anyMarking(intgen.ByPort, false)
			d := inthdr.Domain{ID: domain}
			d.Bits[0].Length = uint16(more)
			c.Domains = append(c.Domains, d)
			w := newWorld(t, c, everyEvent()[:1], portable)
			packet := func(occupancy uint32) []byte {
				s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: 0xf000, MaxHops: 9}
				if more > 0 {
					s.DomainID, s.DSInstruction, s.DomainPerHop = domain, 1<<15, more
				}
				f, err := s.Insert(intgen.NthFlow(1, false, false).Frame(64, 0), []intgen.Hop{{NodeID: 1, QueueOccupancy: occupancy}, {NodeID: 2}})
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			quiet := 0
			for range 20 {
				if w.passes(packet(10)) {
					quiet++
				}
			}
			if more == 0 && quiet < 5 || more > 0 && quiet == 0 && more <= 12 {
				t.Errorf("%d bytes more, portable %v: %d of 20 quiet packets were passed", more, portable, quiet)
			}
			if w.passes(packet(6000)) {
				t.Errorf("%d bytes more, portable %v: a packet was passed whose queue is over the threshold", more, portable)
			}
		}
	}
}

// TestHighestLatencies: a latency is out of its deadband of 10 us also where its difference from the reference, or
// the latency itself in nanoseconds, looks small in 32 bits, and so is the next one that is as before.
func TestHighestLatencies(t *testing.T) {
	const domain = 9
	c := anyMarking(intgen.ByPort, false)
	d := inthdr.Domain{ID: domain}
	d.Bits[0].Length = 4
	c.Domains = append(c.Domains, d)
	p := everyEvent()[0]
	p.Thresholds.Latency = event.Deadband{Absolute: 10_000, K: 1, N: 1}
	p.Thresholds.CongestionLatency = 0
	sources := []intgen.Source{{Bitmap: 0xe000}, {Bitmap: 0xfd80}, {Bitmap: 0xfd80, DomainID: domain, DSInstruction: 1 << 15, DomainPerHop: 4}} // hops of 12 to 44 bytes
	for unit, highest := range map[uint32]uint32{1: 1<<32 - 2, 1000: 1<<32/1000 + 1} {
		for n := range 2 * len(sources) {
			source, portable := sources[n/2], n%2 == 1
			w := newWorld(t, c, []event.Policy{p}, portable)
			w.detector.SetRules([]event.Policy{p}, []event.NodeModel{{LatencyUnit: unit}})
			packet := func(latency uint32) []byte {
				s := source
				s.Marking, s.UDPPort, s.Type, s.MaxHops = intgen.ByPort, 5000, intgen.TypeMD, 9
				f, err := s.Insert(intgen.NthFlow(1, false, false).Frame(64, 0), []intgen.Hop{{NodeID: 1, LatencyNs: latency}, {NodeID: 2}})
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			for range 20 {
				w.passes(packet(5))
			}
			quiet := w.passed
			w.passes(packet(highest))
			w.passes(packet(5))
			if fired := w.detector.Counters.Fired[event.HopLatency]; quiet < 5 || w.passed != quiet || fired != 2 {
				t.Errorf("unit %d, bitmap %#x, %d bytes more, portable %v: %d of 20 quiet packets were passed, then %d; %d events, want 2",
					unit, source.Bitmap, source.DomainPerHop, portable, quiet, w.passed-quiet, fired)
			}
		}
	}
}

// TestBufferForQueue: in hops that say nothing of their queue the buffer's occupancy is held against the threshold, in
// the unit of buffers, below it and at it, and named by the buffer's number. A queue beside it counts alone.
func TestBufferForQueue(t *testing.T) {
	const raise, unit = 6000, 3
	p := everyEvent()[0]
	p.Thresholds.CongestionRaise, p.Thresholds.CongestionClear, p.Thresholds.CongestionLatency, p.Thresholds.CongestionFactor = raise, 10, 0, 0
	for _, bitmap := range []uint16{0xe080, 0x8080, 0xf080} {
		for m, models := range [][]event.NodeModel{nil, {{BufferUnit: unit}}, {{Nodes: []event.NodeRange{{First: 1, Last: 2}}, BufferUnit: unit}}} {
			for _, portable := range []bool{false, true} {
				w := newWorld(t, anyMarking(intgen.ByPort, false), []event.Policy{p}, portable)
				w.detector.SetRules([]event.Policy{p}, models)
				at := func(occupancy uint32) []byte {
					return ofOneHop(t, intgen.NthFlow(1, false, false), bitmap, intgen.Hop{NodeID: 1, Egress: 2, BufferID: 4, BufferOccupancy: occupancy})
				}
				full := uint32(raise)
				if m > 0 {
					full = raise / unit
				}
				passed := 0
				for range 20 {
					if w.passes(at(full - 1)) {
						passed++
					}
				}
				if passed < 5 {
					t.Errorf("%#x, models %d, portable %v: %d of 20 packets just below the threshold were passed", bitmap, m, portable, passed)
				}
				told := bitmap&inthdr.BitQueue == 0
				if w.passes(at(full)) == told || (w.detector.Counters.Fired[event.Congestion] == 1) != told {
					t.Errorf("%#x, models %d, portable %v: at the threshold %d episodes", bitmap, m, portable, w.detector.Counters.Fired[event.Congestion])
				}
			}
		}
	}
}
