// Writes the aggregates as Prometheus text.

package aggregate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"intsink/engine/wire/report"
)

// WriteTo writes all series in Prometheus' text format, the lines of one metric together.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	values, events, none := s.merged()
	keys := make([]key, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y key) int {
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b), cmp.Compare(x.c, y.c))
	})
	for k, m := range metrics {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.typ)
		for _, x := range keys {
			if x.kind == kind(k) {
				values[x].write(w, m.name, x)
			}
		}
	}
	fmt.Fprint(w, "# HELP intcollect_event_reports_total Reports by what they were sent for; none: the sink does not explain them.\n# TYPE intcollect_event_reports_total counter\n")
	for i, name := range report.EventNames {
		fmt.Fprintf(w, "intcollect_event_reports_total{event=%q} %d\n", name, events[i])
	}
	fmt.Fprintf(w, "intcollect_event_reports_total{event=\"none\"} %d\n", none)
	fmt.Fprintf(w, "# HELP intcollect_series Series of the metrics above.\n# TYPE intcollect_series gauge\nintcollect_series %d\n", s.series.Load())
	fmt.Fprintf(w, "# HELP intcollect_series_refused_total Values that were not counted because http.series was reached.\n# TYPE intcollect_series_refused_total counter\nintcollect_series_refused_total %d\n", s.refused.Load())
	return 0, nil
}

// metrics has the name, type and help of each kind's metric, indexed by kind.
var metrics = [...]struct{ name, typ, help string }{
	hop:      {"intcollect_hop_latency_seconds", "histogram", "Latency that nodes say they added to reported packets."},
	link:     {"intcollect_link_latency_seconds", "histogram", "Time between leaving one node and reaching the next."},
	queue:    {"intcollect_queue_occupancy", "histogram", "Queue occupancy that reported packets met, in the node's units."},
	reporter: {"intcollect_reporter_latency_seconds", "histogram", "Latency that sinks say they added themselves to packets that have hops in them."},
	drop:     {"intcollect_drop_reports_total", "counter", "Reports of dropped packets, by node and the node's reason."},
}

// merged returns the sums over all shards.
func (s *Set) merged() (values map[key]*histogram, events [32]uint64, none uint64) {
	values = map[key]*histogram{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sh := range s.shards {
		sh.mu.Lock()
		for k, h := range sh.values {
			sum := values[k]
			if sum == nil {
				sum = &histogram{}
				values[k] = sum
			}
			sum.count += h.count
			sum.sum += h.sum
			for i, n := range h.buckets {
				sum.buckets[i] += n
			}
		}
		for i, n := range sh.events {
			events[i] += n
		}
		none += sh.none
		sh.mu.Unlock()
	}
	return values, events, none
}

func (h *histogram) write(w io.Writer, name string, k key) {
	labels := ""
	switch k.kind {
	case hop, reporter:
		labels = fmt.Sprintf(`node="%d"`, k.a)
	case link:
		labels = fmt.Sprintf(`from="%d",to="%d"`, k.a, k.b)
	case queue:
		labels = fmt.Sprintf(`node="%d",egress="%d",queue="%d"`, k.a, k.b, k.c)
		h.writeBuckets(w, name, labels, occupancyBuckets, func(i int) float64 { return float64(occupancyBound(i)) }, float64(h.sum))
		return
	case drop:
		reason := "unknown"
		if k.b != noReason {
			reason = strconv.Itoa(int(k.b))
		}
		fmt.Fprintf(w, "%s{node=\"%d\",reason=%q} %d\n", name, k.a, reason, h.count)
		return
	}
	h.writeBuckets(w, name, labels, numBuckets, func(i int) float64 { return float64(latencyBounds[i]) / 1e9 }, float64(h.sum)/1e9)
}

func (h *histogram) writeBuckets(w io.Writer, name, labels string, n int, bound func(int) float64, sum float64) {
	total := uint64(0)
	for i := range n {
		total += h.buckets[i]
		fmt.Fprintf(w, "%s_bucket{%s,le=%q} %d\n", name, labels, strconv.FormatFloat(bound(i), 'g', -1, 64), total)
	}
	fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %s\n%s_count{%s} %d\n", name, labels, h.count,
		name, labels, strconv.FormatFloat(sum, 'g', -1, 64), name, labels, h.count)
}
