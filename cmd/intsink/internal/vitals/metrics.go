// Metrics of links, workers, flows, bursts and collectors: the counters of all workers, read at once.

package vitals

import (
	"fmt"
	"time"

	"intsink/cmd/internal/logging"
	"intsink/engine"
	"intsink/engine/histogram"
	"intsink/engine/metric"
	"intsink/engine/reporting"
	"intsink/exporters"
)

// Metrics implements part.Metrics. The labels take their values from the configuration and from closed lists, never
// from traffic.
func (s *Server) Metrics() []metric.Bound {
	exported := s.exported() // before the workers' counters
	all := s.workerMetrics(s.snapshots(), exported)
	return append(append(all, s.portMetrics()...), metric.Bind(sinkMetrics, s)...)
}

func (s *Server) snapshots() []engine.Counters {
	all := make([]engine.Counters, len(s.Workers))
	for i, worker := range s.Workers {
		all[i] = worker.Snapshot()
	}
	return all
}

// workerMetrics are of what workers count: every number of engine.Counters is in some metric.
func (s *Server) workerMetrics(snapshots []engine.Counters, exported []exported) (all []metric.Bound) {
	for i, name := range s.Links {
		var sum engine.LinkCounters
		for w := range snapshots {
			sum.Add(&snapshots[w].Links[i])
		}
		all = append(all, metric.Bind(engine.LinkMetrics, &sum, "link", name)...)
	}
	var sum engine.Counters
	for i := range snapshots {
		metric.Add(&sum, &snapshots[i])
	}
	all = append(all, metric.Bind(engine.SumMetrics, &sum)...)
	all = append(all, metric.Bind(recorderMetrics, s)...)
	capacity := uint64(s.Config().Flows.Places())
	for i := range snapshots {
		all = append(all, metric.Bind(paceMetrics, &counted{&snapshots[i], capacity}, "worker", worker(i))...)
	}
	for i := range exported {
		e := &exported[i]
		e.sum = sealed(snapshots, e.Name)
		all = append(all, metric.Bind(reporting.CollectorMetrics, &e.sum, "collector", e.Name)...)
		all = append(all, metric.Bind(exportedMetrics, e, "collector", e.Name)...)
	}
	return all
}

func worker(i int) string { return fmt.Sprintf("w%d", i) }

var recorderMetrics = []metric.Of[Server]{
	{Name: "intsink_recorder_reach_seconds", Help: "how far back the flight recorder of a worker has all packets that it took", Samples: func(s *Server, to metric.Samples) {
		for i, w := range s.Workers {
			if w.Recorder.On() {
				since, _ := w.Recorder.Reach()
				to.Seconds(max(s.Clock()-since, 0), "worker", worker(i))
			}
		}
	}},
}

// counted is what a worker counts, and how many flows its table has room for.
type counted struct {
	*engine.Counters
	capacity uint64
}

// paceMetrics are those of a worker.
var paceMetrics = []metric.Of[counted]{
	{Name: "intsink_flows", Help: "flows in the table", Samples: func(c *counted, to metric.Samples) { to.Add(c.Flows) }},
	{Name: "intsink_flow_capacity", Help: "flows that the table has room for", Samples: func(c *counted, to metric.Samples) { to.Add(c.capacity) }},
	{Name: "intsink_flow_evictions_total", Help: "flows that made room for others before they were idle", Samples: func(c *counted, to metric.Samples) { to.Add(c.Evictions) }},
	{Name: "intsink_flow_refusals_total", Help: "packets of unknown flows that found no room: beyond 100,000 evictions a second they lose their INT and are not watched", Samples: func(c *counted, to metric.Samples) { to.Add(c.Refused) }},
	{Name: "intsink_longest_poll_gap_seconds", Help: "longest time between two polls of the worker in the last 15 to 30 seconds, sleep when idle included", Samples: func(c *counted, to metric.Samples) { to.Seconds(c.Pace.LongestNs) }},
	{Name: "intsink_long_poll_gaps_total", Help: "times between two polls of the worker of at least that long: 100µs, 1ms, 10ms", Samples: func(c *counted, to metric.Samples) {
		for g, n := range c.Pace.Over {
			to.Add(n, "over", time.Duration(engine.LongGaps[g]))
		}
	}},
	{Name: "intsink_poll_gap_seconds", Help: "times between two polls of the worker, sleep when idle included", Samples: func(c *counted, to metric.Samples) { to.Times(pollGaps(&c.Pace), shortestGap) }},
	{Name: "intsink_worker_busy_seconds_total", Help: "time of the worker from each poll that found packets to the next; its rate is the share of the worker that is used, 1 is all of it", Samples: func(c *counted, to metric.Samples) { to.Seconds(c.Pace.BusyNs) }},
	{Name: "intsink_worker_polls_total", Help: "polls of the worker by result: packets, empty", Samples: func(c *counted, to metric.Samples) {
		to.Add(c.Pace.Polls[0], "result", "empty")
		to.Add(c.Pace.Polls[1], "result", "packets")
	}},
	{Name: "intsink_burst_size", Help: "packets that one call to a port gave the worker, 64 at most; calls that gave none are not in it", Samples: func(c *counted, to metric.Samples) {
		to.Sizes(burstBounds[:], c.Pace.Bursts[1:], c.Pace.BurstPackets)
	}},
	{Name: "intsink_refresh_stretch_percent", Help: "time to a flow's next refresh in percent of the configured one: 100, or up to 1500 while budgets shed refreshes", Samples: func(c *counted, to metric.Samples) { to.Add(uint64(c.Stretch)) }},
}

