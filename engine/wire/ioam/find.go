// Find: the IOAM options of configured namespaces in the extension headers of an IPv6 packet, with every bound checked.

package ioam

import (
	"encoding/binary"
	"slices"

	"intsink/engine/wire/packet"
)

// Problem is why options cannot be taken out, or what they say cannot be read.
type Problem uint8

const (
	OK            Problem = iota
	None                  // no IOAM of these namespaces
	NeedMore              // extension headers go beyond the first segment
	Options               // options that cannot be told apart, or too many; nothing is taken out
	Authenticated         // AH covers the headers; nothing is taken out
	Fragment              // options stand behind a fragment header; nothing is taken out
	Length                // of a node, or of an option, against the trace type
	Remaining             // free space goes beyond the option
	Snapshot              // a node's opaque snapshot does
	Stack                 // the nodes are no whole number
	EdgeToEdge            // the option is shorter than its type says
)

// Out tells whether the options of a packet with that problem are taken out.
func (p Problem) Out() bool { return p == OK || p >= Length }

// Lengths in bytes.
const (
	ipv6Len     = packet.IPv6Len
	unit        = 8    // of extension headers
	optionLen   = 2    // type and length
	nameLen     = 6    // of an option as far as its namespace
	leastLen    = 8    // of any option of IOAM: other protocols have shorter ones of the same type
	headerLen   = 8    // of a trace, from the namespace on
	traceAt     = 4    // where it stands in an option
	edgeAt      = 8    // where the values of edge to edge stand in an option
	maxOptions  = 64   // that are told apart
	MaxHops     = 61   // of a trace in an option of 255 bytes
	maxHeadings = 2048 // bytes of all extension headers
)

// Types of IPv6 options (RFC 8200, RFC 2675, RFC 9486).
const (
	pad1     = 0
	padN     = 1
	jumbo    = 0xc2
	staying  = 0x11 // IOAM that does not change on the way
	changing = 0x31 // IOAM that may
	hopByHop = 0
	routing  = 43
	fragment = 44
	auth     = 51
	endToEnd = 60 // destination options
)

// IOAM option types (RFC 9197, RFC 9326).
const (
	preallocated = 0
	incremental  = 1
	edgeToEdge   = 3
	directExport = 4 // the last that is known
)

// Config says whose IOAM is taken, and how its times are read.
type Config struct {
	Namespaces   []uint16
	Any          bool       // of every namespace
	Clock        Clock      // counts the fraction of a second
	Ends         [][16]byte // destinations of tunnels that end here
	FlowSequence bool       // the numbers of edge-to-edge options count the packets of a flow: of others nothing is told
}

// takes reports whether an option, which x begins with, is IOAM of a configured namespace.
func (c *Config) takes(x []byte) bool {
	if len(x) < nameLen || x[0] != staying && x[0] != changing || x[3] > directExport {
		return false
	}
	return c.Any || slices.Contains(c.Namespaces, NamespaceOf(x))
}

// EndsAt reports whether tunnels to the destination of the IPv6 header h end here.
func (c *Config) EndsAt(h []byte) bool {
	return len(c.Ends) > 0 && slices.Contains(c.Ends, [16]byte(h[24:ipv6Len]))
}

// NamespaceOf is that of an option of IOAM, which x begins with.
func NamespaceOf(x []byte) uint16 { return binary.BigEndian.Uint16(x[traceAt:]) }

// Found is where IOAM stands in a packet, in bytes from the start of the frame.
type Found struct {
	Gone       uint64 // bit n: option n goes, but for padding, of all extension headers in their order
	Start, End uint16 // the first header with such an option; where the last ends
	Removed    uint16 // bytes
	Option     uint16 // the first trace, else the first option that goes
	Number     uint16 // where the sequence number of edge to edge stands
	NumberLen  uint8  // 0: there is none
	Routed     bool   // the destination is one on the way: segments are left
	Trace      Trace  // the first; of the others nothing is read
}

// search is a walk over the headers of a packet.
type search struct {
	*Config
	*Found
	b       []byte
	number  int // of the option at hand
	ours    bool
	refused Problem // why nothing can be taken out
	content Problem // what else is wrong
}

