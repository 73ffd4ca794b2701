package truth

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"intsink/engine/wire/intgen"
)

// INTPort marks INT over UDP.
const INTPort = 5000

// The domain whose packets carry a sequence number: one word that only the source adds, below the
// bottom of the stack.
const (
	SequenceDomain = 0x5e9
	SequenceBit    = 0x8000 // of DS Instruction
	SequenceBytes  = 4
)

// All ones stand for a value that a node does not have.
const (
	unknown16 = 0xffff
	unknown24 = 0xffffff // of an occupancy; a queue's number of all ones is unknown only with it
	unknown32 = 0xffffffff
	unknown64 = 0xffffffffffffffff
)

// Bitmaps of the packets.
const (
	bitNode       = 0x8000
	bitInterfaces = 0x4000
	bitLatency    = 0x2000
	bitQueue      = 0x1000
	bitIngress    = 0x0800
	bitEgress     = 0x0400
	bitLevel2     = 0x0200
	bitTx         = 0x0100
	bitBuffer     = 0x0080
)

// Flow is an original 5-tuple.
type Flow struct {
	ID    uint32
	Watch int
	TCP   bool
	V6    bool
	Port  uint16 // source port

	key string
}

// Key returns the name that the flow has in reports.
func (f *Flow) Key() string {
	if f.key == "" {
		h := f.headers()
		f.key = KeyOf(h.Src.String(), h.SrcPort)
	}
	return f.key
}

// KeyOf returns the key of the flow of the packet that a report shows.
func KeyOf(source string, port uint16) string { return fmt.Sprintf("%s %d", source, port) }

func (f *Flow) headers() intgen.Flow {
	src, dst := [4]byte{10}, [4]byte{172, 16, byte(f.Watch), 1}
	copy(src[1:], binary.BigEndian.AppendUint32(nil, f.ID)[1:])
	h := intgen.Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
		Src: netip.AddrFrom4(src), Dst: netip.AddrFrom4(dst),
		Proto: intgen.UDP, SrcPort: f.Port, DstPort: 8000,
	}
	if f.TCP {
		h.Proto = intgen.TCP
	}
	if f.V6 {
		h.Src, h.Dst = mapped(src), mapped(dst)
	}
	return h
}

// mapped returns an IPv6 address that ends with a.
func mapped(a [4]byte) netip.Addr {
	b := [16]byte{0x20, 0x01, 0x0d, 0xb8}
	copy(b[12:], a[:])
	return netip.AddrFrom16(b)
}

// DestinationPrefixes returns the prefixes that select the flows of watch w.
func DestinationPrefixes(w int) []netip.Prefix {
	a := [4]byte{172, 16, byte(w), 0}
	return []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4(a), 24), netip.PrefixFrom(mapped(a), 120)}
}

// Packet is one packet of a trace, with the events that its scene expects of it.
type Packet struct {
	Index int
	Time  int64 // Unix nanoseconds; no two packets have the same
	Flow  *Flow

	Hops     []intgen.Hop // the newest first, as on the wire
	Bitmap   uint16
	M, E     bool
	Sequence *uint32
	Closing  bool // FIN
	Reset    bool // RST
	NoINT    bool
	Unsound  bool // marked as INT, with a type that does not exist
	Foreign  bool // of a domain that nobody configured
	FromHost bool // comes from the host side
	Refused  bool // the host's port takes no packet

	Scene string
	Plan  []string // events that the scene plants here
	Quiet bool     // the scene says that nothing but new_flow, refresh and sample may be reported
}

func (p *Packet) has(bits uint16) bool { return p.Bitmap&bits == bits }

// Frame builds the packet.
func (p *Packet) Frame() ([]byte, error) {
	h := p.Flow.headers()
	b := h.Frame(16, uint32(p.Index))
	if p.Flow.TCP && (p.Closing || p.Reset) {
		at := 14 + 20 + 13
		if p.Flow.V6 {
			at += 20
		}
		if p.Closing {
			b[at] |= 1
		}
		if p.Reset {
			b[at] |= 4
		}
		// Its checksum is wrong then; no test looks at it.
	}
	if p.NoINT {
		return b, nil
	}
	s := intgen.Source{
		UDPPort: INTPort, Bitmap: p.Bitmap, MaxHops: len(p.Hops) + 1, MTUExceeded: p.M, HopExceeded: p.E,
	}
	if p.E {
		s.MaxHops = len(p.Hops)
	}
	if p.Foreign {
		s.DomainID, s.DSInstruction, s.DomainPerHop = SequenceDomain+1, SequenceBit, 4
	}
	if p.Sequence != nil {
		s.DomainID, s.DSInstruction = SequenceDomain, SequenceBit
		s.SourceOnly = binary.BigEndian.AppendUint32(nil, *p.Sequence)
	}
	b, err := s.Insert(b, p.Hops)
	if p.Unsound && err == nil {
		b[p.shim()] |= 0xf0
	}
	return b, err
}

// shim returns where INT starts in an unsound packet, which is UDP: the type is the upper half of
// the first byte there.
func (p *Packet) shim() int {
	if p.Flow.V6 {
		return 14 + 40 + 8
	}
	return 14 + 20 + 8
}

// String returns the packet's values on one line.
func (p *Packet) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "packet %d, %.6f s, flow %s, scene %s:", p.Index, float64(p.Time-Epoch)/1e9, p.Flow.Key(), p.Scene)
	if p.NoINT {
		b.WriteString(" no INT")
	}
	for _, h := range p.Hops {
		fmt.Fprintf(&b, " [node %d %d>%d %dns", h.NodeID, h.Ingress, h.Egress, h.LatencyNs)
		if p.has(bitQueue) {
			fmt.Fprintf(&b, " q%d=%d", h.QueueID, h.QueueOccupancy)
		}
		if p.has(bitTx) {
			fmt.Fprintf(&b, " tx=%d", h.TxUtilization)
		}
		if p.has(bitIngress) || p.has(bitEgress) {
			fmt.Fprintf(&b, " in=%d out=%d", int64(h.IngressTimestamp), int64(h.EgressTimestamp))
		}
		b.WriteByte(']')
	}
	for _, f := range []struct {
		on   bool
		name string
	}{
		{p.M, " M"}, {p.E, " E"}, {p.Closing, " FIN"}, {p.Reset, " RST"},
		{p.Unsound, " unsound"}, {p.Foreign, " foreign"}, {p.FromHost, " from the host"}, {p.Refused, " refused"},
	} {
		if f.on {
			b.WriteString(f.name)
		}
	}
	if p.Sequence != nil {
		fmt.Fprintf(&b, " sequence %d", *p.Sequence)
	}
	return b.String()
}

// plan notes that the packet must be reported for the events.
func (p *Packet) plan(events ...string) {
	for _, e := range events {
		if !slices.Contains(p.Plan, e) {
			p.Plan = append(p.Plan, e)
		}
	}
}
