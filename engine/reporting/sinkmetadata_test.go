package reporting

import (
	"testing"

	"intsink/engine/wire/report"
	"intsink/flows"
)

// TestGauges: a reading that is not known is not provided; the queue holds what the poll found and what the driver
// says still waits.
func TestGauges(t *testing.T) {
	const unknown = 1<<32 - 1
	depth := func(n int) func() int { return func() int { return n } }
	for _, c := range []struct {
		name      string
		tx, mbufs []int // set one after the other
		depth     func() int
		want      report.Metadata
		provided  uint16
	}{
		{"new", nil, nil, nil, report.Metadata{QueueOccupancy: 32, TxUtilization: unknown, BufferOccupancy: unknown}, 0},
		{"of 0", []int{0}, []int{0}, depth(0), report.Metadata{QueueOccupancy: 32}, report.MdTxUtilization | report.MdBuffer},
		{"load alone", []int{87}, nil, depth(1000), report.Metadata{QueueOccupancy: 1032, TxUtilization: 87, BufferOccupancy: unknown}, report.MdTxUtilization},
		{"mbufs alone", nil, []int{4711}, depth(-1), report.Metadata{QueueOccupancy: 32, TxUtilization: unknown, BufferOccupancy: 4711}, report.MdBuffer},
		{"not known any more", []int{87, -1}, []int{4711, -1}, nil, report.Metadata{QueueOccupancy: 32, TxUtilization: unknown, BufferOccupancy: unknown}, 0},
		{"more than 24 bits", []int{5}, []int{1 << 30}, nil, report.Metadata{QueueOccupancy: 32, TxUtilization: 5, BufferOccupancy: 1<<24 - 2}, report.MdTxUtilization | report.MdBuffer},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewGauges()
			for _, n := range c.tx {
				g.SetTxUtilization(n)
			}
			for _, n := range c.mbufs {
				g.SetBuffer(n)
			}
			g.Depth = c.depth
			var md report.Metadata
			if provided := g.read(&md, 32); md != c.want || provided != AlwaysProvided|report.MdQueue|c.provided {
				t.Errorf("provided %016b, %+v; want %016b, %+v", provided, md, AlwaysProvided|report.MdQueue|c.provided, c.want)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		var md report.Metadata
		if provided := (*Gauges)(nil).read(&md, 32); provided != AlwaysProvided || md != (report.Metadata{}) {
			t.Errorf("provided %016b, %+v", provided, md)
		}
	})
}

// TestMeasure: times are of the wall clock, the hop latency is the time between them; without a packet both times
// are when the flow was last seen, and ports and latency are unknown.
func TestMeasure(t *testing.T) {
	s := newSide(t, Rules{MdBits: report.MdHopLatency, MaxDelay: 1e6}, 64, 1358, Budget{})
	s.wallClock = func() int64 { return 5e9 }
	for _, c := range []struct{ egress, latency int64 }{{1e9 + 500, 500}, {1e9 + 5e9, 0xfffffffe}} {
		s.Measure(1e9, c.egress, 7, 9, nil, 3)
		md := s.metadata
		if md.IngressPort != 7 || md.EgressPort != 9 || md.IngressTimestamp != 6e9 || md.EgressTimestamp != uint64(c.egress+5e9) || int64(md.HopLatencyNs) != c.latency || s.provided != AlwaysProvided {
			t.Errorf("%+v, provided %016b", md, s.provided)
		}
	}
	s.NoPacket(&flows.Flow{})
	if md := s.metadata; md.IngressPort != 0xffff || md.EgressPort != 0xffff || md.IngressTimestamp != 5e9 || md.EgressTimestamp != 5e9 || md.HopLatencyNs != 0xffffffff || s.provided != AlwaysProvided {
		t.Errorf("without a packet %+v, provided %016b", md, s.provided)
	}
}
