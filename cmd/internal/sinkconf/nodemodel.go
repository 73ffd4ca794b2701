// Blocks node_model as event.NodeModel.

package sinkconf

import (
	"intsink/conf"
	"intsink/engine/event"
)

// NodeModels converts the blocks node_model into the models of package event.
func NodeModels(models []conf.NodeModel) []event.NodeModel {
	var out []event.NodeModel
	for i := range models {
		m := &models[i]
		out = append(out, event.NodeModel{
			Nodes:         m.Nodes,
			LatencyUnit:   uint32(m.LatencyUnit),
			QueueUnit:     max(m.QueueUnit.Size, 1),
			TimestampBits: m.TimestampBits,
			TimestampUnit: uint32(m.TimestampUnit),
			Unix:          m.TimestampEpoch == conf.UnixEpoch,
		})
	}
	return out
}
