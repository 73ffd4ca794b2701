// Declares Info, the result: Marking, Type, Format, Edit, offsets of INT; Classify sets
// Common for the fast path.

package inthdr

// Result of Locate.
type Result uint8

const (
	NotINT   Result = iota
	Sound           // Info is valid; Info.Reason reports whether the contents are odd
	Unsound         // marked as INT, not to be taken as INT; only Info.Reason is valid
	NeedMore        // the INT headers go beyond the first segment
)

// Marking is how a packet says that it carries INT.
type Marking uint8

const (
	ByPort Marking = iota
	ByDSCP
	ByProbeMarker
	ByGRE
	ByVXLANGPE
	ByGeneve
)

// Edit is a change to a packet besides the usual ones when INT is removed, or a part that stays.
type Edit uint8

const (
	KeepChecksum  Edit = 1 << iota // the checksum of the TCP or UDP header in front of INT stays as it is
	SetECT1                        // the packet inside of the tunnel that goes leaves with ECT(1)
	SetCE                          // with CE: congestion experienced
	DropCongested                  // it cannot say that a queue marked the tunnel's header, and must be dropped
)

// Has reports whether e has all of f.
func (e Edit) Has(f Edit) bool { return e&f == f }

// Info is where INT stands in one packet and what its headers say.
type Info struct {
	Marking  Marking
	Type     Type // of the first header that is MD or MX, else Destination
	NPT      uint8
	Reason   Reason
	Common   bool // set by Locator.Classify: only such packets take the fast path; never with FIN or RST
	Format   Format
	Inserted bool  // G: the source made the tunnel (GRE), or made GPE of VXLAN; IOAM: the tunnel ends here
	Depth    uint8 // tunnels around the layers that INT is marked in
	Edit     Edit  // what else changes, or does not

	Start, End uint16 // INT begins and ends here
	Removed    uint16 // bytes of [Start,End) that go: all of them, but for Geneve options between those of INT
	Size       uint16 // bytes of the packet without INT, from the Ethernet header to the end of IP
	Shim       uint16
	Second     uint16 // IFA: [Start,Start+4) and [Second,End) go, and what stands between them stays. IOAM: the sequence number, of HopML bytes
	Orig       uint16 // original UDP destination port (NPT 1) or IP protocol (NPT 2, IFA)
	Next       uint16 // next protocol of the last shim: EtherType (GRE) or that of VXLAN-GPE
	DSCP       uint8  // what the packet leaves with: restored, cleared of the mark, or as it is

	Discard, HopExceeded, MTUExceeded bool // D, E, M; a copy that ends here is discarded, too

	Copy     bool  // IFA: a copy of a packet, IOAM: a probe, which ends here: no packet of its flow
	GNS, LNS uint8 // IFA: its namespaces; LNS is that of the hop without a layout

	HopML, RemainingHops            uint8
	Bitmap, DomainID, DSInstruction uint16

	Stack, StackLen uint16 // per-hop metadata, newest hop first; the source-only part excluded
	SourceLen       uint16 // source-only metadata behind the stack, source-inserted metadata of MX
	HopLen, Hops    uint16 // bytes per hop, and how many hops
	QueueAt, TxAt   uint8  // where a hop of a Common packet has OccupancyAt and its utilization; 0: nowhere

	Options uint64 // IOAM: those of the extension headers that go, bit 0 the first; padding is not counted
}

// Unwraps reports whether the tunnel that INT stands in goes with it: what is inside becomes the packet.
func (i *Info) Unwraps() bool { return i.Inserted && unwraps.has(uint8(i.Marking)) }

// Classify sets i.Common, i.QueueAt and i.TxAt.
//
// Common packets can take the fast path: sound INT-MD of a version
// with 32-bit values, with Layout.BasicHops, without flags.
func (p *Locator) Classify(i *Info) {
	l := p.Layout(i)
	i.Common = i.Type.HasHops() && i.Reason == ReasonNone && i.Hops > 0 &&
		!i.Discard && !i.HopExceeded && !i.MTUExceeded && l.BasicHops
	if i.Common {
		i.QueueAt, i.TxAt = uint8(max(l.OccupancyAt(), 0)), uint8(max(l.TxUtilization, 0))
	}
}

// Format is a version of the INT header.
type Format uint8

const (
	Format2     Format = iota // INT 2.0 and 2.1
	Format1                   // INT 1.0
	Format2016                // "In-band Network Telemetry (INT)", June 2016
	FormatGEANT               // INT 1.0 as GEANT's P4 programs write it: timestamps of 64 bits, both level-2 interfaces in 4 bytes
)

// HeaderLen is the length of an INT-MD header, from its version to where the stack begins.
func (f Format) HeaderLen() int {
	if f == Format2 {
		return MDLen
	}
	return oldLen
}

// formats is a set of Format; FormatGEANT counts as Format1.
type formats uint8

const (
	only2, only1, only2016 formats = 1 << Format2, 1 << Format1, 1 << Format2016

	anyFormat = only2 | only1 | only2016
)

// Type is the INT type of a shim (INT 2.1, section "INT Header Types").
type Type uint8

const (
	MD          Type = 1
	Destination Type = 2
	MX          Type = 3
)

var types = [...]string{MD: "md", Destination: "destination", MX: "mx"}

// Known reports whether there are packets of type t.
func (t Type) Known() bool { return t >= MD && t < NumTypes }

// HasHops reports whether nodes add their metadata to packets of type t.
func (t Type) HasHops() bool { return t == MD || !t.OfINT() }

// String returns the value of the type label.
func (t Type) String() string {
	switch {
	case !t.Known():
		return "unknown"
	case t.OfINT():
		return types[t]
	}
	return foreign[t-IFA].label
}
