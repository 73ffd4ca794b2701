// Adds to /metrics the counters of links, workers, flows, events, bursts and collectors.

package observe

import (
	"fmt"
	"io"
	"time"

	"intsink/cmd/internal/logging"
	"intsink/engine"
	"intsink/engine/aside/checksum"
	"intsink/engine/aside/verify"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/histogram"
	"intsink/engine/reporting"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/quote"
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
	s.addMitigation(x, snapshots)
	addEvents(x, snapshots)
	s.addEpisodes(x)
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
		for d := range burst.NumDirections {
			c := &sum.Direction[d]
			x.add("intsink_received_packets_total", c.Received, "link", name, "direction", d)
			x.add("intsink_forwarded_packets_total", c.Forwarded, "link", name, "direction", d)
			for r, n := range c.Dropped {
				x.add("intsink_dropped_packets_total", n, "link", name, "direction", d, "reason", burst.DropReason(r))
			}
		}
		for t, n := range sum.INT {
			if inthdr.Type(t).Known() {
				x.add("intsink_int_packets_total", n, "link", name, "type", inthdr.Type(t))
			}
		}
		for f, n := range sum.Flagged {
			x.add("intsink_int_flagged_packets_total", n, "link", name, "flag", burst.Flag(f))
		}
		for r, n := range sum.Malformed {
			if r > 0 {
				x.add("intsink_malformed_packets_total", n, "link", name, "reason", inthdr.Reason(r))
			}
		}
		for before := range sum.Checksum.Checksums {
			for after, n := range sum.Checksum.Checksums[before] {
				x.add("intsink_checksum_samples_total", n, "link", name, "before", checksum.State(before), "after", checksum.State(after))
			}
		}
		for v, n := range sum.Verify.Verified {
			x.add("intsink_verified_packets_total", n, "link", name, "result", verify.Result(v))
		}
		for r, n := range sum.Parse.Quotes {
			x.add("intsink_icmp_quotes_total", n, "link", name, "result", quote.Result(r))
		}
		x.add("intsink_leaked_packets_total", sum.ToNetwork.Leaked, "link", name)
		for a, n := range sum.ToNetwork.Marked {
			x.add("intsink_marked_packets_total", n, "link", name, "action", tonetwork.MarkAction(a))
		}
		x.add("intsink_passed_packets_total", sum.PassAll.Passed, "link", name)
	}
}

func addEvents(x *exposition, snapshots []engine.Counters) {
	var untracked uint64
	for i := range snapshots {
		untracked += snapshots[i].Detector.UntrackedHops
	}
	x.add("intsink_untracked_hops_total", untracked)
	addSequences(x, snapshots)
	for n := range event.NumNews {
		var reports uint64
		for i := range snapshots {
			reports += snapshots[i].News[n]
		}
		x.add("intsink_reports_news_total", reports, "news", n)
	}
	for e := range event.NumEvents {
		var fired, reported, shed uint64
		var suppressed [event.NumSuppressReasons]uint64
		for i := range snapshots {
			s := &snapshots[i]
			fired += s.Detector.Fired[e]
			reported += s.Reported[e]
			shed += s.Shed[e]
			for r := range suppressed {
				suppressed[r] += s.Detector.Suppressed[e][r]
			}
		}
		name := event.Event(e)
		x.add("intsink_events_total", fired, "event", name)
		x.add("intsink_reported_events_total", reported, "event", name)
		x.add("intsink_shed_events_total", shed, "event", name)
		for r, n := range suppressed {
			x.add("intsink_suppressed_events_total", n, "event", name, "reason", event.SuppressReason(r))
		}
	}
}

// addSequences adds what sequence numbers and clocks told.
func addSequences(x *exposition, snapshots []engine.Counters) {
	var sum event.Counters
	for i := range snapshots {
		d := &snapshots[i].Detector
		sum.Lost += d.Lost
		sum.Reordered += d.Reordered
		sum.Duplicates += d.Duplicates
		sum.Restarts += d.Restarts
		sum.ClockSkew += d.ClockSkew
		for v, n := range d.Lacking {
			sum.Lacking[v] += n
		}
		for v, n := range d.IPHops {
			sum.IPHops[v] += n
		}
		sum.HopLatencies.Add(&d.HopLatencies)
		sum.LinkLatencies.Add(&d.LinkLatencies)
	}
	x.add("intsink_lost_packets_total", sum.Lost)
	x.add("intsink_reordered_packets_total", sum.Reordered)
	x.add("intsink_duplicate_packets_total", sum.Duplicates)
	x.add("intsink_sequence_restarts_total", sum.Restarts)
	x.addTimes("intsink_hop_latency_seconds", &sum.HopLatencies, 0)
	x.addTimes("intsink_link_latency_seconds", &sum.LinkLatencies, 0)
	x.add("intsink_clock_skew_total", sum.ClockSkew)
	for v, n := range sum.Lacking {
		x.add("intsink_flows_lacking_total", n, "value", event.Lacking(v))
	}
	x.add("intsink_path_ip_hops_total", sum.IPHops[0], "int", "no")
	x.add("intsink_path_ip_hops_total", sum.IPHops[1], "int", "yes")
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
				sum.Add(c)
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
		x.add("intsink_reports_total", sum.Reports, "collector", name)
		x.add("intsink_reports_cut_total", sum.Cut, "collector", name)
		x.add("intsink_report_packets_total", sum.Packets, "collector", name)
		for r, n := range sum.Dropped {
			x.add("intsink_report_drops_total", n, "collector", name, "reason", reporting.DropReason(r))
		}
		for e, n := range sum.Shed {
			x.add("intsink_shed_reports_total", n, "collector", name, "event", event.Event(e))
		}
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
