package main

import (
	"fmt"
	"io"

	"github.com/VictoriaMetrics/metrics"

	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/exporters"
)

// writeMetrics writes every counter in Prometheus text format. The labels take
// their values from the configuration and from closed lists, never from
// traffic.
func (a *appliance) writeMetrics(w io.Writer) {
	snapshots := make([]engine.Counters, len(a.workers))
	for i, worker := range a.workers {
		snapshots[i] = worker.Snapshot()
	}
	a.writeLinks(w, snapshots)
	a.writeEvents(w, snapshots)
	a.writeFlows(w, snapshots)
	a.writeCollectors(w, snapshots)
	a.writePorts(w)
	metrics.WriteGaugeUint64(w, fmt.Sprintf(`intsink_build_info{version=%q}`, version), 1)
	metrics.WriteProcessMetrics(w)
}

// counter writes one sample of a counter.
func counter(w io.Writer, n uint64, format string, args ...any) {
	metrics.WriteCounterUint64(w, fmt.Sprintf(format, args...), n)
}

func (a *appliance) writeLinks(w io.Writer, snapshots []engine.Counters) {
	for i, name := range a.linkNames {
		var sum engine.LinkCounters
		for s := range snapshots {
			sum.Add(&snapshots[s].Links[i])
		}
		for d := range engine.NumDirections {
			c := &sum.Direction[d]
			counter(w, c.Received, `intsink_received_packets_total{link=%q,direction=%q}`, name, d)
			counter(w, c.Forwarded, `intsink_forwarded_packets_total{link=%q,direction=%q}`, name, d)
			for r, n := range c.Dropped {
				counter(w, n, `intsink_dropped_packets_total{link=%q,direction=%q,reason=%q}`, name, d, engine.DropReason(r))
			}
		}
		for t, n := range sum.INT {
			if inthdr.Type(t).Known() {
				counter(w, n, `intsink_int_packets_total{link=%q,type=%q}`, name, inthdr.Type(t))
			}
		}
		for r, n := range sum.Malformed {
			if r > 0 {
				counter(w, n, `intsink_malformed_packets_total{link=%q,reason=%q}`, name, inthdr.Reason(r))
			}
		}
		counter(w, sum.Leaked, `intsink_leaked_packets_total{link=%q}`, name)
	}
}

func (a *appliance) writeEvents(w io.Writer, snapshots []engine.Counters) {
	var untracked uint64
	for i := range snapshots {
		untracked += snapshots[i].Detector.UntrackedHops
	}
	counter(w, untracked, `intsink_untracked_hops_total`)
	for e := range event.NumEvents {
		var fired, reported uint64
		var suppressed [event.NumSuppressReasons]uint64
		for i := range snapshots {
			s := &snapshots[i]
			fired += s.Detector.Fired[e]
			reported += s.Reported[e]
			for r := range suppressed {
				suppressed[r] += s.Detector.Suppressed[e][r]
			}
		}
		name := event.Event(e)
		counter(w, fired, `intsink_events_total{event=%q}`, name)
		counter(w, reported, `intsink_reported_events_total{event=%q}`, name)
		for r, n := range suppressed {
			counter(w, n, `intsink_suppressed_events_total{event=%q,reason=%q}`, name, event.SuppressReason(r))
		}
	}
}

func (a *appliance) writeFlows(w io.Writer, snapshots []engine.Counters) {
	for i := range snapshots {
		metrics.WriteGaugeUint64(w, fmt.Sprintf(`intsink_flows{worker="w%d"}`, i), snapshots[i].Flows)
		counter(w, snapshots[i].Evictions, `intsink_flow_evictions_total{worker="w%d"}`, i)
	}
}

func (a *appliance) writeCollectors(w io.Writer, snapshots []engine.Counters) {
	for i, e := range a.exporters {
		name := a.collectorNames[i]
		var sum engine.CollectorCounters
		for s := range snapshots {
			sum.Add(&snapshots[s].Collectors[i])
		}
		counter(w, sum.Reports, `intsink_reports_total{collector=%q}`, name)
		counter(w, sum.Packets, `intsink_report_packets_total{collector=%q}`, name)
		for r, n := range sum.Dropped {
			counter(w, n, `intsink_report_drops_total{collector=%q,reason=%q}`, name, engine.ReportDropReason(r))
		}
		for r := range exporters.NumDropReasons {
			counter(w, e.Dropped[r].Load(), `intsink_report_drops_total{collector=%q,reason=%q}`, name, r)
		}
		counter(w, e.Packets.Load(), `intsink_report_packets_sent_total{collector=%q}`, name)
		counter(w, e.Bytes.Load(), `intsink_report_bytes_sent_total{collector=%q}`, name)
	}
}

func (a *appliance) writePorts(w io.Writer) {
	for _, p := range a.ports {
		s, err := p.eth.Stats()
		if err != nil {
			continue
		}
		counter(w, s.IPackets, `intsink_port_rx_packets_total{port=%q}`, p.name)
		counter(w, s.OPackets, `intsink_port_tx_packets_total{port=%q}`, p.name)
		counter(w, s.IBytes, `intsink_port_rx_bytes_total{port=%q}`, p.name)
		counter(w, s.OBytes, `intsink_port_tx_bytes_total{port=%q}`, p.name)
		counter(w, s.IMissed, `intsink_port_rx_missed_total{port=%q}`, p.name)
		counter(w, s.IErrors, `intsink_port_rx_errors_total{port=%q}`, p.name)
		counter(w, s.OErrors, `intsink_port_tx_errors_total{port=%q}`, p.name)
		counter(w, s.RxNoMbuf, `intsink_port_rx_nombuf_total{port=%q}`, p.name)
	}
	metrics.WriteGaugeUint64(w, `intsink_mbufs_in_use`, uint64(a.pool.InUse()))
	metrics.WriteGaugeUint64(w, `intsink_mbufs`, uint64(a.pool.Size()))
}
