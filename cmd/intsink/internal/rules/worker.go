// Settings of workers that a reload cannot change: port ids, hw_id, flow table, report room.

package rules

import (
	"math"

	"intsink/conf"
	"intsink/exporters/port"
	"intsink/flows"
)

// PortID is the interface id of a port in the sink's own metadata.
func PortID(c *conf.Config, name string) uint16 {
	for i := range c.Ports {
		if c.Ports[i].Name == name {
			return c.Ports[i].ID
		}
	}
	return 0
}

// Flows is the flow table of one worker; seed keys its hash.
func Flows(c *conf.Config, seed uint64) flows.Config {
	return flows.Config{Capacity: c.Flows.Capacity, Seed: seed, IdleTimeout: int64(c.Flows.IdleTimeout)}
}

// HwID is the hw_id of worker w: 6 bits.
func HwID(c *conf.Config, w int) uint8 {
	return uint8(min(int(c.Node.HwIDBase)+w, math.MaxUint8)) & 0x3f
}

// ReportRoom is the buffer of one report packet: headroom for its headers, the
// handoff, and the largest payload.
func ReportRoom(c *conf.Config) int {
	return conf.ReportRoom + c.Report.Coalesce.MaxBytes
}

// PortSource is how the UDP source port of report packets to col is chosen.
func PortSource(col *conf.Collector) port.SourcePort {
	return port.SourcePort{Hash: col.SourcePortMode == conf.HashedSourcePort, Fixed: col.SourcePortMode == conf.FixedSourcePort, Number: col.SourcePort}
}
