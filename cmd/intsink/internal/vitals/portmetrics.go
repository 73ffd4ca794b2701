// Metrics of ports, report ports and pools.

package vitals

import (
	"maps"
	"slices"

	"intsink/engine/metric"
	"intsink/exporters/port"
)

// portMetrics are of all ports; the counters of each driver are read once.
func (s *Server) portMetrics() []metric.Bound {
	all := metric.Bind(linkMetrics, s)
	for _, p := range s.Ports {
		if c, err := p.Device.Counters(); err == nil {
			all = append(all, metric.Bind(driverMetrics, &c, "port", p.Name)...)
		}
	}
	return append(all, metric.Bind(poolMetrics, s)...)
}

// linkMetrics are of links of ports, and of what is heard on those that reports leave by.
var linkMetrics = []metric.Of[Server]{
	{Name: "intsink_neighbor_frames_total", Help: "ARP and Neighbor Discovery on ports that reports leave by", Samples: func(s *Server, to metric.Samples) {
		for _, p := range s.ReportPorts {
			for k, n := range p.Port.Frames() {
				to.Add(n, "port", p.Name, "kind", port.FrameKind(k))
			}
		}
	}},
	{Name: "intsink_port_link_up", Help: "1: frames can pass; 0: the link is down, or the kernel interface gone", Samples: func(s *Server, to metric.Samples) {
		for _, p := range s.Ports {
			to.Add(metric.One(p.Device.LinkDown() == ""), "port", p.Name)
		}
	}},
	{Name: "intsink_port_link_changes_total", Help: "how often the link came up or went down since the start", Samples: func(s *Server, to metric.Samples) {
		for _, p := range s.Ports {
			to.Add(p.Device.LinkChanges(), "port", p.Name)
		}
	}},
}

// driverMetrics are by the counters of a port's driver.
var driverMetrics = []metric.Of[PortCounters]{
	{Name: "intsink_port_rx_packets_total", Help: "packets received, by the driver's count", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.RxPackets) }},
	{Name: "intsink_port_tx_packets_total", Help: "packets sent, by the driver's count", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.TxPackets) }},
	{Name: "intsink_port_rx_bytes_total", Help: "bytes received, by the driver's count", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.RxBytes) }},
	{Name: "intsink_port_tx_bytes_total", Help: "bytes sent, by the driver's count", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.TxBytes) }},
	{Name: "intsink_port_rx_missed_total", Help: "packets dropped by the NIC, or by the kernel for a kernel interface: its queue was full", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.RxMissed) }},
	{Name: "intsink_port_rx_errors_total", Help: "packets received with an error, by the driver's count", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.RxErrors) }},
	{Name: "intsink_port_tx_errors_total", Help: "packets that could not be sent, by the driver's count", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.TxErrors) }},
	{Name: "intsink_port_rx_nombuf_total", Help: "packets dropped by the driver: the packet pool was empty", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.RxNoMbuf) }},
	{Name: "intsink_port_rx_truncated_total", Help: "packets of a kernel interface dropped because they could not be received whole", Samples: func(c *PortCounters, to metric.Samples) { to.Add(c.RxTruncated) }},
	{Name: "intsink_port_rx_uncut_total", Help: "packets of a kernel interface dropped because what the kernel left to the sink could not be done, by reason: headers or kind (of a joined frame), checksum", Samples: func(c *PortCounters, to metric.Samples) {
		for _, reason := range slices.Sorted(maps.Keys(c.RxUncut)) {
			to.Add(c.RxUncut[reason], "reason", reason)
		}
	}},
}

// poolMetrics are the metrics of pools of packets.
var poolMetrics = []metric.Of[Server]{
	{Name: "intsink_mbufs", Help: "mbufs of the packet pool", Samples: func(s *Server, to metric.Samples) { to.Add(uint64(s.Mbufs.Size())) }},
	{Name: "intsink_mbufs_in_use", Help: "mbufs of the packet pool that are in use", Samples: func(s *Server, to metric.Samples) { to.Add(uint64(s.Mbufs.InUse())) }},
	{Name: "intsink_report_mbufs", Help: "mbufs of the worker's pool of report packets", Samples: func(s *Server, to metric.Samples) {
		for i, p := range s.ReportPools {
			to.Add(uint64(p.Size()), "worker", worker(i))
		}
	}},
	{Name: "intsink_report_mbufs_in_use", Help: "mbufs of that pool that are in use: open, waiting for an exporter or in a cache", Samples: func(s *Server, to metric.Samples) {
		for i, p := range s.ReportPools {
			to.Add(uint64(p.InUse()), "worker", worker(i))
		}
	}},
}
