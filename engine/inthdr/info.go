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

// Edit is what removing INT changes in a packet besides the usual, and what it leaves.
type Edit uint8

const (
	KeepChecksum  Edit = 1 << iota // the checksum of the TCP or UDP header in front of INT stays as it is
	SetECT1                        // the packet inside of the GRE tunnel that goes leaves with ECT(1)
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
	Inserted bool  // G: the source made the tunnel (GRE), or made GPE of VXLAN
	Depth    uint8 // tunnels around the layers that INT is marked in
	Edit     Edit  // what else changes, or does not

	Start, End uint16 // INT begins and ends here
	Removed    uint16 // bytes of [Start,End) that go: all of them, but for Geneve options between those of INT
	Size       uint16 // bytes of the packet without INT, from the Ethernet header to the end of IP
	Shim       uint16
	Orig       uint16 // original UDP destination port (NPT 1) or IP protocol (NPT 2)
	Next       uint16 // next protocol of the last shim: EtherType (GRE) or that of VXLAN-GPE
	DSCP       uint8  // what the packet leaves with: restored, cleared of the mark, or as it is

	Discard, HopExceeded, MTUExceeded bool // D, E, M

	HopML, RemainingHops            uint8
	Bitmap, DomainID, DSInstruction uint16

	Stack, StackLen uint16 // per-hop metadata, newest hop first; the source-only part excluded
	SourceLen       uint16 // source-only metadata behind the stack, source-inserted metadata of MX
	HopLen, Hops    uint16 // bytes per hop, and how many hops
	QueueAt, TxAt   uint8  // where a hop of a Common packet has its queue and its utilization; 0: it has none
}
