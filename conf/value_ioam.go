// Block ioam of int: the namespaces that the sink ends.

package conf

import (
	"fmt"
	"net/netip"
	"strconv"

	"intsink/conf/schema"
)

// IOAM says which IOAM of RFC 9197 is taken out of IPv6.
type IOAM struct {
	Namespace    []uint16
	Clock        IOAMClock    // "posix" | "ptp" | "ntp": what nodes' fractions of seconds are
	Decapsulate  []netip.Addr // destinations of tunnels with IOAM that end here
	FlowSequence bool         // the numbers of edge-to-edge options count the packets of each flow
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
	v.Attr("decapsulate", tunnelEnds(&c.Decapsulate))
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

func tunnelEnds(p *[]netip.Addr) schema.Value {
	const accepted = "IPv6 addresses, which tunnels with IOAM are sent to"
	return &schema.List[netip.Addr]{
		Into: p, Single: true, Once: true, Accepted: accepted, Format: func(a netip.Addr) string { return strconv.Quote(a.String()) },
		Parse: schema.One(func(x *schema.Expr) (netip.Addr, bool) {
			s, ok := x.Text(accepted)
			if !ok {
				return netip.Addr{}, false
			}
			a, err := netip.ParseAddr(s)
			if err != nil || !a.Is6() || a.Is4In6() || a.Zone() != "" || a.IsUnspecified() || a.IsMulticast() {
				return netip.Addr{}, x.Fail("accepted are %s", accepted)
			}
			return a, true
		}),
	}
}

// marks says what marks packets with IOAM, for summaries.
func (c *IOAM) marks() (all []string) {
	for _, n := range c.Namespace {
		all = append(all, fmt.Sprintf("IOAM of namespace %d in IPv6", n))
	}
	for _, a := range c.Decapsulate {
		all = append(all, fmt.Sprintf("tunnels with IOAM to %s end here", a))
	}
	return all
}

// check: some namespace is taken.
func (c *IOAM) check(d checker, _ *INT) {
	if len(c.Namespace) == 0 && d.Good(&c.Namespace) {
		d.ErrorAt([]any{&c.Namespace, c}, "int: ioam: namespace is empty: no IOAM would be taken; Linux shows its own with ip ioam namespace show")
	}
}
