// Trace: the header of a trace, its nodes, and where the values of each stand.

package ioam

import (
	"bytes"
	"encoding/binary"
	"math/bits"
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

	valueBits = 1<<24 - 1<<2 // each is a value of one word, or of two:
	wideBits  = bitWideNode | bitWidePorts | bitWideData
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
func nodeLen(t uint32) uint16 {
	return uint16(4 * (bits.OnesCount32(t&valueBits) + bits.OnesCount32(t&wideBits)))
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
	if t.Type&bitSnapshot == 0 {
		if len(nodes)%int(t.NodeLen) != 0 {
			t.Bytes = 0
			return Stack
		}
		t.Hops = t.Bytes / t.NodeLen
		return OK
	}
	hops := uint16(0)
	for len(nodes) > 0 {
		n, p := withSnapshot(nodes, int(t.NodeLen))
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

// withSnapshot is the length of the node that b begins with, which has so many bytes in front of its snapshot.
func withSnapshot(b []byte, n int) (int, Problem) {
	if n > len(b) {
		return 0, Stack
	}
	if n+schemaLen > len(b) {
		return 0, Snapshot
	}
	if n += schemaLen + int(b[n])*4; n > len(b) {
		return 0, Snapshot
	}
	return n, OK
}

// layout is where the values of a node stand, in bytes from its start; absent: the type does not ask for that.
type layout struct {
	of                 uint32 // type of the trace
	len                uint16 // of a node, without its snapshot
	node, ports, delay int8
	seconds, fraction  int8
	depth              int8
	wideNode           int8 // two words each
	widePorts          int8
}

const absent = -1

func layoutOf(t uint32) layout {
	at := func(bit uint32) int8 {
		if t&bit == 0 {
			return absent
		}
		return int8(nodeLen(t &^ (bit<<1 - 1))) // behind those of the bits above it
	}
	return layout{
		of: t, len: nodeLen(t), node: at(bitHopLimit), ports: at(bitInterfaces), delay: at(bitDelay), seconds: at(bitSeconds),
		fraction: at(bitFraction), depth: at(bitDepth), wideNode: at(bitWideNode), widePorts: at(bitWidePorts),
	}
}

// Nodes are those of a trace.
type Nodes struct {
	b []byte
	l layout
}

// Open returns the nodes of a packet's trace: option is where its option stands in b, stack where so many bytes of nodes do, as
// Find found them.
func Open(b []byte, option, stack, bytes uint16) Nodes {
	return Nodes{b: b[stack:][:bytes], l: layoutOf(typeOf(b[option:]))}
}

// Reader opens traces, and remembers the layout of the last one's nodes.
type Reader struct{ last layout }

// Open is the same as the function Open.
func (r *Reader) Open(b []byte, option, stack, bytes uint16) Nodes {
	if t := typeOf(b[option:]); t != r.last.of {
		r.last = layoutOf(t)
	}
	return Nodes{b: b[stack:][:bytes], l: r.last}
}

// Next takes the next node off, the newest first; nil: there is none.
func (s *Nodes) Next() (node []byte) {
	n := int(s.l.len)
	if s.l.of&bitSnapshot != 0 {
		n, _ = withSnapshot(s.b, n)
	}
	if n == 0 || n > len(s.b) {
		return nil
	}
	node, s.b = s.b[:n], s.b[n:]
	return node
}

// Unknown is no value: all ones, as in INT.
const (
	Unknown     = 1<<32 - 1
	UnknownTime = 1<<64 - 1
)

// word is the value at an offset of a node, Unknown where it is absent.
func (l *layout) word(node []byte, at int8) uint32 {
	if at == absent {
		return Unknown
	}
	return binary.BigEndian.Uint32(node[at:])
}

// Private appends what a node says to those alone who know its namespace: data of 4 and of 8 bytes, and the opaque snapshot with its
// length and schema. Nothing is appended where all of that is unknown.
func (s *Nodes) Private(node, to []byte) (all []byte) {
	told := false
	all = to
	for bit := uint32(bitHopLimit); bit > bitSnapshot; bit >>= 1 {
		if s.l.of&bit == 0 {
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
		return to
	}
	return all
}
