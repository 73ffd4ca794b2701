// Metrics that the counters of the detector make.

package event

import "intsink/engine/metric"

// Entered is the metric that those of reports of the events follow.
var Entered = []metric.Of[Counters]{
	{Name: "intsink_events_total", Help: "events that entered, reported or not", Samples: func(c *Counters, to metric.Samples) {
		for e, n := range c.Fired {
			to.Add(n, "event", Event(e))
		}
	}},
}

// Metrics are the others.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_suppressed_events_total", Help: "events withheld: rate (token bucket empty), interval (too soon), quota (of a congestion episode, used up), restart (new_flow.after_restart) or episode (of a latency: the episode of a queue on the way tells it)", Samples: func(c *Counters, to metric.Samples) {
		for e := range c.Suppressed {
			for r, n := range c.Suppressed[e] {
				to.Add(n, "event", Event(e), "reason", SuppressReason(r))
			}
		}
	}},
	{Name: "intsink_untracked_hops_total", Help: "latencies of hops beyond a flow's room", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.UntrackedHops)
	}},
	{Name: "intsink_lost_packets_total", Help: "sequence numbers that never came", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Lost)
	}},
	{Name: "intsink_reordered_packets_total", Help: "sequence numbers that came late", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Reordered)
	}},
	{Name: "intsink_duplicate_packets_total", Help: "sequence numbers that came again", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Duplicates)
	}},
	{Name: "intsink_sequence_restarts_total", Help: "sequences that jumped beyond the window and began anew", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Restarts)
	}},
	{Name: "intsink_clock_skew_total", Help: "latencies of links and of the whole way that came out negative, or that a wrong clock has a part in; withheld", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.ClockSkew + c.WaySkew)
	}},
	{Name: "intsink_flows_lacking_total", Help: "new flows whose INT does not carry a value that a watched event needs, by value: node_id, interfaces, hop_latency, queue, timestamps, tx_utilization, unit_of_tx_utilization", Samples: func(c *Counters, to metric.Samples) {
		for i, n := range c.Lacking {
			to.Add(n, "value", Lacking(i))
		}
	}},
	{Name: "intsink_path_ip_hops_total", Help: "routers on the paths that flows came onto, by the TTL that the source writes into a domain's metadata (role ttl), that wrote INT or not", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.IPHops[0], "int", "no")
		to.Add(c.IPHops[1], "int", "yes")
	}},
	{Name: "intsink_hop_latency_seconds", Help: "latencies of hops, by a random sample of the INT packets that a watch selects, reported or not: one in 256 and up to 10,000 a second of each worker, of fewer packets up to 100 a second", Samples: func(c *Counters, to metric.Samples) {
		to.Times(&c.HopLatencies, 0)
	}},
	{Name: "intsink_link_latency_seconds", Help: "latencies of the links between the hops of the same sample, where packets carry timestamps", Samples: func(c *Counters, to metric.Samples) {
		to.Times(&c.LinkLatencies, 0)
	}},
}
