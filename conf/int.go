// INT: block int; its schema is in schema_int.go, its checks in check_int.go.

package conf

import "net/netip"

// INT says which packets carry INT. A nil pointer means: not configured.
type INT struct {
	UDPPort     *uint16
	DSCP        []DSCP
	TCPOptions  TCPOptions // "after" | "before": where INT stands relative to the TCP options
	ProbeMarker *uint64
	ProbePorts  []PortRange // limits the probe marker to these TCP/UDP destination ports; empty: all
	GREProtocol *uint16
	VXLANGPE    *VXLANGPE
	Geneve      *Geneve
	Formats                     // telemetry that is not INT
	Versions    []string        // subset of "2", "1", "0"
	INT1Dialect INT1Dialect     // "standard" | "geant": how INT 1.0 is written
	Types       []string        // subset of "md", "mx", "destination"
	ShimLength  ShimLength      // "exclusive" | "inclusive": whether Length of a 2.x shim counts the shim
	Checksum    ChecksumPolicy  // "update" | "keep": the TCP or UDP checksum in front of INT
	Malformed   MalformedPolicy // "forward" | "drop"
	Leak        LeakPolicy      // "forward" | "strip" | "drop": INT from the host side
	LeakMark    MarkPolicy      // "clear" | "drop" | "forward": its mark without INT from there
	Verify      int             // one INT packet in so many has its checksums verified; 0: none
	Layer       LayerPolicy     // "all" | "outer": INT inside of tunnels is the sink's, or others'
	Fragments   FragmentPolicy  // "pass" | "strip"
	Match       *INTMatch       // which packets may carry INT; nil: all
	Domains     []Domain
}

// INTMatch says which packets may carry INT, by their outermost headers; an empty list takes all.
type INTMatch struct {
	VLAN   []PortRange
	Prefix []netip.Prefix // of source or destination
}

// DSCP marks INT when (dscp & Mask) == Value & Mask.
type DSCP struct {
	Value, Mask uint8
	Restore     *uint8 // what the packet leaves with where its shim carries no DSCP; nil: without the bits of Mask
}

// marks reports whether a packet with that DSCP is taken for INT.
func (d *DSCP) marks(dscp uint8) bool { return dscp&d.Mask == d.Value&d.Mask }

// VXLANGPE marks INT in VXLAN-GPE: the UDP destination port, and the next
// protocol that says INT.
type VXLANGPE struct {
	Port         uint16
	NextProtocol uint8
}

// Geneve marks INT in Geneve: the UDP destination port, and the option class.
type Geneve struct {
	Port        uint16
	OptionClass uint16
}

// Domain is the layout of domain specific metadata (INT 2.1, DS Instruction).
type Domain struct {
	Name         string
	ID           uint16
	Instructions []Instruction
}

// Instruction is one bit of DS Instruction and the metadata that it asks for.
type Instruction struct {
	Name   string
	Bit    uint8  // 0 = most significant of DS Instruction
	Length uint16 // bytes, multiple of 4
	Scope  Scope  // "hop" | "source-only" | "source-inserted"
	Role   Role   // "" | "opaque" | "device_id" | "sequence"
}
