// Adds to /metrics the counters of links, workers, flows, events, bursts and collectors.

package observe

import (
	"fmt"
	"io"
	"time"

	"intsink/cmd/internal/logging"
	"intsink/engine"
	"intsink/engine/histogram"
	"intsink/engine/metric"
	"intsink/engine/reporting"
	"intsink/exporters"
)

// writeMetrics writes every counter in Prometheus text format. The labels take
// their values from the configuration and from closed lists, never from
// traffic.
func (s *Source) writeMetrics(w io.Writer) error {
	x := newExposition()
	exported := s.exported() // before the workers' counters
	snapshots := make([]engine.Counters, len(s.Workers))
	for i, worker := range s.Workers {
		snapshots[i] = worker.Snapshot()
	}
	s.addWorkers(x, snapshots, exported)
	s.addReportPorts(x)
	s.addPorts(x)
	if s.WallClock == nil {
		x.addSeconds("intsink_clock_offset_seconds", 0)
	} else {
		x.addSeconds("intsink_clock_offset_seconds", s.WallClock())
	}
	s.addControl(x)
	s.addModes(x)
	s.addCapture(x)
	s.addProblems(x)
	for _, d := range s.Degraded.List() {
		x.add("intsink_degraded", 1, "part", d.Part, "name", d.Name)
		x.add("intsink_degraded_since_timestamp_seconds", uint64(d.Since.Unix()), "part", d.Part, "name", d.Name)
	}
	x.add("intsink_log_lines_dropped_total", logging.Dropped())
	x.add("intsink_build_info", 1, "version", s.Version)
	if err := x.writeTo(w); err != nil {
		return err
	}
	return s.process.write(w, time.Now(), readProcess)
}

// addWorkers adds what workers count: every number of engine.Counters is in some metric.
func (s *Source) addWorkers(x *exposition, snapshots []engine.Counters, exported []exported) {
	s.addLinks(x, snapshots)
	s.addMitigation(x)
	addEvents(x, snapshots)
	s.addEpisodes(x)
	s.addRecorders(x)
	addFlows(x, snapshots, s.Config().Flows.Places())
	addPace(x, snapshots)
	s.addCollectors(x, snapshots, exported)
}

func (s *Source) addLinks(x *exposition, snapshots []engine.Counters) {
	for i, name := range s.Links {
		var sum engine.LinkCounters
		for w := range snapshots {
			sum.Add(&snapshots[w].Links[i])
		}
		addAll(x, engine.LinkMetrics, &sum, "link", name)
	}
}

func addEvents(x *exposition, snapshots []engine.Counters) {
	var sum engine.Counters
	for i := range snapshots {
		metric.Add(&sum, &snapshots[i])
	}
	addAll(x, engine.SumMetrics, &sum)
}

// addAll adds the samples of all metrics of counters c, in front of whose labels stand these.
func addAll[C any](x *exposition, all []metric.Of[C], c *C, labels ...any) {
	for i := range all {
		all[i].Samples(c, &samples{x, all[i].Name, labels[:len(labels):len(labels)]})
	}
}

// samples adds those of one metric.
type samples struct {
	*exposition
	name   string
	labels []any
}

// Add implements metric.Samples.
func (s *samples) Add(value uint64, labels ...any) {
	s.add(s.name, value, append(s.labels, labels...)...)
}

// Times implements metric.Samples.
func (s *samples) Times(h *histogram.Histogram, labels ...any) {
	s.addTimes(s.name, h, 0, append(s.labels, labels...)...)
}

func (s *Source) addRecorders(x *exposition) {
	for i, w := range s.Workers {
		if w.Recorder.On() {
			since, _ := w.Recorder.Reach()
			x.addSeconds("intsink_recorder_reach_seconds", max(s.Clock()-since, 0), "worker", fmt.Sprintf("w%d", i))
		}
	}
}

func addFlows(x *exposition, snapshots []engine.Counters, capacity int) {
	for i := range snapshots {
		x.add("intsink_flows", snapshots[i].Flows, "worker", fmt.Sprintf("w%d", i))
		x.add("intsink_flow_capacity", uint64(capacity), "worker", fmt.Sprintf("w%d", i))
		x.add("intsink_flow_evictions_total", snapshots[i].Evictions, "worker", fmt.Sprintf("w%d", i))
		x.add("intsink_flow_refusals_total", snapshots[i].Refused, "worker", fmt.Sprintf("w%d", i))
		x.add("intsink_refresh_stretch_percent", uint64(snapshots[i].Stretch), "worker", fmt.Sprintf("w%d", i))
	}
}

// burstBounds are the sizes of bursts that buckets end with.
var burstBounds = [engine.BurstSizes - 1]int{1, 3, 7, 15, 31, 63, 64}

// burstsUpTo counts the bursts of each bucket.
func burstsUpTo(p *engine.Pace) []uint64 { return p.Bursts[1:] }

func addPace(x *exposition, snapshots []engine.Counters) {
	for i := range snapshots {
		p, worker := &snapshots[i].Pace, fmt.Sprintf("w%d", i)
		x.addSeconds("intsink_longest_poll_gap_seconds", p.LongestNs, "worker", worker)
		x.addSeconds("intsink_worker_busy_seconds_total", p.BusyNs, "worker", worker)
		x.add("intsink_worker_polls_total", p.Polls[0], "worker", worker, "result", "empty")
		x.add("intsink_worker_polls_total", p.Polls[1], "worker", worker, "result", "packets")
		x.addHistogram("intsink_burst_size", burstBounds[:], burstsUpTo(p), p.BurstPackets, "worker", worker)
		x.addTimes("intsink_poll_gap_seconds", pollGaps(p), shortestGap, "worker", worker)
		for g, n := range p.Over {
			x.add("intsink_long_poll_gaps_total", n, "worker", worker, "over", time.Duration(engine.LongGaps[g]))
		}
	}
}

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
}

func (s *Source) exported() []exported {
	var all []exported
	for _, c := range s.Collectors() {
		all = append(all, exported{c, c.Exporter.Counters()})
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

// addCollectors adds what became of the reports. No scrape shows more packets
// sent than sealed: exported was read first, and since a worker publishes its
// counters every millisecond while the exporter may be ahead of that, what is
// beyond them is left for the next scrape.
func (s *Source) addCollectors(x *exposition, snapshots []engine.Counters, exported []exported) {
	for i := range exported {
		e := &exported[i]
		name, sum := e.Name, sealed(snapshots, e.Name)
		addAll(x, reporting.CollectorMetrics, &sum, "collector", name)
		for r, n := range e.Dropped {
			x.add("intsink_report_drops_total", n, "collector", name, "reason", exporters.DropReason(r))
		}
		x.add("intsink_report_packets_sent_total", min(e.Packets, sum.Packets), "collector", name)
		x.add("intsink_report_bytes_sent_total", e.Bytes, "collector", name)
		if e.Gateway == nil { // with one, workers send by themselves
			x.addTimes("intsink_report_delay_seconds", &e.Delays, 0, "collector", name)
		}
		for w, r := range e.Rings {
			x.add("intsink_report_ring_packets", uint64(r.Len()), "collector", name, "worker", fmt.Sprintf("w%d", w))
			x.add("intsink_report_ring_capacity", uint64(r.Size()), "collector", name, "worker", fmt.Sprintf("w%d", w))
		}
	}
}
