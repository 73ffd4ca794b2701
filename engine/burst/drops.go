// DropReason: the closed list of why a packet was not forwarded.

package burst

import (
	"strings"

	"intsink/engine/wire/inthdr"
)

// DropReason says why a packet was not forwarded. The list is closed: it
// generates the metric label and the table in docs/metrics.md.
type DropReason uint8

const (
	DropTxFull DropReason = iota
	DropTxTooLong
	DropTxDown
	DropTxRefused
	DropDiscard
	DropCopy
	DropMalformed
	DropTap
	DropCongested
	DropRule
	DropLeak
	DropMark
	NumDropReasons
)

var dropReasons = [NumDropReasons]struct {
	label, doc string
	inReport   uint8 // one of report.DropReasons
}{
	DropTxFull:    {"tx_full", "the output port took no more packets, after bounded retries", 51},
	DropTxTooLong: {"tx_too_long", "longer than the MTU of the output port's interface", 50},
	DropTxDown:    {"tx_down", "the output port's link was down, or its interface gone", 0},
	DropTxRefused: {"tx_refused", "the kernel did not take the frame: shorter than an Ethernet header", 0},
	DropDiscard:   {"int_discard", "the INT header asked for it (D flag); reported first", 0},
	DropCopy:      {"int_copy", copies() + "; read and reported first", 0},
	DropMalformed: {"malformed", `marked as INT but unsound, or too deep to tell, and the configuration says malformed = "drop"`, 60},
	DropCongested: {"congested", "the tunnel that goes with its INT (" + inthdr.Tunnels() + ") was marked by a queue (CE), and the packet inside cannot carry the mark (RFC 6040, section 4.2)", 51},
	DropRule:      {"mitigation", "a rule of mitigation asked for it (`POST /api/v1/mitigations`), on a link with `mitigation = true`", 60},
	DropLeak:      {"leak", `a host sent it with INT, and the configuration says leak = "drop"`, 60},
	DropMark:      {"mark", `a host sent it without INT but with the mark of INT, and the configuration says leak_mark = "drop"`, 60},
	DropTap:       {"tap", "received on a tap, which only watches", 0},
}

// copies are the packets that are none of their flow's.
func copies() string {
	var all []string
	for _, f := range inthdr.Foreigns() {
		all = append(all, f.Ends...)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + ", or " + all[last]
}

// DiscardReason is why a packet whose INT has Discard ends here.
func DiscardReason(i *inthdr.Info) DropReason {
	if i.Copy {
		return DropCopy
	}
	return DropDiscard
}

// Code is the drop reason in a drop report: traffic_manager, mtu_check_fail, acl_deny,
// unknown.
func (r DropReason) Code() uint8 { return dropReasons[r].inReport }

// AtPort tells whether the output port refused the packet, which was then as it would have left.
func (r DropReason) AtPort() bool { return r <= DropTxRefused }

// Asked tells whether a reason, by its label, is that somebody wants such packets dropped: the packet itself, a rule, a tap.
func Asked(label string) bool {
	return label == DropDiscard.String() || label == DropRule.String() || label == DropTap.String()
}

// String is the value of the reason label.
func (r DropReason) String() string { return dropReasons[r].label }

// Doc is one line for the documentation.
func (r DropReason) Doc() string { return dropReasons[r].doc }
