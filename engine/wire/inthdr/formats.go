// The table of telemetry that is not INT, IFA and IOAM: its numbers, what is asked of each format, and its texts. All else in this
// package, and who imports it, walks it or asks for a property. Of a format more, the parser is a folder of engine/wire, and what makes
// INT of it a file of its name here.

package inthdr

import (
	"slices"
	"strings"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
)

// Formats say what is taken of telemetry that is not INT; nil: nothing of that format.
type Formats struct {
	IFA  *ifa.Config
	IOAM *ioam.Config
}

// How such packets are marked.
const (
	ByIFA Marking = ByGeneve + 1 + iota
	ByIOAM
	ByIFA1
)

// Types of packets, which no shim has.
const (
	IFA Type = MX + 1 + iota
	IOAM
	NumTypes
)

// Formats of headers, in the order of their types.
const (
	FormatIFA  Format = FormatGEANT + 1 + iota // IFA 2.0: hops that Locator.Hops shows as those of INT 2.x
	FormatIOAM                                 // IOAM: the same of its nodes
)

// Where the reasons of each format begin, behind those of INT.
const (
	firstOfIFA  = reasonsOfINT
	firstOfIOAM = endOfIFA
	NumReasons  = endOfIOAM
)

// Foreign is what texts say of a format.
type Foreign struct {
	Type   Type
	Title  string
	label  string   // of the type
	Ends   []string // kinds of packets that end here
	Tunnel string   // which tunnel goes with it; "": none does

	reasons    []reasonText
	notes      map[Reason]string // what reasons of INT are in this format
	asFragment string            // when first fragments are not taken as INT; "": when others are not
}

// foreign are the formats in the order of their types.
var foreign = [NumTypes - IFA]Foreign{textsOfIFA, textsOfIOAM}

// Foreigns returns what texts say of the formats that are not INT.
func Foreigns() []Foreign { return foreign[:] }

// Tunnels are those that go with their INT, for texts.
func Tunnels() string {
	all := []string{"GRE that the source made"}
	for i := range foreign {
		all = append(all, foreign[i].Tunnel)
	}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), ", ")
}

// Sets of markings and formats of headers that share a property. They are constants, and the functions below branch where the table
// above could have functions: through one of its, each Info would be on the heap.
const (
	encloses set = 1<<ByGRE | 1<<ByVXLANGPE | 1<<ByGeneve | 1<<ByIFA | 1<<ByIOAM
	unwraps  set = 1<<ByGRE | 1<<ByIOAM
	apart    set = 1<<ByGeneve | 1<<ByIOAM
	inFront  set = 1 << ByIOAM
	stamps64 set = 1<<Format2 | 1<<FormatGEANT | 1<<FormatIOAM
	stamps32 set = 1 << Format1
)

// set has bits of markings, formats or types.
type set uint16

func (s set) has(bit uint8) bool { return s>>bit&1 != 0 }

// Apart reports whether INT stands among options of a header: the L4 header of these layers, and all that is behind it, are the
// packet's own.
func (m Marking) Apart() bool { return apart.has(uint8(m)) }

// InFront reports whether all of the telemetry stands in front of the L4 header of these layers, whose checksum does not cover it.
func (m Marking) InFront() bool { return inFront.has(uint8(m)) }

// EndsTunnel reports whether the tunnel that INT stands in goes with it because the packet was sent to the sink in it.
func (i *Info) EndsTunnel() bool { return i.Inserted && i.Marking.InFront() }

// Encloses reports whether a packet may stand behind INT, whatever INT and the headers in front of it say.
func (m Marking) Encloses() bool { return encloses.has(uint8(m)) }

// Foreign reports whether nodes write values in an order of their own: Locator.Hops has them as hops of INT 2.x.
func (f Format) Foreign() bool { return f >= FormatIFA }

