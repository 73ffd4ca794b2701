package event

import (
	"encoding/binary"

	"intsink/engine/inthdr"
)

// hopValues are the values of one hop, all ones where unknown.
type hopValues struct {
	id, interfaces     uint32
	latency, queue, tx uint32
	ingress, egress    uint64
	stampBits          uint8 // of the timestamps that count
	model              *NodeModel
}

// readHop reads one hop of a packet into n.
func readHop(n *hopValues, hop []byte, l *inthdr.Layout) {
	*n = hopValues{id: unknown32, interfaces: unknown32, latency: unknown32, queue: unknown32, tx: unknown32,
		ingress: unknown64, egress: unknown64, stampBits: 64, model: &asIs}
	if l.Format == inthdr.Format2016 {
		readHop2016(n, hop, l)
		return
	}
	word := func(at int8, v *uint32) {
		if at >= 0 {
			*v = binary.BigEndian.Uint32(hop[at:])
		}
	}
	word(l.NodeID, &n.id)
	word(l.Interfaces, &n.interfaces)
	word(l.HopLatency, &n.latency)
	word(l.Queue, &n.queue)
	word(l.TxUtilization, &n.tx)
	if l.Format == inthdr.Format1 {
		n.stampBits = 32
		n.ingress, n.egress = shortTimestamp(hop, l.IngressTimestamp, unknown32), shortTimestamp(hop, l.EgressTimestamp, unknown32)
		return
	}
	if l.IngressTimestamp >= 0 {
		n.ingress = binary.BigEndian.Uint64(hop[l.IngressTimestamp:])
	}
	if l.EgressTimestamp >= 0 {
		n.egress = binary.BigEndian.Uint64(hop[l.EgressTimestamp:])
	}
}

// readHop2016 reads a hop of the June 2016 format: values of 31 bits, each port on
// its own. There is no egress timestamp to measure a link by.
func readHop2016(n *hopValues, hop []byte, l *inthdr.Layout) {
	word := func(at int8, v *uint32) {
		if at < 0 {
			return
		}
		if x := binary.BigEndian.Uint32(hop[at:]) & mask2016; x != unknown2016 {
			*v = x
		}
	}
	ingress, egress := uint32(unknown32), uint32(unknown32)
	word(l.NodeID, &n.id)
	word(l.Interfaces, &ingress)
	word(l.EgressTimestamp, &egress)
	word(l.HopLatency, &n.latency)
	word(l.Queue, &n.queue)
	word(l.TxUtilization, &n.tx)
	n.interfaces = ingress<<16 | egress&0xffff
	n.ingress, n.stampBits = shortTimestamp(hop, l.IngressTimestamp, mask2016), 31
}
