// IOAM: puts options of RFC 9197 into the extension headers of an IPv6 frame, with nodes as Linux writes them.

package intgen

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// IOAM is what an encapsulating node and those behind it write.
type IOAM struct {
	Namespace   uint16 // 0: 123
	Type        uint32 // of the trace, 24 bits; 0: DefaultIOAM
	Incremental bool   // else pre-allocated
	Destination bool   // in destination options, else hop by hop
	Front       bool   // in front of other options of the header, else behind them
	Free        int    // words that no node has filled, of a pre-allocated one
	Overflow    bool   // O
	Active      bool   // A: a probe
	Snapshot    []byte // of each node where the type has bit 22; whole words
	HopLimit    uint8  // of the packet behind the newest node; 0: 62
	Tunnel      bool   // in an IPv6 header of its own in front of the packet, from Source.OuterSrc to OuterDst
	Edge        bool   // an edge-to-edge option, too, with a number of 32 bits, in destination options
	Number      uint32 // that one
	Raw         []byte // the trace behind its header, in place of the hops
}

// DefaultIOAM asks for hop limit and node id, interfaces, both parts of the time, queue depth.
const DefaultIOAM = 0xf20000

const (
	ioamOption   = 0x31
	ioamStays    = 0x11 // what nodes on the way do not change
	ioamUnit     = 8
	ioamSnapshot = 1 << 1
)

// ToLinux returns a source of packets for routers of Linux: so many words are free for what they write, and the packet has that number
// of its flow.
func ToLinux(free int, number uint32) *Source {
	return &Source{Marking: ByIOAM, Formats: Formats{IOAM: IOAM{Free: free, Edge: true, Number: number}}}
}

// insert returns frame with IOAM.
func (x *IOAM) insert(frame []byte, hops []Hop) ([]byte, error) {
	option, err := x.trace(hops)
	if err != nil {
		return nil, err
	}
	header := uint8(HopByHop)
	if x.Destination {
		header = DestinationOptions
	}
	out, err := insertOption(frame, header, option, x.Front)
	if err != nil || !x.Edge {
		return out, err
	}
	edge := []byte{ioamStays, 10, 0, 3}
	edge = binary.BigEndian.AppendUint16(edge, cmp.Or(x.Namespace, 123))
	edge = binary.BigEndian.AppendUint32(append(edge, 0x40, 0), x.Number)
	return insertOption(out, DestinationOptions, edge, false)
}

// tunnel returns frame with an IPv6 header in front of its IP packet (RFC 2473).
func (s *Source) tunnel(frame []byte) ([]byte, error) {
	p, err := find(frame)
	if err != nil {
		return nil, err
	}
	if !s.OuterSrc.Is6() || !s.OuterDst.Is6() || p.end-p.l3+40 > 65535 {
		return nil, ErrFormat
	}
	ip := ipHeader{src: s.OuterSrc, dst: s.OuterDst, proto: 4}
	if p.v6 {
		ip.proto = 41
	}
	out := binary.BigEndian.AppendUint16(append([]byte(nil), frame[:p.l3-2]...), ip.etherType())
	return append(ip.append(out, p.end-p.l3), frame[p.l3:]...), nil
}

// trace is the option.
func (x *IOAM) trace(hops []Hop) ([]byte, error) {
	t, data := cmp.Or(x.Type, DefaultIOAM), x.Raw
	if data == nil {
		data = make([]byte, 4*x.Free)
		for i := range hops {
			data = x.node(data, &hops[i], t, cmp.Or(x.HopLimit, 62)+uint8(i))
		}
	}
	words := len(x.node(nil, &Hop{}, t&^ioamSnapshot, 0)) / 4
	if len(data) > 244 || words > 31 {
		return nil, ErrLength
	}
	w := uint16(words)<<11 | uint16(x.Free&0x7f)
	if x.Overflow {
		w |= 8 << 7
	}
	if x.Active {
		w |= 2 << 7
	}
	kind := uint8(0)
	if x.Incremental {
		kind = 1
	}
	b := []byte{ioamOption, uint8(10 + len(data)), 0, kind}
	b = binary.BigEndian.AppendUint16(b, cmp.Or(x.Namespace, 123))
	b = binary.BigEndian.AppendUint16(b, w)
	b = binary.BigEndian.AppendUint32(b, t<<8)
	return append(b, data...), nil
}