// Find looks for IOAM in the extension headers of a packet, whose first segment is b and which l describes.
func (c *Config) Find(b []byte, l *packet.Layers, f *Found) Problem {
	from, to := int(l.L3)+ipv6Len, int(l.L4)
	if to > len(b) {
		return NeedMore
	}
	*f = Found{}
	s := search{Config: c, Found: f, b: b}
	kind, fragmented := b[l.L3+6], false
	for at := from; at+unit <= to; {
		size := sizeOf(kind, b[at+1])
		switch kind {
		case hopByHop, endToEnd:
			before := f.Gone
			s.options(at, min(at+size, to))
			if f.Gone != before && fragmented {
				s.refused = Fragment
			}
		case auth:
			if s.refused == OK {
				s.refused = Authenticated
			}
		case routing:
			s.Routed = s.Routed || b[at+3] != 0
		case fragment:
			fragmented = l.Fragment != packet.NotFragment
		}
		kind = b[at]
		at += size
	}
	switch {
	case !s.ours:
		return None
	case to-from > maxHeadings:
		return Options
	case s.refused != OK:
		return s.refused
	}
	return s.content
}

// sizeOf is the length of an extension header of that kind, whose second byte is given.
func sizeOf(kind, length uint8) int {
	switch kind {
	case fragment:
		return unit
	case auth:
		return unit + int(length)*4
	}
	return unit + int(length)*unit
}

// options reads those of the header that stands from at to end.
func (s *search) options(at, end int) {
	first, before := s.number, s.Gone
	for x := at + optionLen; x < end; {
		kind := s.b[x]
		if kind == pad1 {
			x++
			continue
		}
		n := optionLen
		if x+optionLen <= end {
			n += int(s.b[x+1])
		}
		if x+n > end || x+optionLen > end {
			s.refused = Options
			s.ours = s.ours || s.takes(s.b[x:end])
			return
		}
		if kind == padN {
			x += n
			continue
		}
		if kind == jumbo {
			s.refused = Options
		}
		if n >= leastLen && s.takes(s.b[x:x+n]) {
			s.take(x, n)
		}
		s.number++
		x += n
	}
	if s.Gone == before || s.refused == Options {
		return
	}
	if s.Start == 0 {
		s.Start = uint16(at)
	}
	left, _ := pack(s.b[at:end], s.Gone, first, false)
	s.End = uint16(end)
	s.Removed += uint16(end - at - left)
}

// take notes the option at x, which has n bytes and goes.
func (s *search) take(x, n int) {
	s.ours = true
	if s.number >= maxOptions {
		s.refused = Options
		return
	}
	s.Gone |= 1 << s.number
	if s.Option == 0 {
		s.Option = uint16(x)
	}
	problem := OK
	switch kind := s.b[x+3]; {
	case kind <= incremental && s.Trace.Type == 0:
		s.Option = uint16(x)
		problem = s.Trace.read(s.b[x:x+n], x)
	case kind == edgeToEdge && s.NumberLen == 0:
		if problem = s.edge(x, n); !s.FlowSequence {
			s.NumberLen = 0
		}
	}
	if s.content == OK {
		s.content = problem
	}
}

// Bits of the type of edge to edge.
const (
	number64  = 1 << 15
	number32  = 1 << 14
	edgeKnown = 1<<16 - 1<<12 // 64 and 32 bits of a number, seconds, fraction
)

// edge reads the edge-to-edge option at x, which has n bytes.
func (s *search) edge(x, n int) Problem {
	if n < edgeAt {
		return EdgeToEdge
	}
	t, need := binary.BigEndian.Uint16(s.b[x+6:]), edgeAt
	for bit, size := uint16(number64), 8; bit&edgeKnown != 0; bit, size = bit>>1, 4 {
		if t&bit == 0 {
			continue
		}
		if bit&(number64|number32) != 0 && s.NumberLen == 0 && need+size <= n {
			s.Number, s.NumberLen = uint16(x+need), uint8(size)
		}
		need += size
	}
	if need > n {
		s.NumberLen = 0
		return EdgeToEdge
	}
	return OK
}
