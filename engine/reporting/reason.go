// The closed list of reasons for which a report never reached the wire: no mbuf, ring full,
// too big.

package reporting

// DropReason says why a report or report packet never reached the wire.
type DropReason uint8

const (
	DropNoMbuf DropReason = iota
	DropRingFull
	DropTooBig
	NumDropReasons
)

var dropReasons = [NumDropReasons]struct{ label, doc string }{
	DropNoMbuf:   {"no_mbuf", "the report pool was empty; one individual report is lost"},
	DropRingFull: {"ring_full", "the exporter did not keep up; one report packet is lost, its sequence number stays missing"},
	DropTooBig:   {"too_big", "the report does not fit max_bytes; one individual report is lost"},
}

// String is the value of the reason label.
func (r DropReason) String() string { return dropReasons[r].label }

// Doc is one line for the documentation.
func (r DropReason) Doc() string { return dropReasons[r].doc }
