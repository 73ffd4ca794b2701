// Source: declares every option of an INT source (marking, format, bitmap, domain), and
// checks them.

package intgen

import (
	"cmp"
	"errors"
	"net/netip"
)

// Marking is how a packet says that it carries INT (INT 2.1, section "Header
// Location").
type Marking uint8

const (
	ByPort        Marking = iota // UDP: port in the shim (NPT 1); anything else: a new UDP header (NPT 2)
	ByNewUDP                     // always a new UDP header (NPT 2)
	ByDSCP                       // DSCP value or bits, original in the shim
	ByProbeMarker                // 64 bits in front of the shim
	ByGRE                        // protocol of a GRE header, the original's or a new one
	ByVXLANGPE                   // next protocol of VXLAN-GPE
	ByGeneve                     // an option of Geneve
)

// Format is the version of INT that a source writes.
type Format uint8

const (
	Format2    Format = iota // INT 2.x
	Format1                  // INT 1.0
	Format2016               // INT of June 2016
)

// INT Header types (INT 2.1, section "INT Header Types").
const (
	TypeMD          = 1
	TypeDestination = 2
	TypeMX          = 3
)

// Source is an INT source and the hops behind it.
type Source struct {
	Marking       Marking
	Format        Format
	UDPPort       uint16
	DSCP, Mask    uint8
	ProbeMarker   uint64
	BeforeOptions bool // INT stands before the TCP options

	Type             uint8 // 0: TypeMD
	DestinationWords int   // length of a Destination header
	ThenDestination  bool  // a Destination header follows the MD or MX header

	Bitmap      uint16
	MaxHops     int    // Remaining Hop Count at the source; 2016: Max Hop Count
	HopExceeded bool   // E
	MTUExceeded bool   // M
	Discard     bool   // D; 1.0 and 2016: C, a copy
	Reserved    uint16 // reserved bits of the first word: 12; 1.0: 10; 2016: 5; MX: the lowest 12 of 27

	DomainID, DSInstruction, DSFlags uint16
	DomainPerHop                     int    // bytes of domain specific metadata at each hop
	SourceOnly                       []byte // MD: below the bottom of the stack; MX: source-inserted

	GREProtocol     uint16 // 0: 0x88b6
	GREInserted     bool   // G = 1: a new IP and GRE header around the original
	GREEthernet     bool   // the whole frame goes into the new GRE
	GREChecksum     bool   // of the new GRE, as the next two
	GREKey          bool
	GRESequence     bool
	OuterSrc        netip.Addr
	OuterDst        netip.Addr
	OuterVLAN       uint16 // tag of the new Ethernet header of GREEthernet; 0: none
	GPEPort         uint16 // 0: 4790
	FromVXLAN       bool   // G = 1: the original is plain VXLAN
	GeneveLast      bool   // INT stands behind the other options
	GenevePort      uint16 // 0: 6081
	GeneveClass     uint16 // 0: 0x0103
	GPENextProtocol uint8  // 0: 0x82; 1.0: 0x08; 2016: 0x05

	Formats // of telemetry that is not INT
}

// Errors of Insert; the packet stays unchanged.
var (
	ErrNotIP   = errors.New("intgen: not an IPv4 or IPv6 packet with a header this source knows")
	ErrProto   = errors.New("intgen: the packet has no header that this marking needs")
	ErrLength  = errors.New("intgen: the packet or its INT would be too long")
	ErrChain   = errors.New("intgen: this marking or type cannot chain INT headers")
	ErrPadding = errors.New("intgen: the options are padded in a way that a sink does not restore")
	ErrFormat  = errors.New("intgen: the format lacks this marking, type or field")
)

// Well-known numbers, where the source has none of its own.
const (
	portVXLAN  = 4789
	portGPE    = 4790
	portGeneve = 6081
)

func (s *Source) greProtocol() uint16 { return cmp.Or(s.GREProtocol, 0x88b6) }
func (s *Source) gpePort() uint16     { return cmp.Or(s.GPEPort, portGPE) }
func (s *Source) genevePort() uint16  { return cmp.Or(s.GenevePort, portGeneve) }
func (s *Source) geneveClass() uint16 { return cmp.Or(s.GeneveClass, 0x0103) }

// gpeNextProtocol is 0x82 in INT 2.1, 0x08 in INT 1.0 (section 4.6.2) and 0x05 in
// 2016 (section 5.3.2).
func (s *Source) gpeNextProtocol() uint8 {
	return cmp.Or(s.GPENextProtocol, [...]uint8{Format2: 0x82, Format1: 0x08, Format2016: 0x05}[s.Format])
}

// check finds fields that contradict each other or the format.
func (s *Source) check() error {
	if s.Type > TypeMX || s.DomainPerHop < 0 || s.DomainPerHop%4 != 0 || len(s.SourceOnly)%4 != 0 {
		return ErrFormat
	}
	if s.ThenDestination && (s.Type == TypeDestination || s.Marking == ByDSCP || s.Marking == ByProbeMarker) {
		return ErrChain
	}
	if s.Format == Format2 {
		return nil
	}
	overL4 := s.Marking == ByDSCP || s.Marking == ByProbeMarker
	overTunnel := s.Marking == ByVXLANGPE && !s.FromVXLAN || s.Marking == ByGeneve
	domain := s.DomainID|s.DSInstruction|s.DSFlags != 0 || s.DomainPerHop+len(s.SourceOnly) != 0
	if s.Type == TypeMX || domain || !overTunnel && !(overL4 && s.Format == Format1) {
		return ErrFormat
	}
	return nil
}
