// Numbers of the wire: EtherTypes, IP protocols, UDP ports of tunnels, header lengths, flags
// of TCP, GRE and VXLAN.

package packet

// EtherTypes. IPv4, IPv6 and Ethernet are also what tunnels name in front of the packet
// that they carry.
const (
	EtherTypeIPv4     = 0x0800
	EtherTypeIPv6     = 0x86dd
	EtherTypeEthernet = 0x6558 // transparent Ethernet bridging (RFC 1701)
	EtherTypeVLAN     = 0x8100 // IEEE 802.1Q
	EtherTypeQinQ     = 0x88a8 // IEEE 802.1ad
	EtherType9100     = 0x9100 // QinQ before 802.1ad, as the two below
	EtherType9200     = 0x9200
	EtherType9300     = 0x9300

	EtherTypeMPLS         = 0x8847 // RFC 3032
	EtherTypeMPLSUpstream = 0x8848 // RFC 5332

	MinEtherType = 0x0600 // less is a length (IEEE 802.3)

	ReservedEtherType = 0xffff // RFC 1701
)

// IP protocol numbers.
const (
	ProtoICMP   = 1
	ProtoIPv4   = 4 // RFC 2003
	ProtoTCP    = 6
	ProtoUDP    = 17
	ProtoIPv6   = 41 // RFC 2473, RFC 4213
	ProtoGRE    = 47 // RFC 2784
	ProtoICMPv6 = 58
)

// UDP ports of tunnels. A configuration may name others for VXLAN-GPE and Geneve.
const (
	PortVXLAN    = 4789 // RFC 7348
	PortVXLANGPE = 4790 // draft-ietf-nvo3-vxlan-gpe
	PortGeneve   = 6081 // RFC 8926
)

// Lengths in bytes of headers without options.
const (
	EthernetLen     = 14 // without tags; the first tag's VLAN id stands behind it
	VLANLen         = 4
	IPv4Len         = 20
	IPv6Len         = 40
	TCPLen          = 20
	UDPLen          = 8
	GRELen          = 4
	VXLANLen        = 8 // VXLAN-GPE, too
	GeneveLen       = 8
	GeneveOptionLen = 4 // of an option's header
)

// Flags of a TCP header.
const (
	TCPFIN = 0x01
	TCPRST = 0x04
)

// Flags and version of a GRE header, its first two bytes (RFC 2784, RFC 2890; routing:
// RFC 1701).
const (
	GREChecksum = 0x8000
	GRERouting  = 0x4000
	GREKey      = 0x2000
	GRESequence = 0x1000
	GREVersion  = 0x0007
)

// Flags of a VXLAN header, its first byte (RFC 7348, draft-ietf-nvo3-vxlan-gpe).
const (
	VXLANHasVNI          = 0x08 // I: the VNI is valid
	VXLANHasNextProtocol = 0x04 // P, of VXLAN-GPE: the next protocol is valid
)

// Next protocols of a VXLAN-GPE header.
const (
	GPENextIPv4     = 1
	GPENextIPv6     = 2
	GPENextEthernet = 3
)
