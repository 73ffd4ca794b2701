// Metrics: the list of all metrics, each with its help text; which are histograms.

package observe

import (
	"slices"
	"strings"

	"intsink/engine"
	"intsink/engine/metric"
	"intsink/engine/reporting"
)

// Metric is one metric of our own. Help stands in docs/metrics.md, too: a test
// compares.
type Metric struct{ Name, Help string }

// Kind is the metric's type: what counts is named _total, and some are histograms.
func (m Metric) Kind() string {
	if strings.HasSuffix(m.Name, "_total") {
		return "counter"
	}
	if slices.Contains(histograms, m.Name) {
		return "histogram"
	}
	return "gauge"
}

// histograms have buckets, a sum and a count.
var histograms = []string{"intsink_burst_size", "intsink_poll_gap_seconds", "intsink_hop_latency_seconds", "intsink_link_latency_seconds", "intsink_report_delay_seconds"}

// Metrics is every metric of our own, in the order of /metrics: those that engine declares beside its counters, and own.
var Metrics = list()

func list() (all []Metric) {
	all = append(named(named(all, engine.LinkMetrics), engine.SumMetrics), named(nil, reporting.CollectorMetrics)...)
	for _, x := range own {
		at := slices.IndexFunc(all, func(m Metric) bool { return m.Name == x.behind })
		all = slices.Insert(all, at+1, x.metrics...)
	}
	return all
}

// named appends the names of those of to.
func named[C any](to []Metric, those []metric.Of[C]) []Metric {
	for _, m := range those {
		to = append(to, Metric{m.Name, m.Help})
	}
	return to
}

