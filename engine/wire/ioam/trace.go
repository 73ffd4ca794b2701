// Trace: the header of a trace, its nodes, and what each says.

package ioam

import (
	"bytes"
	"encoding/binary"
)

// Bits of a trace type that a node's data has, in their order.
const (
	bitHopLimit   = 1 << 23 // and node id, 24 bits
	bitInterfaces = 1 << 22
	bitSeconds    = 1 << 21
	bitFraction   = 1 << 20
	bitDelay      = 1 << 19
	bitData       = 1 << 18 // of the namespace
	bitDepth      = 1 << 17
	bitWideNode   = 1 << 15 // hop limit and node id, 56 bits
	bitWidePorts  = 1 << 14
	bitWideData   = 1 << 13
	bitSnapshot   = 1 << 1
	bitReserved   = 1 << 0

	wideBits = bitWideNode | bitWidePorts | bitWideData
)

// Flags of a trace (RFC 9197, RFC 9322), as they stand in the byte behind the lowest bit of the node length.
const (
	flagOverflow = 8
	flagActive   = 2
)

// schemaLen is of a snapshot's length in words, 8 bits, and its schema.
const schemaLen = 4

// Trace is what nodes wrote.
type Trace struct {
	Type     uint32 // 24 bits
	NodeLen  uint16 // bytes, without a snapshot
	Stack    uint16 // where the newest node stands in the frame
	Bytes    uint16 // of all nodes
	Hops     uint16
	Overflow bool // a node had no room
	Active   bool // a probe
}

// nodeLen is what a type asks of each node, in bytes; the snapshot excluded.
func nodeLen(t uint32) (n uint16) {
	for bit := uint32(bitHopLimit); bit > bitSnapshot; bit >>= 1 {
		if t&bit == 0 {
			continue
		}
		if n += 4; bit&wideBits != 0 {
			n += 4
		}
	}
	return n
}

// read reads a trace option, which stands at offset at of the frame.
func (t *Trace) read(x []byte, at int) Problem {
	if len(x) < traceAt+headerLen {
		return Length
	}
	w := binary.BigEndian.Uint16(x[traceAt+2:])
	t.Type, t.NodeLen = binary.BigEndian.Uint32(x[traceAt+4:])>>8, w>>11*4
	t.Overflow, t.Active = w>>7&flagOverflow != 0, w>>7&flagActive != 0
	if t.NodeLen != nodeLen(t.Type) || t.Type&^bitReserved == 0 || t.Type&bitReserved != 0 {
		return Length
	}
	free := 0
	if x[3] == preallocated {
		free = int(w&0x7f) * 4
	}
	nodes := x[traceAt+headerLen:]
	if free > len(nodes) {
		return Remaining
	}
	nodes = nodes[free:]
	t.Stack, t.Bytes = uint16(at+traceAt+headerLen+free), uint16(len(nodes))
	hops := uint16(0)
	for len(nodes) > 0 {
		n, p := t.lenOf(nodes)
		if p != OK {
			t.Bytes = 0
			return p
		}
		nodes = nodes[n:]
		hops++
	}
	t.Hops = hops
	return OK
}

// Type of a trace whose option stands in x.
func typeOf(x []byte) uint32 { return binary.BigEndian.Uint32(x[traceAt+4:]) >> 8 }

// lenOf is the length of the node that b begins with, with its snapshot.
func (t *Trace) lenOf(b []byte) (int, Problem) {
	n := int(t.NodeLen)
	if n > len(b) {
		return 0, Stack
	}
	if t.Type&bitSnapshot == 0 {
		return n, OK
	}
	if n+schemaLen > len(b) {
		return 0, Snapshot
	}
	if n += schemaLen + int(b[n])*4; n > len(b) {
		return 0, Snapshot
	}
	return n, OK
}

// Nodes are those of a trace.
type Nodes struct {
	b []byte
	t Trace
}

