// Metrics of captures.

package livecapture

import "intsink/engine/metric"

// Metrics implements part.Metrics.
func (s *Server) Metrics() []metric.Bound {
	c := s.Counters()
	return metric.Bind(metrics, &c)
}

var metrics = []metric.Of[Counters]{
	{Name: "intsink_capture_running", Help: "1: workers take packets for a capture (POST /api/v1/capture); 0: there is none", Samples: func(c *Counters, to metric.Samples) {
		to.Add(metric.One(c.Running))
	}},
	{Name: "intsink_capture_packets_total", Help: "packets in captures, once for each stage", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Packets)
	}},
	{Name: "intsink_capture_dropped_total", Help: "packets that captures lack, by reason: rate (beyond that of the capture) or reader (not taken in time)", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.DroppedRate, "reason", "rate")
		to.Add(c.DroppedRoom, "reason", "reader")
	}},
}
