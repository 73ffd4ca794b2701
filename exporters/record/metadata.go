// Puts the reporting node's own metadata (RepMdBits) into a record: drop reason, the sink's
// queue and latency.

package record

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
)

// Bits of Record.Events that bits D and Q of a report stand for.
var (
	dropEvent       = uint32(1) << slices.Index(report.EventNames[:], "drop")
	congestionEvent = uint32(1) << slices.Index(report.EventNames[:], "congestion")
)

// unknown is the word that stands for a value that the node could not provide.
const unknown = inthdr.Unknown

// sinkMetadata reads the sink's own metadata of 2.0. It returns false if b is too short for
// the values that the bits announce.
func (d *Decoder) sinkMetadata(repMdBits uint16, b []byte) bool {
	const double = report.MdIngressTimestamp | report.MdEgressTimestamp | report.MdLevel2Interfaces
	for left := repMdBits; left != 0; {
		bit := uint16(1) << (15 - bits.LeadingZeros16(left))
		left &^= bit
		size := 4
		if bit&double != 0 {
			size = 8
		}
		if len(b) < size {
			return false
		}
		d.sinkValue(bit, b[:size])
		b = b[size:]
	}
	return true
}

// sinkValue reads the value of one bit of RepMdBits.
func (d *Decoder) sinkValue(bit uint16, b []byte) {
	v := binary.BigEndian.Uint32(b)
	switch bit {
	case report.MdInterfaces:
		d.sinkInterfaces(v)
	case report.MdHopLatency:
		d.sinkLatency(v)
	case report.MdQueue:
		d.sinkQueue(v)
	case report.MdEgressTimestamp:
		d.setTime(int64(binary.BigEndian.Uint64(b)))
	case report.MdDropReason:
		d.dropReason(v)
	}
}

func (d *Decoder) sinkInterfaces(v uint32) {
	s := &d.record.Sink
	ingress, egress := inthdr.Interfaces(v)
	if s.Ingress = uint16(v >> 16); ingress != unknown {
		s.Known |= HopIngress
	}
	if s.Egress = uint16(v); egress != unknown {
		s.Known |= HopEgress
	}
}

// reporter returns the model that lists the reporting node; nil: none does.
func (d *Decoder) reporter() *event.NodeModel {
	if !d.record.Has(KnownNode) {
		return nil
	}
	return d.reporters.Listed(d.record.NodeID)
}

func (d *Decoder) sinkLatency(v uint32) {
	if s := &d.record.Sink; v != unknown {
		s.LatencyNs = v
		if m := d.reporter(); m != nil {
			s.LatencyNs = m.Latency(v)
		}
		s.Known |= HopLatency
	}
}

// sinkQueue reads queue id and occupancy.
func (d *Decoder) sinkQueue(v uint32) {
	s := &d.record.Sink
	queue, occupancy := inthdr.Queue(v)
	if s.Queue = uint8(queue); queue != unknown {
		s.Known |= HopQueue
	}
	if s.Occupancy = v & inthdr.UnknownOccupancy; occupancy != unknown {
		s.Known |= HopOccupancy
		if m := d.reporter(); m != nil {
			s.Occupancy = m.Occupancy(s.Occupancy)
		}
	}
}

// dropReason reads queue id, drop reason and two bytes of padding.
func (d *Decoder) dropReason(v uint32) {
	if v == unknown {
		return
	}
	d.record.DropReason = uint8(v >> 16)
	d.record.Known |= KnownDropReason
	if s := &d.record.Sink; s.Known&HopQueue == 0 {
		s.Queue = uint8(v >> 24)
		s.Known |= HopQueue
	}
}
