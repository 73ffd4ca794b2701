// The closed list of reasons for which INT is malformed, with label and text for the
// documents.

package inthdr

import "strings"

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
	reasonsOfINT
)

// reasonText is the label of a reason, and a line for documents: {notes} is what it is in formats that are not INT, {tunnels} are the
// tunnels that go, {fragments} is which other first fragments are not taken.
type reasonText struct{ label, doc string }

var reasonsText = [reasonsOfINT]reasonText{
	ReasonNone:          {"none", "nothing is wrong"},
	ReasonSegmented:     {"segmented", "the INT headers are spread over buffers in a way that could not be joined; not taken as INT"},
	ReasonTruncated:     {"truncated", "the packet ends before the shim and the INT header do, or before its IP length says{notes}; not taken as INT"},
	ReasonLength:        {"shim_length", "the shim's Length is too small for its type (a Destination header has a word at least) or goes beyond the packet{notes}; not taken as INT"},
	ReasonNPT:           {"npt", "NPT is not 1 or 2 on the INT port, or not 0 elsewhere; not taken as INT"},
	ReasonType:          {"type", "the INT type is not MD, Destination or MX, or not among `types`; not taken as INT"},
	ReasonVersion:       {"version", "the version of the INT header is not configured, or does not belong behind this shim or to this place: a header of 1.0 behind a shim of 2.x, or the other way{notes}; not taken as INT"},
	ReasonUDPLength:     {"udp_length", "the UDP length does not agree with the IP length; not taken as INT"},
	ReasonHopML:         {"hop_ml", "Hop ML does not agree with the Instruction Bitmap; INT removed, contents ignored"},
	ReasonStack:         {"stack", "the stack is not a whole number of hops{notes}; INT removed, contents ignored"},
	ReasonUnknownDomain: {"unknown_domain", "instructions of a domain that is not configured, or that its configuration does not describe, so that the stack cannot be divided; INT removed, contents ignored"},
	ReasonTunnel:        {"tunnel", "the tunnel header that carries INT is one that cannot be rewritten: GRE routing, a next protocol that is no EtherType (below 0x0600, or 0xffff), a version or lengths that do not add up; not taken as INT"},
	ReasonFragment:      {"fragment", "the first fragment of a packet with INT, where the configuration does not say fragments = \"strip\", in a tunnel that goes with its INT and that the later fragments keep ({tunnels}){fragments}; not taken as INT"},
	ReasonInstructions:  {"instructions", "Instruction Count of the June 2016 format does not agree with the bitmap; INT removed, contents ignored"},
	ReasonOriginal:      {"original", "NPT 2: the packet that would be left is none: its UDP length or TCP data offset does not fit what is there; not taken as INT. See `shim_length`"},
	ReasonTooDeep:       {"too_deep", "more headers than the sink looks behind: over 8 VLAN tags, 8 MPLS labels, 15 IPv6 extension headers or 3 tunnels; whether INT stands there is not known. With INT in each of them, that of the outer ones is removed"},
}

// reasons are those of all formats.
var reasons = allReasons()

func allReasons() (all [NumReasons]reasonText) {
	var fragments strings.Builder
	n := copy(all[:], reasonsText[:])
	for i := range foreign {
		if n += copy(all[n:], foreign[i].reasons); foreign[i].asFragment != "" {
			fragments.WriteString(", or " + foreign[i].asFragment)
		}
	}
	for r := range all {
		var notes []string
		for i := range foreign {
			if note := foreign[i].notes[Reason(r)]; note != "" {
				notes = append(notes, note)
			}
		}
		text := ""
		if len(notes) > 0 {
			text = " (" + strings.Join(notes, "; ") + ")"
		}
		all[r].doc = strings.NewReplacer("{notes}", text, "{tunnels}", Tunnels(), "{fragments}", fragments.String()).Replace(all[r].doc)
	}
	return all
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
