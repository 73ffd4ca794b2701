// Blocks node_model as event.NodeModel.

package sinkconf

import (
	"intsink/conf"
	"intsink/engine/event"
)

// NodeModels is what the configuration says of the nodes' values.
func NodeModels(c *conf.Config) []event.NodeModel {
	var out []event.NodeModel
	for i := range c.NodeModels {
		m := &c.NodeModels[i]
		x := event.NodeModel{
			LatencyUnit:   uint32(m.LatencyUnit),
			QueueUnit:     max(m.QueueUnit.Size, 1),
			TimestampBits: m.TimestampBits,
			TimestampUnit: uint32(m.TimestampUnit),
			Unix:          m.TimestampEpoch == "unix",
		}
		for _, r := range m.Nodes {
			x.Nodes = append(x.Nodes, event.NodeRange(r))
		}
		out = append(out, x)
	}
	return out
}
