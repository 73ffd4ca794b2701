package aggregate

import (
	"bytes"
	"strings"
	"testing"

	"intsink/engine/wire/report"
	"intsink/exporters/record"
)

func text(s *Set) string {
	var b bytes.Buffer
	s.WriteTo(&b)
	return b.String()
}

func sample() *record.Record {
	return &record.Record{
		NodeID: 3, Known: record.KnownNode | record.KnownEvents | record.KnownDropReason, Events: 0b101, Dropped: true, DropReason: 7,
		Hops: []record.Hop{
			{Known: record.HopNode | record.HopLatency, NodeID: 1, LatencyNs: 1500},
			{Known: record.HopNode | record.HopEgress | record.HopQueue | record.HopOccupancy, NodeID: 2, Egress: 9, Queue: 1, Occupancy: 17},
		},
		Links: []record.Link{{From: 1, To: 2, LatencyNs: 2e9}},
		Sink:  record.Sink{Known: record.HopLatency, LatencyNs: 1000},
	}
}

// TestDropsWithoutTheirBit: drop reports of Transparent Security have the event alone.
func TestDropsWithoutTheirBit(t *testing.T) {
	s := New(10)
	o := s.Observer()
	var r record.Record
	r.Reset(record.Report)
	r.NodeID, r.Known = 3, record.KnownNode|record.KnownEvents
	for e := range report.EventNames {
		if r.Events = 1 << e; r.TellsDrop() {
			o(&r)
		}
	}
	if got := text(s); !strings.Contains(got, `intcollect_drop_reports_total{node="3",reason="unknown"} 1`+"\n") {
		t.Error(got)
	}
}

func TestSeries(t *testing.T) {
	s := New(10000)
	a, b := s.Observer(), s.Observer()
	a(sample())
	b(sample())
	b(&record.Record{Type: record.Gap})
	got := text(s)
	for _, want := range []string{
		`intcollect_hop_latency_seconds_bucket{node="1",le="1e-06"} 0`,
		`intcollect_hop_latency_seconds_bucket{node="1",le="2e-06"} 2`,
		`intcollect_hop_latency_seconds_sum{node="1"} 3e-06`,
		`intcollect_reporter_latency_seconds_bucket{node="3",le="1e-06"} 2`,
		`intcollect_link_latency_seconds_bucket{from="1",to="2",le="1"} 0`,
		`intcollect_link_latency_seconds_bucket{from="1",to="2",le="2"} 2`,
		`intcollect_link_latency_seconds_bucket{from="1",to="2",le="10"} 2`,
		`intcollect_queue_occupancy_bucket{node="2",egress="9",queue="1",le="16"} 0`,
		`intcollect_queue_occupancy_bucket{node="2",egress="9",queue="1",le="64"} 2`,
		`intcollect_queue_occupancy_count{node="2",egress="9",queue="1"} 2`,
		`intcollect_drop_reports_total{node="3",reason="7"} 2`,
		`intcollect_event_reports_total{event="none"} 0`,
		"intcollect_series_refused_total 0",
		"# TYPE intcollect_hop_latency_seconds histogram", "# TYPE intcollect_link_latency_seconds histogram",
		"# TYPE intcollect_queue_occupancy histogram", "# TYPE intcollect_drop_reports_total counter",
		"# HELP intcollect_drop_reports_total Reports of dropped packets, by node and the node's reason.",
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, `intcollect_hop_latency_seconds_sum{node="3"}`) {
		t.Errorf("the sink is a node of the network\n%s", got)
	}
	if strings.Count(got, "} 2\n") < 3 {
		t.Error(got)
	}
}

// TestNodesThatReportThemselves: the latency of a node that reports a packet without hops is that of a hop.
func TestNodesThatReportThemselves(t *testing.T) {
	s, r := New(10000), sample()
	r.Hops = nil
	s.Observer()(r)
	if got := text(s); !strings.Contains(got, `intcollect_hop_latency_seconds_bucket{node="3",le="1e-06"} 1`) {
		t.Error(got)
	}
}