// burstBounds are the sizes of bursts that buckets end with.
var burstBounds = [engine.BurstSizes - 1]int{1, 3, 7, 15, 31, 63, 64}

// shortestGap is the first class of intsink_poll_gap_seconds: what is shorter is not told
// apart, for that would cost every poll.
const shortestGap = 6

// pollGaps are the gaps between all polls.
func pollGaps(p *engine.Pace) *histogram.Histogram {
	h := p.Gaps
	long := uint64(0)
	for _, n := range h.Classes {
		long += n
	}
	h.Classes[0] = p.Polls[0] + p.Polls[1] - long
	h.Sum = uint64(p.TotalNs)
	return &h
}

// exported is a collector, and what its exporter had counted before the workers' counters
// were read.
type exported struct {
	Collector
	exporters.Counters
	sum reporting.CollectorCounters // of all workers
}

func (s *Server) exported() []exported {
	var all []exported
	for _, c := range s.Collectors() {
		all = append(all, exported{Collector: c, Counters: c.Exporter.Counters()})
	}
	return all
}

// sealed is what all workers count of the collector called name. Workers take a reload over
// one after the other: those that have not yet, or no longer, have nothing of it.
func sealed(snapshots []engine.Counters, name string) (sum reporting.CollectorCounters) {
	for w := range snapshots {
		for i := range snapshots[w].Collectors {
			if c := &snapshots[w].Collectors[i]; c.Name == name {
				metric.Add(&sum, c)
			}
		}
	}
	return sum
}

// exportedMetrics tell what became of the reports. No scrape shows more packets
// sent than sealed: exported was read first, and since a worker publishes its
// counters every millisecond while the exporter may be ahead of that, what is
// beyond them is left for the next scrape.
var exportedMetrics = []metric.Of[exported]{
	{Name: "intsink_report_packets_sent_total", Help: "report packets handed to the kernel or the port and not refused; never more than were sealed", Samples: func(e *exported, to metric.Samples) {
		to.Add(min(e.Packets, e.sum.Packets))
	}},
	{Name: "intsink_report_bytes_sent_total", Help: "UDP payload of the report packets that were sent", Samples: func(e *exported, to metric.Samples) { to.Add(e.Bytes) }},
	{Name: "intsink_report_delay_seconds", Help: "time of a report packet from its first report until the kernel took it; of collectors without a port", Samples: func(e *exported, to metric.Samples) {
		if e.Gateway == nil { // with one, workers send by themselves
			to.Times(&e.Delays, 0)
		}
	}},
	{Name: "intsink_report_ring_packets", Help: "report packets of the worker that wait for the exporter", Samples: func(e *exported, to metric.Samples) {
		for w, r := range e.Rings {
			to.Add(uint64(r.Len()), "worker", worker(w))
		}
	}},
	{Name: "intsink_report_ring_capacity", Help: "report packets that may wait there; beyond that they are dropped as ring_full", Samples: func(e *exported, to metric.Samples) {
		for w, r := range e.Rings {
			to.Add(uint64(r.Size()), "worker", worker(w))
		}
	}},
	{Name: "intsink_report_drops_total", Samples: func(e *exported, to metric.Samples) { // beside those of workers
		for r, n := range e.Dropped {
			to.Add(n, "reason", exporters.DropReason(r))
		}
	}},
	{Name: "intsink_gateway_known", Help: "1: the MAC address that the reports to a collector with a port go to is known; 0: they are dropped", Samples: func(e *exported, to metric.Samples) {
		if e.Gateway != nil {
			to.Add(metric.One(e.Gateway.Resolved()))
		}
	}},
}

// sinkMetrics are those of the sink as a whole.
var sinkMetrics = []metric.Of[Server]{
	{Name: "intsink_degraded", Help: "1: a part does not work as the configuration asks for, while all else does; tried again each second. No sample: nothing is degraded", Samples: func(s *Server, to metric.Samples) {
		for _, d := range s.Degraded.List() {
			to.Add(1, "part", d.Part, "name", d.Name)
		}
	}},
	{Name: "intsink_degraded_since_timestamp_seconds", Help: "since when a part is degraded, in Unix seconds", Samples: func(s *Server, to metric.Samples) {
		for _, d := range s.Degraded.List() {
			to.Add(uint64(d.Since.Unix()), "part", d.Part, "name", d.Name)
		}
	}},
	{Name: "intsink_log_lines_dropped_total", Help: "lines of the log that could not be written, or had no room because who reads the log does not", Samples: func(_ *Server, to metric.Samples) {
		to.Add(logging.Dropped())
	}},
	{Name: "intsink_clock_offset_seconds", Help: "wall clock less the sink's own, which began with it at start and never steps; timestamps of reports follow the wall clock", Samples: func(s *Server, to metric.Samples) {
		if s.WallClock == nil {
			to.Seconds(0)
			return
		}
		to.Seconds(s.WallClock())
	}},
	{Name: "intsink_build_info", Help: "1; the label says which version runs", Samples: func(s *Server, to metric.Samples) { to.Add(1, "version", s.Version) }},
}