// node appends what a node writes.
func (x *IOAM) node(b []byte, h *Hop, t uint32, hopLimit uint8) []byte {
	be := binary.BigEndian
	for bit := range 22 {
		if t>>(23-bit)&1 == 0 {
			continue
		}
		switch bit {
		case 0:
			b = be.AppendUint32(b, uint32(hopLimit)<<24|h.NodeID&0xffffff)
		case 1:
			b = be.AppendUint16(be.AppendUint16(b, h.Ingress), h.Egress)
		case 2:
			b = be.AppendUint32(b, uint32(h.IngressTimestamp/1e9))
		case 3:
			b = be.AppendUint32(b, uint32(h.IngressTimestamp%1e9/1000))
		case 4:
			b = be.AppendUint32(b, h.LatencyNs)
		case 6:
			b = be.AppendUint32(b, h.QueueOccupancy)
		case 8:
			b = be.AppendUint64(b, uint64(hopLimit)<<56|uint64(h.NodeID))
		case 9:
			b = be.AppendUint64(b, uint64(h.Ingress)<<32|uint64(h.Egress))
		case 10:
			b = be.AppendUint64(b, 1<<64-1)
		default:
			b = be.AppendUint32(b, 1<<32-1)
		}
	}
	if t&ioamSnapshot == 0 {
		return b
	}
	return append(be.AppendUint32(b, uint32(len(x.Snapshot)/4)<<24|0xabcdef), x.Snapshot...)
}

// insertOption puts an option, which is to stand at a multiple of four bytes, into a header of that kind: into the one that is
// there, in front of its options or behind them, or into a new one, the first (hop by hop) or the last.
func insertOption(frame []byte, kind uint8, option []byte, front bool) ([]byte, error) {
	p, err := find(frame)
	if err != nil || !p.v6 {
		return nil, ErrNotIP
	}
	at, named, size := p.ip+40, p.ip+6, 0 // where the header stands or is to stand, what names it, how long it is
	if kind == DestinationOptions {
		for next := at; next < p.l4 && frame[named] != kind; {
			named, next = next, next+ioamUnit*(1+int(frame[next+1]))
			at = next
		}
	}
	if at < p.l4 && frame[named] == kind {
		size = ioamUnit * (1 + int(frame[at+1]))
	}
	next, options := frame[named], []byte(nil)
	if size > 0 {
		next, options = frame[at], withoutPadding(frame[at+2:at+size])
		if len(options) == 0 || !bytes.Equal(padTo(append(make([]byte, 2), options...), ioamUnit, 0)[2:], frame[at+2:at+size]) {
			return nil, ErrPadding
		}
	}
	header := []byte{next, 0}
	if !front {
		header = append(header, options...)
	}
	header = append(padTo(header, 4, 0), option...)
	if front {
		header = append(padTo(header, ioamUnit, 2), options...)
	}
	header = padTo(header, ioamUnit, 0)
	if len(header) > 256*ioamUnit || p.end-p.ip+len(header)-size > 65535 {
		return nil, ErrLength
	}
	header[1] = uint8(len(header)/ioamUnit - 1)
	out := append(append(append([]byte(nil), frame[:at]...), header...), frame[at+size:]...)
	out[named] = kind
	repairIP(frame, out, &p, len(header)-size)
	return out, nil
}

// padTo pads b to a multiple of unit, and offset more.
func padTo(b []byte, unit, offset int) []byte {
	switch n := (offset - len(b)%unit + unit) % unit; n {
	case 0:
		return b
	case 1:
		return append(b, 0)
	default:
		return append(append(b, 1, uint8(n-2)), make([]byte, n-2)...)
	}
}

// withoutPadding are options without the padding behind the last of them.
func withoutPadding(b []byte) []byte {
	end := 0
	for at := 0; at < len(b); {
		n := 1
		if b[at] != 0 {
			n = 2 + int(b[at+1])
		}
		if b[at] > 1 {
			end = at + n
		}
		at += n
	}
	return b[:end]
}