// TestUnexplained: reports without events count as such, whichever reader saw them; hops that
// do not say their node belong to no series.
func TestUnexplained(t *testing.T) {
	s := New(10000)
	a, b := s.Observer(), s.Observer()
	r := &record.Record{Hops: []record.Hop{{Known: record.HopLatency, LatencyNs: 5}}}
	a(r)
	b(r)
	b(r)
	if got := text(s); !strings.Contains(got, "intcollect_event_reports_total{event=\"none\"} 3\n") || !strings.Contains(got, "intcollect_series 0\n") || strings.Contains(got, "node=") {
		t.Error(got)
	}
}

func TestOccupancyBuckets(t *testing.T) {
	for n, want := range map[uint32]uint64{0: 0, 1: 1, 2: 4, 4: 4, 5: 16, 16: 16, 17: 64, 1 << 22: 1 << 22} {
		var h histogram
		h.occupancy(n)
		for i, c := range h.buckets {
			if c > 0 && occupancyBound(i) != want {
				t.Errorf("%d is in the bucket up to %d, not %d", n, occupancyBound(i), want)
			}
		}
	}
	var h histogram
	h.occupancy(1<<24 - 1)
	if h.buckets[occupancyBuckets] != 1 {
		t.Errorf("%+v", h)
	}
}

// TestSeriesAreBounded: once the set is full, values of series that it has are counted, those
// of new ones are not.
func TestSeriesAreBounded(t *testing.T) {
	s := New(100)
	o := s.Observer()
	for node := range uint32(1000) {
		o(&record.Record{Hops: []record.Hop{{Known: record.HopNode | record.HopLatency, NodeID: node}}})
	}
	s.Observer()(&record.Record{Hops: []record.Hop{{Known: record.HopNode | record.HopLatency, NodeID: 1}}})
	got := text(s)
	if n := strings.Count(got, "latency_seconds_count"); n != 4 || !strings.Contains(got, `count{node="1"} 2`) || !strings.Contains(got, "intcollect_series_refused_total 996\n") {
		t.Errorf("%d histograms\n%s", n, got)
	}
}

func TestObserveDoesNotAllocate(t *testing.T) {
	o, r := New(10000).Observer(), sample()
	o(r)
	if n := testing.AllocsPerRun(1000, func() { o(r) }); n > 0 {
		t.Errorf("%v allocations a record", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	o, r := New(10000).Observer(), sample()
	for b.Loop() {
		o(r)
	}
}

// TestRoomForWhatIsUsed: a hundred times as many made-up nodes as there is room for, each in one report, take no place of a series that is
// used, and a node that comes later has its own within seconds, also while the flood goes on; how many there are stays bounded.
func TestRoomForWhatIsUsed(t *testing.T) {
	const room = 40
	s := New(room * (numBuckets + 3))
	observers := []func(*record.Record){s.Observer(), s.Observer()}
	n, second := uint32(1000), int64(1e9)
	see := func(node uint32) {
		observers[n%2](&record.Record{Received: second, Hops: []record.Hop{{Known: record.HopNode | record.HopLatency, NodeID: node, LatencyNs: 1500}}})
	}
	for ; second < 60e9; second += 1e9 {
		for range 100 {
			see(1)
		}
		for range room { // made up
			n++
			see(n)
		}
		for i := range uint32(room) { // these again and again
			see(500 + i)
		}
		if second >= 30e9 { // a real one comes
			for range 100 {
				see(2)
			}
		}
		got := text(s)
		if !strings.Contains(got, `{node="1"}`) || second >= 34e9 && !strings.Contains(got, `{node="2"}`) {
			t.Fatalf("after %d s: %d series, refused %d, without a node that is used", second/1e9, s.series.Load(), s.refused.Load())
		}
		if lines := int64(strings.Count(got, "intcollect_hop_latency_seconds_")); s.series.Load() > s.limit || lines > s.limit {
			t.Fatalf("%d series, %d lines of %d", s.series.Load(), lines, s.limit)
		}
	}
	if len(s.room.waiting) > maxNewcomers || len(s.room.of) > 2*room {
		t.Errorf("%d wait, %d are known", len(s.room.waiting), len(s.room.of))
	}
}
