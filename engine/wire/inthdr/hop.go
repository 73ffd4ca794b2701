// Hop: the values of one hop, each by itself known or unknown; the only place that says what unknown is.

package inthdr

import "encoding/binary"

// Unknown is what a Hop has in place of a value of up to 32 bits that a node did not write or did not know, UnknownTime
// in place of a timestamp. On the wire such a value is all ones (INT 2.1, section 5.7), and the halves of a word that
// has two are values of their own: a queue whose occupancy is unknown still has a number.
const (
	Unknown     = 1<<32 - 1
	UnknownTime = 1<<64 - 1
)

// Hop is the metadata of one node.
type Hop struct {
	NodeID            uint32
	Ingress, Egress   uint32 // level-1 interfaces: 16 bits, 31 in the format of June 2016
	Ingress2, Egress2 uint32 // level 2
	Latency           uint32
	Queue             uint32 // 8 bits
	Occupancy         uint32 // 24 bits, 31 in the format of June 2016, which has no number of the queue
	TxUtilization     uint32

	IngressTime, EgressTime uint64
}

// nothing is a hop without values.
var nothing = Hop{Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, UnknownTime, UnknownTime}

// Read reads the hop that b begins with into h.
func (l *Layout) Read(h *Hop, b []byte) {
	*h = nothing
	if l.Format == Format2016 {
		l.read2016(h, b)
		return
	}
	l.ReadQueue(h, b)
	h.TxUtilization = word(b, l.TxUtilization)
	switch {
	case l.Level2Interfaces < 0:
	case l.Format == FormatGEANT:
		h.Ingress2, h.Egress2 = Interfaces(binary.BigEndian.Uint32(b[l.Level2Interfaces:]))
	default:
		h.Ingress2, h.Egress2 = word(b, l.Level2Interfaces), word(b, l.Level2Interfaces+4)
	}
	if l.Format == Format1 {
		h.IngressTime, h.EgressTime = long(word(b, l.IngressTimestamp)), long(word(b, l.EgressTimestamp))
		return
	}
	if l.IngressTimestamp >= 0 {
		h.IngressTime = binary.BigEndian.Uint64(b[l.IngressTimestamp:])
	}
	if l.EgressTimestamp >= 0 {
		h.EgressTime = binary.BigEndian.Uint64(b[l.EgressTimestamp:])
	}
}

// ReadQueue is Read for what a hop says of its queue, in any format but that of June 2016: node, interfaces, latency and queue. All else
// of h stays.
func (l *Layout) ReadQueue(h *Hop, b []byte) {
	h.NodeID, h.Latency = word(b, l.NodeID), word(b, l.HopLatency)
	h.Ingress, h.Egress = Interfaces(word(b, l.Interfaces))
	h.Queue, h.Occupancy = Queue(word(b, l.Queue))
}

// read2016 is Read for the format of June 2016: values of 31 bits below the mark of the stack's bottom, and an
// instruction bit for each port.
func (l *Layout) read2016(h *Hop, b []byte) {
	h.NodeID, h.Latency, h.TxUtilization = Value2016(b, l.NodeID), Value2016(b, l.HopLatency), Value2016(b, l.TxUtilization)
	h.Ingress, h.Egress = Value2016(b, l.Interfaces), Value2016(b, l.EgressTimestamp)
	h.Occupancy, h.IngressTime = Value2016(b, l.Queue), long(Value2016(b, l.IngressTimestamp))
}

// Value2016 is the value at an offset of a hop of the format of June 2016, Unknown where the offset is below zero: the
// highest bit of the word marks the stack's bottom.
func Value2016(hop []byte, at int8) uint32 {
	if at < 0 {
		return Unknown
	}
	return widened(binary.BigEndian.Uint32(hop[at:])&(1<<31-1), 31)
}

// Rest is what a hop has besides a Hop: what events look at where nothing is said of the queue itself.
type Rest struct {
	Buffer, BufferOccupancy uint32 // 8 and 24 bits
	Congestion              uint32 // status of the queue, 31 bits: in the format of June 2016 alone
}

// ReadRest reads the rest of the hop that b begins with into r.
func (l *Layout) ReadRest(r *Rest, b []byte) {
	*r = Rest{Unknown, Unknown, Unknown}
	if l.Format == Format2016 {
		r.Congestion = Value2016(b, l.Level2Interfaces)
		return
	}
	if l.HasRest {
		r.Buffer, r.BufferOccupancy = Queue(binary.BigEndian.Uint32(b[l.Buffer:]))
	}
}

func word(b []byte, at int8) uint32 {
	if at < 0 {
		return Unknown
	}
	return binary.BigEndian.Uint32(b[at:])
}

// long is a timestamp of 32 bits as one of 64 bits.
func long(x uint32) uint64 {
	if x == Unknown {
		return UnknownTime
	}
	return uint64(x)
}

// widened is a value of so many bits; all ones are Unknown.
func widened(x uint32, bits uint8) uint32 {
	if x == 1<<bits-1 {
		return Unknown
	}
	return x
}

// Interfaces returns the two interfaces of a word.
func Interfaces(w uint32) (ingress, egress uint32) { return widened(w>>16, 16), widened(w&0xffff, 16) }

// InterfacesKnown reports whether both interfaces of a word are known, in whichever byte order it was read.
func InterfacesKnown(w uint32) bool { return w>>16 != 0xffff && w&0xffff != 0xffff }

// Queue returns the number and the occupancy of a queue from their word. A number of all ones is unknown where the
// occupancy is, too: 255 may well be a queue.
func Queue(w uint32) (queue, occupancy uint32) {
	if w == Unknown {
		return Unknown, Unknown
	}
	return w >> 24, widened(w&UnknownOccupancy, 24)
}

// UnknownOccupancy are the bits of a queue's word that are its occupancy.
const UnknownOccupancy = 1<<24 - 1
