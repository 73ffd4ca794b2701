// Block ioam of int: the namespaces that the sink ends.

package conf

import (
	"strconv"

	"intsink/conf/schema"
)

// IOAM says which IOAM of RFC 9197 is taken out of IPv6.
type IOAM struct {
	Namespace    []uint16
	Clock        IOAMClock // "posix" | "ptp" | "ntp": what nodes' fractions of seconds are
	FlowSequence bool      // the numbers of edge-to-edge options count the packets of each flow
}

// IOAMClock is int.ioam.clock: how nodes write times (RFC 9197, section 5).
type IOAMClock string

// The values of int.ioam.clock.
const (
	POSIXClock        IOAMClock = "posix"
	TruncatedPTPClock IOAMClock = "ptp"
	NTPClock          IOAMClock = "ntp"
)

func visitIOAM(v schema.Visitor, c *IOAM) {
	v.Required("namespace", ioamNamespaces(&c.Namespace))
	v.Attr("clock", schema.Choice(&c.Clock, POSIXClock, TruncatedPTPClock, NTPClock))
	v.Attr("flow_sequence", schema.Boolean(&c.FlowSequence))
}

func ioamNamespaces(p *[]uint16) schema.Value {
	const accepted = "numbers of namespaces, from 0 to 65535"
	return &schema.List[uint16]{
		Into: p, Single: true, Once: true, Accepted: accepted, Format: func(n uint16) string { return strconv.Itoa(int(n)) },
		Parse: schema.One(func(x *schema.Expr) (uint16, bool) {
			s, ok := x.TextOrNumber(accepted)
			if !ok {
				return 0, false
			}
			n, err := strconv.ParseUint(s, 0, 16)
			if err != nil {
				return 0, x.Fail("accepted are %s", accepted)
			}
			return uint16(n), true
		}),
	}
}

// checkIOAM: some namespace is taken.
func (d checker) checkIOAM(c *IOAM) {
	if len(c.Namespace) == 0 && d.Good(&c.Namespace) {
		d.ErrorAt([]any{&c.Namespace, c}, "int: ioam: namespace is empty: no IOAM would be taken; Linux shows its own with ip ioam namespace show")
	}
}
