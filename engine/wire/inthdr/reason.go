// The closed list of reasons for which INT is malformed, with label and text for the
// documents.

package inthdr

// Reason is what is wrong with a packet that is marked as INT. The list is closed: it
// generates the metric label and the documentation.
type Reason uint8

const (
	ReasonNone Reason = iota
	ReasonSegmented
	ReasonTruncated
	ReasonLength
	ReasonNPT
	ReasonType
	ReasonVersion
	ReasonUDPLength
	ReasonHopML
	ReasonStack
	ReasonUnknownDomain
	ReasonTunnel
	ReasonInstructions
	ReasonFragment
	ReasonOriginal
	ReasonTooDeep
	ReasonPlace
	ReasonLayout
	ReasonPart
	ReasonIFA1
	ReasonIOAMOptions
	ReasonIOAMAuthenticated
	ReasonIOAMLength
	ReasonIOAMRemaining
	ReasonIOAMSnapshot
	ReasonIOAMEdge
	ReasonIOAMTunnel
	NumReasons
)

var reasons = [NumReasons]struct{ label, doc string }{
	ReasonNone:              {"none", "nothing is wrong"},
	ReasonSegmented:         {"segmented", "the INT headers are spread over buffers in a way that could not be joined; not taken as INT"},
	ReasonTruncated:         {"truncated", "the packet ends before the shim and the INT header do, or before its IP length says (IFA: before its headers do); not taken as INT"},
	ReasonLength:            {"shim_length", "the shim's Length is too small for its type (a Destination header has a word at least) or goes beyond the packet (IFA: the current length does); not taken as INT"},
	ReasonNPT:               {"npt", "NPT is not 1 or 2 on the INT port, or not 0 elsewhere; not taken as INT"},
	ReasonType:              {"type", "the INT type is not MD, Destination or MX, or not among `types`; not taken as INT"},
	ReasonVersion:           {"version", "the version of the INT header is not configured, or does not belong behind this shim or to this place: a header of 1.0 behind a shim of 2.x, or the other way (IFA: another than 2, or than 1 behind the marker of IFA 1.0); not taken as INT"},
	ReasonUDPLength:         {"udp_length", "the UDP length does not agree with the IP length; not taken as INT"},
	ReasonHopML:             {"hop_ml", "Hop ML does not agree with the Instruction Bitmap; INT removed, contents ignored"},
	ReasonStack:             {"stack", "the stack is not a whole number of hops (IOAM: what nodes wrote is not); INT removed, contents ignored"},
	ReasonUnknownDomain:     {"unknown_domain", "instructions of a domain that is not configured, or that its configuration does not describe, so that the stack cannot be divided; INT removed, contents ignored"},
	ReasonTunnel:            {"tunnel", "the tunnel header that carries INT is one that cannot be rewritten: GRE routing, a next protocol that is no EtherType (below 0x0600, or 0xffff), a version or lengths that do not add up; not taken as INT"},
	ReasonFragment:          {"fragment", "the first fragment of a packet with INT, where the configuration does not say fragments = \"strip\", in a tunnel that goes with its INT and that the later fragments keep (GRE that the source made, `decapsulate` of IOAM), or with IOAM behind the fragment header; not taken as INT"},
	ReasonInstructions:      {"instructions", "Instruction Count of the June 2016 format does not agree with the bitmap; INT removed, contents ignored"},
	ReasonOriginal:          {"original", "NPT 2: the packet that would be left is none: its UDP length or TCP data offset does not fit what is there; not taken as INT. See `shim_length`"},
	ReasonPlace:             {"ifa_place", "IFA: nothing says where the metadata header stands: the next header is none of TCP, UDP, GRE, ICMP and ICMPv6, such as IFA again, or is not sound itself, or tail stamps (TS) come with a checksum (C) or in parts (MF); not taken as IFA"},
	ReasonLayout:            {"ifa_layout", "IFA: no layout fits the stack, by GNS, LNS and length; IFA removed, hops reported as they are. See `hop` in block `ifa`"},
	ReasonPart:              {"ifa_part", "IFA: the stack is one of several packets' (MF); removed, hops reported as they are"},
	ReasonIFA1:              {"ifa_1", "IFA 1.0: no public text says how its hops are laid out; reported with its bytes, and dropped, for it is a copy. See `marker` in block `ifa`"},
	ReasonIOAMOptions:       {"ioam_options", "IOAM: the options of an IPv6 extension header go beyond it, there are more than 64 of them in front of IOAM's, the headers are longer than 2,048 bytes, or one of them is that of a jumbogram; not taken as IOAM"},
	ReasonIOAMAuthenticated: {"ioam_authenticated", "IOAM: an authentication header (AH) covers the packet, which its host would refuse without IOAM; not taken as IOAM"},
	ReasonIOAMLength:        {"ioam_length", "IOAM: the node length does not agree with the trace type, which has no reserved bit, or an option is too short for its header; IOAM removed, contents ignored"},
	ReasonIOAMRemaining:     {"ioam_remaining", "IOAM: the remaining length goes beyond the option; IOAM removed, contents ignored"},
	ReasonIOAMSnapshot:      {"ioam_snapshot", "IOAM: the opaque snapshot of a node goes beyond the option; IOAM removed, contents ignored"},
	ReasonIOAMEdge:          {"ioam_edge_to_edge", "IOAM: an edge-to-edge option is shorter than its type says; IOAM removed, contents ignored"},
	ReasonIOAMTunnel:        {"ioam_tunnel", "IOAM: a tunnel that `decapsulate` ends holds no whole IP packet of the version that its header names, or IPv4 behind MPLS labels, or it is inside of another tunnel; not taken as IOAM"},
	ReasonTooDeep:           {"too_deep", "more headers than the sink looks behind: over 8 VLAN tags, 8 MPLS labels, 15 IPv6 extension headers or 3 tunnels; whether INT stands there is not known. With INT in each of them, that of the outer ones is removed"},
}

// String returns the value of the reason label.
func (r Reason) String() string {
	if r < NumReasons {
		return reasons[r].label
	}
	return "unknown"
}

// Doc is one line for the documentation.
func (r Reason) Doc() string { return reasons[r].doc }