// StampBits is the width of timestamps.
func (f Format) StampBits() uint8 {
	switch {
	case stamps64.has(uint8(f)):
		return 64
	case stamps32.has(uint8(f)):
		return 32
	}
	return 31
}

// OfINT reports whether t is a type of INT, which the shim has.
func (t Type) OfINT() bool { return t < IFA }

// locateInIP finds what stands between the headers of IP and L4.
func (p *Locator) locateInIP(b []byte, l *packet.Layers, i *Info) Result {
	if p.foreign.IOAM != nil && l.IPVersion == 6 && l.L4 > l.L3+packet.IPv6Len {
		return p.locateIOAM(b, l, i)
	}
	return NotINT
}

// locateByProtocol finds what a protocol of IP marks that has no ports.
func (p *Locator) locateByProtocol(b []byte, l *packet.Layers, i *Info) Result {
	if p.foreign.takes(uint16(l.Proto)) {
		return p.locateIFA(b, l, i)
	}
	return NotINT
}

// locateBehindL4 finds what the first bytes behind the header of L4 mark, where INT is not.
func (p *Locator) locateBehindL4(b []byte, l *packet.Layers, i *Info) Result {
	if p.foreign.byMarker() {
		return p.locateIFA1(b, l, i)
	}
	return NotINT
}

// takes reports whether a protocol of IP marks telemetry.
func (f *Formats) takes(proto uint16) bool { return f.IFA != nil && f.IFA.Takes(uint8(proto)) }

// byMarker reports whether bytes behind the header of L4 do.
func (f *Formats) byMarker() bool { return f.IFA != nil && f.IFA.Marker != 0 }

// inExtensions reports whether extension headers of IPv6 may have some.
func (f *Formats) inExtensions() bool { return f.IOAM != nil }

// badTunnel is the reason of a tunnel that cannot go with its INT.
func (m Marking) badTunnel() Reason {
	if m == ByIOAM {
		return ReasonIOAMTunnel
	}
	return ReasonTunnel
}

// Hops are what the hops of a packet say, as hops of INT.
type Hops struct {
	Frame []byte
	Info  *Info    // where they stand in Frame
	Odd   []uint32 // nodes of hops of IFA whose residence time cannot be
}

// asINT is the memory of Locator.Hops.
type asINT struct {
	frame [ifa.MaxStackLen / 4 * ifa.INTHopTimeLen]byte
	odd   [ifa.MaxStackLen / 4]uint32
	info  Info
	nodes ioam.Reader
}

// Hops returns the hops of a packet in the layout that Layout has for the Info in it: those of INT where they stand, those of other
// formats copied. It is valid until the next call.
func (p *Locator) Hops(b []byte, i *Info) Hops {
	switch i.Format {
	case FormatIFA:
		return p.ifaHops(b, i)
	case FormatIOAM:
		return p.ioamHops(b, i)
	}
	return Hops{Frame: b, Info: i}
}

// numberOf is Sequence for a packet with telemetry that is not INT.
//
//go:noinline
func (p *Locator) numberOf(b []byte, i *Info) (number uint64, bits uint8) {
	if i.Format == FormatIOAM && i.Reason == ReasonNone {
		return number64(b[i.Second:][:i.HopML])
	}
	return 0, 0
}

// hopLimitOf is the hop limit that a packet with telemetry that is not INT came to its first node with; false where nothing tells.
//
//go:noinline
func (p *Locator) hopLimitOf(b []byte, i *Info) (hopLimit uint8, told bool) {
	if i.Format == FormatIOAM {
		return p.ioamSource(b, i)
	}
	return 0, false
}

// Private appends to data what each hop, the newest first, tells those alone who know its namespace, and to ends where in data that
// ends. Where the hops of b are not whole, there is less.
func (p *Locator) Private(b []byte, i *Info, data []byte, ends []int) ([]byte, []int) {
	if i.Format == FormatIOAM {
		return p.ioamPrivate(b, i, data, ends)
	}
	return data, ends
}
