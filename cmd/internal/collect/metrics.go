// Writes collect's metrics as Prometheus text, from a Snapshot: listens, streams, outputs,
// spool.

package collect

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/VictoriaMetrics/metrics"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/logging"
	"intsink/exporters/collect"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// exposition writes metrics, the lines of one together under their help and type.
type exposition struct{ w *bufio.Writer }

// metric begins a metric.
func (e exposition) metric(name, typ, help string) {
	fmt.Fprintf(e.w, "# HELP intcollect_%s %s\n# TYPE intcollect_%s %s\n", name, help, name, typ)
}

// value writes one line; labels is empty or a="b",c="d".
func (e exposition) value(name, labels string, v float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(e.w, "intcollect_%s%s %s\n", name, labels, strconv.FormatFloat(v, 'f', -1, 64))
}

// column is one metric of many things of a kind.
type column[T any] struct {
	name, typ, help string
	value           func(*T) float64
}

// table writes all columns of all rows.
func table[T any](e exposition, rows []T, labels func(*T) string, columns []column[T]) {
	for _, c := range columns {
		e.metric(c.name, c.typ, c.help)
		for i := range rows {
			e.value(c.name, labels(&rows[i]), c.value(&rows[i]))
		}
	}
}

var listenColumns = []column[collect.ListenSnapshot]{
	{"datagrams_total", "counter", "Datagrams received.", func(l *collect.ListenSnapshot) float64 { return float64(l.Datagrams) }},
	{"report_packets_total", "counter", "Report packets taken: datagrams less those refused.", func(l *collect.ListenSnapshot) float64 { return float64(l.Packets) }},
	{"socket_overflow_datagrams_total", "counter", "Datagrams that the sockets' buffers had no room for, as of the last one received.", func(l *collect.ListenSnapshot) float64 { return float64(l.Overflows) }},
	{"socket_buffer_bytes", "gauge", "Buffer that the kernel gave each socket.", func(l *collect.ListenSnapshot) float64 { return float64(l.Buffer) }},
	{"streams", "gauge", "Streams of report packets: exporter, node, hw_id and collector address.", func(l *collect.ListenSnapshot) float64 { return float64(len(l.Streams)) }},
	{"lost_report_packets_total", "counter", "Report packets that did not come within a second of the next one.", sum(func(s *collect.StreamSnapshot) uint64 { return s.Lost })},
	{"late_report_packets_total", "counter", "Report packets that came when they had been counted as lost.", sum(func(s *collect.StreamSnapshot) uint64 { return s.Late })},
	{"reordered_report_packets_total", "counter", "Report packets that came behind a later one, in time.", sum(func(s *collect.StreamSnapshot) uint64 { return s.Reordered })},
	{"repeated_report_packets_total", "counter", "Report packets that came more than once.", sum(func(s *collect.StreamSnapshot) uint64 { return s.Repeated })},
	{"stream_restarts_total", "counter", "Sinks that began to count anew.", sum(func(s *collect.StreamSnapshot) uint64 { return s.Restarts })},
	{"unknown_gaps_total", "counter", "Outages after which it is not known how many report packets were lost.", sum(func(s *collect.StreamSnapshot) uint64 { return s.Unknown })},
	{"twin_report_packets_total", "counter", "Report packets with the number of another one and other contents: of a second sink.", sum(func(s *collect.StreamSnapshot) uint64 { return s.Twins })},
	{"elsewhere_report_packets_total", "counter", "Report packets that are missing here, and came to another collector behind the same address.", func(l *collect.ListenSnapshot) float64 { return float64(l.Elsewhere) }},
	{"twin_sinks_total", "counter", "Times that two sinks were found to share address, node id and hw_id.", func(l *collect.ListenSnapshot) float64 { return float64(l.Twins) }},
}

func sum(of func(*collect.StreamSnapshot) uint64) func(*collect.ListenSnapshot) float64 {
	return func(l *collect.ListenSnapshot) float64 {
		n := of(&collect.StreamSnapshot{Counts: l.Gone})
		for i := range l.Streams {
			n += of(&l.Streams[i])
		}
		return float64(n)
	}
}