// own are the metrics of what engine does not count, and of a worker each, behind those that engine has.
var own = []struct {
	behind  string
	metrics []Metric
}{
	{"intsink_passed_packets_total", []Metric{
		{"intsink_mitigation_rules", "rules of mitigation in force, by action: count, drop, police"},
	}},
	{"intsink_mitigation_bytes_total", []Metric{
		{"intsink_capture_running", "1: workers take packets for a capture (POST /api/v1/capture); 0: there is none"},
		{"intsink_capture_packets_total", "packets in captures, once for each stage"},
		{"intsink_capture_dropped_total", "packets that captures lack, by reason: rate (beyond that of the capture) or reader (not taken in time)"},
	}},
	{"intsink_recorder_left_out_packets_total", []Metric{
		{"intsink_recorder_reach_seconds", "how far back the flight recorder of a worker has all packets that it took"},
	}},
	{"intsink_suppressed_events_total", []Metric{
		{"intsink_episodes_open", "queues in an episode of congestion that is recorded"},
		{"intsink_episodes_total", "recorded episodes that ended"},
		{"intsink_episodes_unrecorded_total", "episodes for which there was no record left: 64 may be open"},
		{"intsink_episode_seconds_total", "time that the recorded episodes lasted, all together"},
		{"intsink_episode_packets_total", "packets that passed the queues in these episodes"},
		{"intsink_episode_bytes_total", "bytes of these packets, without INT"},
		{"intsink_episode_culprit_bytes_total", "bytes of them that were of the three flows with most of them, of each episode"},
		{"intsink_usual_places", "queues, hops, segments and paths that samples have told of, by kind: queue, hop, segment, path"},
		{"intsink_usual_evictions_total", "places that made room for others: 8192 of each kind are remembered"},
	}},
	{"intsink_link_latency_seconds", []Metric{
		{"intsink_flows", "flows in the table"},
		{"intsink_flow_capacity", "flows that the table has room for"},
		{"intsink_flow_evictions_total", "flows that made room for others before they were idle"},
		{"intsink_flow_refusals_total", "packets of unknown flows that found no room: beyond 100,000 evictions a second they lose their INT and are not watched"},
		{"intsink_longest_poll_gap_seconds", "longest time between two polls of the worker in the last 15 to 30 seconds, sleep when idle included"},
		{"intsink_long_poll_gaps_total", "times between two polls of the worker of at least that long: 100µs, 1ms, 10ms"},
		{"intsink_poll_gap_seconds", "times between two polls of the worker, sleep when idle included"},
		{"intsink_worker_busy_seconds_total", "time of the worker from each poll that found packets to the next; its rate is the share of the worker that is used, 1 is all of it"},
		{"intsink_worker_polls_total", "polls of the worker by result: packets, empty"},
		{"intsink_burst_size", "packets that one call to a port gave the worker, 64 at most; calls that gave none are not in it"},
		{"intsink_refresh_stretch_percent", "time to a flow's next refresh in percent of the configured one: 100, or up to 1500 while budgets shed refreshes"},
	}},
	{"intsink_report_packets_total", []Metric{
		{"intsink_report_packets_sent_total", "report packets handed to the kernel or the port and not refused; never more than were sealed"},
		{"intsink_report_bytes_sent_total", "UDP payload of the report packets that were sent"},
		{"intsink_report_delay_seconds", "time of a report packet from its first report until the kernel took it; of collectors without a port"},
		{"intsink_report_ring_packets", "report packets of the worker that wait for the exporter"},
		{"intsink_report_ring_capacity", "report packets that may wait there; beyond that they are dropped as ring_full"},
	}},
	{"intsink_report_drops_total", []Metric{
		{"intsink_gateway_known", "1: the MAC address that the reports to a collector with a port go to is known; 0: they are dropped"},
		{"intsink_neighbor_frames_total", "ARP and Neighbor Discovery on ports that reports leave by"},
		{"intsink_port_link_up", "1: frames can pass; 0: the link is down, or the kernel interface gone"},
		{"intsink_port_link_changes_total", "how often the link came up or went down since the start"},
		{"intsink_port_rx_packets_total", "packets received, by the driver's count"},
		{"intsink_port_tx_packets_total", "packets sent, by the driver's count"},
		{"intsink_port_rx_bytes_total", "bytes received, by the driver's count"},
		{"intsink_port_tx_bytes_total", "bytes sent, by the driver's count"},
		{"intsink_port_rx_missed_total", "packets dropped by the NIC, or by the kernel for a kernel interface: its queue was full"},
		{"intsink_port_rx_errors_total", "packets received with an error, by the driver's count"},
		{"intsink_port_tx_errors_total", "packets that could not be sent, by the driver's count"},
		{"intsink_port_rx_nombuf_total", "packets dropped by the driver: the packet pool was empty"},
		{"intsink_port_rx_truncated_total", "packets of a kernel interface dropped because they could not be received whole"},
		{"intsink_port_rx_uncut_total", "packets of a kernel interface dropped because what the kernel left to the sink could not be done, by reason: headers or kind (of a joined frame), checksum"},
		{"intsink_mbufs", "mbufs of the packet pool"},
		{"intsink_mbufs_in_use", "mbufs of the packet pool that are in use"},
		{"intsink_report_mbufs", "mbufs of the worker's pool of report packets"},
		{"intsink_report_mbufs_in_use", "mbufs of that pool that are in use: open, waiting for an exporter or in a cache"},
		{"intsink_degraded", "1: a part does not work as the configuration asks for, while all else does; tried again each second. No sample: nothing is degraded"},
		{"intsink_degraded_since_timestamp_seconds", "since when a part is degraded, in Unix seconds"},
		{"intsink_problems", "what is wrong now, by kind: see docs/run.md, Problems"},
		{"intsink_notify_total", "begins and ends of problems that a webhook was to tell, by result: sent, failed (given up), dropped (no room), replaced (it went on before it was sent)"},
		{"intsink_log_lines_dropped_total", "lines of the log that could not be written, or had no room because who reads the log does not"},
		{"intsink_clock_offset_seconds", "wall clock less the sink's own, which began with it at start and never steps; timestamps of reports follow the wall clock"},
		{"intsink_config_last_reload_successful", "1: the last reload was done, or there was none; 0: it was refused, and the configuration before it is in force"},
		{"intsink_config_last_reload_success_timestamp_seconds", "when the configuration in force was taken over, at start or by a reload, in seconds since 1970"},
		{"intsink_config_generation", "1 at start, one more with each reload that was not refused"},
		{"intsink_config_info", "1; the label is the SHA-256 of the configuration in force, as sha256sum prints it of the file"},
		{"intsink_config_trial", "1: the configuration in force, or the program that runs, goes by itself unless it is confirmed; 0: it stays"},
		{"intsink_config_trials_total", "trials of configurations and programs that ended: confirmed, timeout, back (asked for), reports or poll_gap (above the limit), stuck (a worker did not poll), problem (something became wrong), crashed (a new program ended, or did not forward)"},
		{"intsink_mode", "1 for the mode in force: full, strip (no flows, events and reports), pass (packets pass as they came), bypass; 0 for the others"},
		{"intsink_mode_changes_total", "how often the mode was entered since the start"},
		{"intsink_bypass_active", "1: the bypass switch takes packets around the sink; 0: it does not, or nobody knows"},
		{"intsink_bypass_commands_total", "commands of the bypass switch: ok, failed"},
		{"intsink_api_writes_total", "requests to change something, by result: ok, refused (by what it asked for), forbidden, limited (too many at once), bad_request"},
		{"intsink_api_unauthorized_total", "requests from other machines that were refused for they showed no token or certificate"},
		{"intsink_build_info", "1; the label says which version runs"},
	}},
}
