// Adds to /metrics ports, report ports, gateways and pools.

package observe

import (
	"fmt"
	"maps"
	"slices"

	"intsink/exporters/port"
)

func (s *Source) addPorts(x *exposition) {
	for _, p := range s.Ports {
		up := uint64(0)
		if p.Device.LinkDown() == "" {
			up = 1
		}
		x.add("intsink_port_link_up", up, "port", p.Name)
		x.add("intsink_port_link_changes_total", p.Device.LinkChanges(), "port", p.Name)
		c, err := p.Device.Counters()
		if err != nil {
			continue
		}
		x.add("intsink_port_rx_packets_total", c.RxPackets, "port", p.Name)
		x.add("intsink_port_tx_packets_total", c.TxPackets, "port", p.Name)
		x.add("intsink_port_rx_bytes_total", c.RxBytes, "port", p.Name)
		x.add("intsink_port_tx_bytes_total", c.TxBytes, "port", p.Name)
		x.add("intsink_port_rx_missed_total", c.RxMissed, "port", p.Name)
		x.add("intsink_port_rx_errors_total", c.RxErrors, "port", p.Name)
		x.add("intsink_port_tx_errors_total", c.TxErrors, "port", p.Name)
		x.add("intsink_port_rx_nombuf_total", c.RxNoMbuf, "port", p.Name)
		x.add("intsink_port_rx_truncated_total", c.RxTruncated, "port", p.Name)
		for _, reason := range slices.Sorted(maps.Keys(c.RxUncut)) {
			x.add("intsink_port_rx_uncut_total", c.RxUncut[reason], "port", p.Name, "reason", reason)
		}
	}
	x.add("intsink_mbufs_in_use", uint64(s.Mbufs.InUse()))
	for i, p := range s.ReportPools {
		x.add("intsink_report_mbufs", uint64(p.Size()), "worker", fmt.Sprintf("w%d", i))
		x.add("intsink_report_mbufs_in_use", uint64(p.InUse()), "worker", fmt.Sprintf("w%d", i))
	}
	x.add("intsink_mbufs", uint64(s.Mbufs.Size()))
}

// addReportPorts adds what the ports heard and asked, and which gateways are
// known.
func (s *Source) addReportPorts(x *exposition) {
	for _, p := range s.ReportPorts {
		for k, n := range p.Port.Frames() {
			x.add("intsink_neighbor_frames_total", n, "port", p.Name, "kind", port.FrameKind(k))
		}
	}
	for _, c := range s.Collectors() {
		if c.Gateway != nil {
			known := uint64(0)
			if c.Gateway.Resolved() {
				known = 1
			}
			x.add("intsink_gateway_known", known, "collector", c.Name)
		}
	}
}
