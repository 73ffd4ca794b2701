// Block node, whole: who the sink is in its reports.

package conf

import "intsink/conf/schema"

// Node identifies the sink in its reports (Telemetry Report 2.0, group header).
type Node struct {
	ID       uint32
	HwIDBase uint8 // worker w reports as hw_id HwIDBase+w, 6 bits
}

func visitNode(v schema.Visitor, n *Node) {
	v.Attr("id", schema.Integer(&n.ID, 0, 1<<32-2)) // all ones are an id that is not known (INT 2.1, 5.8)
	v.Attr("hw_id_base", schema.Integer(&n.HwIDBase, 0, 63))
}