var outputColumns = []column[collect.OutputSnapshot]{
	{"output_records_total", "counter", "Records that the output was given.", func(o *collect.OutputSnapshot) float64 { return float64(o.Taken) }},
	{"output_restored_records_total", "counter", "Records that were in the spool at the start.", func(o *collect.OutputSnapshot) float64 { return float64(o.Restored) }},
	{"output_delivered_records_total", "counter", "Records that the receiver has acknowledged.", func(o *collect.OutputSnapshot) float64 { return float64(o.Delivered) }},
	{"output_queued_records", "gauge", "Records that were sent, or are to be sent next, and are not acknowledged.", func(o *collect.OutputSnapshot) float64 { return float64(o.Queued) }},
	{"output_spooled_records", "gauge", "Records that wait in the log: on disk, without a spool in memory.", func(o *collect.OutputSnapshot) float64 { return float64(o.Waiting) }},
	{"output_retried_records_total", "counter", "Records that were sent again.", func(o *collect.OutputSnapshot) float64 { return float64(o.Retried) }},
	{"output_queue_bytes", "gauge", "Bytes of the batches that were sent and are not acknowledged.", func(o *collect.OutputSnapshot) float64 { return float64(o.QueueBytes) }},
	{"output_oldest_seconds", "gauge", "Time since the receipt of the oldest record that was sent and is not acknowledged.", func(o *collect.OutputSnapshot) float64 { return o.Oldest.Seconds() }},
	{"output_behind", "gauge", "1: reads the log, because it has not caught up with the latest batches.", func(o *collect.OutputSnapshot) float64 { return truth(!o.Live) }},
	{"output_up", "gauge", "1: the receiver takes what is sent, and has acknowledged some.", func(o *collect.OutputSnapshot) float64 { return truth(o.Takes && o.Proved) }},
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// writeMetrics writes everything.
func (d *daemon) writeMetrics(w io.Writer) {
	e := exposition{bufio.NewWriter(w)}
	defer e.w.Flush()
	s := d.collector.Snapshot()
	e.metric("build_info", "gauge", "Version of the program.")
	e.value("build_info", fmt.Sprintf("version=%q", d.version), 1)
	table(e, s.Listens, func(l *collect.ListenSnapshot) string { return fmt.Sprintf("listen=%q", l.Name) }, listenColumns)
	e.metric("refused_datagrams_total", "counter", "Datagrams that were not taken, by reason.")
	for i := range s.Listens {
		for r, n := range s.Listens[i].Refused {
			e.value("refused_datagrams_total", fmt.Sprintf("listen=%q,reason=%q", s.Listens[i].Name, collect.Refusal(r)), float64(n))
		}
	}
	writeTerminators(e, s.Listens)
	d.writeStreams(e, s.Listens)
	e.metric("records_total", "counter", "Records made, by type.")
	for t, n := range s.Records {
		e.value("records_total", fmt.Sprintf("type=%q", record.Type(t)), float64(n))
	}
	table(e, s.Outputs, func(o *collect.OutputSnapshot) string { return fmt.Sprintf("output=%q", o.Name) }, outputColumns)
	e.metric("output_dropped_records_total", "counter", "Records that the receiver will never have, by reason.")
	for i := range s.Outputs {
		for r, n := range s.Outputs[i].Dropped {
			e.value("output_dropped_records_total", fmt.Sprintf("output=%q,reason=%q", s.Outputs[i].Name, collect.Reason(r)), float64(n))
		}
	}
	d.writeSpool(e, s.SpoolErrors)
	e.metric("config_reloads_total", "counter", "Configurations read again at SIGHUP, by result.")
	for i, result := range []string{"refused", "adopted"} {
		e.value("config_reloads_total", fmt.Sprintf("result=%q", result), float64(d.reloads[i].Load()))
	}
	e.metric("config_loaded_timestamp_seconds", "gauge", "When the configuration in force was read.")
	e.value("config_loaded_timestamp_seconds", "", float64(d.reloaded.Load()))
	table(e, d.parts.List(), func(s *degraded.State) string { return fmt.Sprintf("part=%q,name=%q", s.Part, s.Name) }, []column[degraded.State]{
		{"degraded", "gauge", "1: a part does not work as the configuration asks for, while all else does; tried again each second.", func(*degraded.State) float64 { return 1 }},
		{"degraded_since_timestamp_seconds", "gauge", "Since when a part is degraded.", func(s *degraded.State) float64 { return float64(s.Since.Unix()) }},
	})
	e.metric("log_lines_dropped_total", "counter", "Lines of the log that could not be written, or had no room because who reads the log does not.")
	e.value("log_lines_dropped_total", "", float64(logging.Dropped()))
	d.set.WriteTo(e.w)
	metrics.WriteProcessMetrics(e.w)
}

// writeStreams writes the three lines of each stream, as far as http.series allows. Streams that differ in nothing but
// the start of the sink, or the version, are one.
func (d *daemon) writeStreams(e exposition, listens []collect.ListenSnapshot) {
	var rows []collect.StreamSnapshot
	at := map[streams.Key]int{}
	for _, l := range listens {
		for _, s := range l.Streams {
			k := streams.Key{Exporter: s.Exporter, Collector: s.Collector, Node: s.Node, HwID: s.HwID}
			if i, known := at[k]; known {
				rows[i].Counts.Add(&s.Counts)
				rows[i].Behind = s.Behind // of the latest start
				continue
			}
			at[k] = len(rows)
			rows = append(rows, s)
		}
	}
	rows = rows[:min(len(rows), d.series/3)]
	table(e, rows, func(s *collect.StreamSnapshot) string {
		return fmt.Sprintf("exporter=%q,node=\"%d\",hw_id=\"%d\",collector=%q", s.Exporter, s.Node, s.HwID, s.Collector)
	}, []column[collect.StreamSnapshot]{
		{"stream_report_packets_total", "counter", "Report packets of the stream that came.", func(s *collect.StreamSnapshot) float64 { return float64(s.Received) }},
		{"stream_lost_report_packets_total", "counter", "Report packets of the stream that did not come.", func(s *collect.StreamSnapshot) float64 { return float64(s.Lost) }},
		{"stream_clock_behind_seconds", "gauge", "How long before its receipt the sink's clock says that it made the latest report; below 0: after it.", func(s *collect.StreamSnapshot) float64 { return s.Behind.Seconds() }},
	})
}

// writeSpool writes the metrics of the spool; none if there is no spool.
func (d *daemon) writeSpool(e exposition, errors uint64) {
	if d.spool == nil {
		return
	}
	used, size := d.spool.Usage()
	failed, corrupt := d.spool.Failures()
	for _, m := range []struct {
		name, typ, help string
		value           float64
	}{
		{"spool_bytes", "gauge", "Bytes of the spool on disk.", float64(used)},
		{"spool_size_bytes", "gauge", "Bytes that the spool may have.", float64(size)},
		{"spool_failures_total", "counter", "Writes, syncs and removals of the spool that failed.", float64(failed)},
		{"spool_refused_batches_total", "counter", "Batches of report packets that the spool could not be given.", float64(errors)},
		{"spool_corrupt_segments_total", "counter", "Segments that could not be read to their end.", float64(corrupt)},
	} {
		e.metric(m.name, m.typ, m.help)
		e.value(m.name, "", m.value)
	}
}