// Open returns the nodes of a packet's trace: option is where its option stands in b, stack where so many bytes of nodes do, as
// Find found them.
func Open(b []byte, option, stack, bytes uint16) Nodes {
	t := typeOf(b[option:])
	return Nodes{b: b[stack:][:bytes], t: Trace{Type: t, NodeLen: nodeLen(t)}}
}

// Unknown is no value: all ones, as in INT.
const (
	Unknown     = 1<<32 - 1
	UnknownTime = 1<<64 - 1
)

// Values are those of a node, Unknown where it does not tell.
type Values struct {
	Node            uint32 // 24 bits, or the lowest 32 of 56
	Ingress, Egress uint32
	Delay           uint32 // in the node, nanoseconds
	Depth           uint32 // of the egress queue
	Arrival         uint64 // nanoseconds
	HopLimit        uint8
	HasHopLimit     bool
}

// Next reads the next node, the newest first, and takes it off; false at the end.
func (s *Nodes) Next(c Clock, v *Values) bool {
	n, p := s.t.lenOf(s.b)
	if p != OK || n == 0 {
		return false
	}
	node := s.b
	s.b = s.b[n:]
	*v = Values{Node: Unknown, Ingress: Unknown, Egress: Unknown, Delay: Unknown, Depth: Unknown, Arrival: UnknownTime}
	seconds, fraction := uint32(Unknown), uint32(Unknown)
	for bit := uint32(bitHopLimit); bit > bitSnapshot; bit >>= 1 {
		if s.t.Type&bit == 0 {
			continue
		}
		w := binary.BigEndian.Uint32(node)
		size := 4
		switch bit {
		case bitHopLimit:
			v.HopLimit, v.HasHopLimit = uint8(w>>24), true
			v.Node = known(w&0xffffff, 0xffffff)
		case bitInterfaces:
			v.Ingress, v.Egress = known(w>>16, 0xffff), known(w&0xffff, 0xffff)
		case bitSeconds:
			seconds = w
		case bitFraction:
			fraction = w
		case bitDelay:
			if w>>31 == 0 { // else it was too long to be told
				v.Delay = w
			}
		case bitDepth:
			v.Depth = w
		case bitWideNode, bitWidePorts, bitWideData:
			size = 8
			v.wide(bit, w, binary.BigEndian.Uint32(node[4:]))
		}
		node = node[size:]
	}
	if seconds != Unknown && fraction != Unknown {
		v.Arrival = c.time(seconds, fraction)
	}
	return true
}

// NextPrivate takes the next node off, the newest first, and appends what it says to those alone who know its namespace: data of
// 4 and of 8 bytes, and the opaque snapshot with its length and schema. Nothing is appended where all of that is unknown.
func (s *Nodes) NextPrivate(to []byte) (all []byte, more bool) {
	n, p := s.t.lenOf(s.b)
	if p != OK || n == 0 {
		return to, false
	}
	node, told := s.b[:n], false
	s.b, all = s.b[n:], to
	for bit := uint32(bitHopLimit); bit > bitSnapshot; bit >>= 1 {
		if s.t.Type&bit == 0 {
			continue
		}
		size := nodeLen(bit)
		if bit&(bitData|bitWideData) != 0 {
			all = append(all, node[:size]...)
			told = told || bytes.Count(node[:size], []byte{0xff}) != int(size)
		}
		node = node[size:]
	}
	if all = append(all, node...); !told && len(node) <= schemaLen {
		return to, true
	}
	return all, true
}

// wide takes over two words where a shorter field has not told what they tell.
func (v *Values) wide(bit, high, low uint32) {
	switch bit {
	case bitWideNode:
		v.HopLimit, v.HasHopLimit = uint8(high>>24), true
		if v.Node == Unknown && high&0xffffff != 0xffffff {
			v.Node = low
		}
	case bitWidePorts:
		if v.Ingress == Unknown {
			v.Ingress = high
		}
		if v.Egress == Unknown {
			v.Egress = low
		}
	}
}

// known is a value whose bits are not all ones.
func known(x, ones uint32) uint32 {
	if x == ones {
		return Unknown
	}
	return x
}
