// Block ifa of int: the protocols that are IFA's, and layouts of hops, whose fields are written "name:bits".

package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"intsink/conf/schema"
)

// IFA says which packets carry IFA 2.0 and 1.0, and how hops of 2.0 are laid out.
type IFA struct {
	Protocol     []uint8       // of IP
	Marker       *uint64       // of IFA 1.0, behind TCP's or UDP's header; nil: none is looked for
	Copies       CopyPolicy    // "drop" | "strip"; no default
	MaxResidence time.Duration // of a longer residence time nothing is known
	Hops         []IFAHop
}

// IFAHop is the layout of hops of one namespace.
type IFAHop struct {
	Name   string
	GNS    uint8
	LNS    *uint8 // of GNS 15; nil: all that have no layout of their own
	Fields []IFAField
}

// IFAField is a field of a hop.
type IFAField struct {
	Name string
	Bits uint16
}

func visitIFA(v schema.Visitor, c *IFA) {
	v.Required("protocol", ifaProtocols(&c.Protocol))
	v.Attr("marker", marker(&c.Marker))
	v.Attr("copies", schema.Choice(&c.Copies, "", DropCopies, StripCopies))
	v.Attr("max_residence", schema.Duration(&c.MaxResidence, 1000, 4_294_967_294))
	v.Blocks("hop", schema.Slice(&c.Hops, func(int) IFAHop { return IFAHop{GNS: gnsByHop} }, func(h *IFAHop) *string { return &h.Name }, func(v schema.Visitor, h *IFAHop) {
		v.Attr("gns", schema.Integer(&h.GNS, 0, gnsByHop))
		v.Attr("lns", schema.Optional(&h.LNS, 0, 15))
		v.Required("fields", ifaFields(&h.Fields))
	}))
}

// gnsByHop is the global namespace in which each hop has a local one.
const gnsByHop = 15

// ipProtocols are numbers that IFA must not take: what traffic has (IANA, protocol numbers).
var ipProtocols = map[uint8]string{
	0: "IPv6 hop-by-hop options", 1: "ICMP", 2: "IGMP", 4: "IPv4 in IP", 6: "TCP", 17: "UDP", 41: "IPv6 in IP", 43: "IPv6 routing", 44: "IPv6 fragments", 46: "RSVP",
	47: "GRE", 50: "ESP", 51: "AH", 58: "ICMPv6", 59: "no next header", 60: "IPv6 destination options", 88: "EIGRP", 89: "OSPF", 94: "IP in IP", 97: "Ethernet in IP",
	103: "PIM", 108: "IPComp", 112: "VRRP", 115: "L2TP", 132: "SCTP", 135: "IPv6 mobility", 136: "UDP-Lite", 137: "MPLS in IP", 139: "HIP", 140: "Shim6",
}

func ifaProtocols(p *[]uint8) schema.Value {
	const accepted = "numbers of IP protocols, from 0 to 255"
	return &schema.List[uint8]{
		Into: p, Single: true, Once: true, Accepted: accepted, Format: func(n uint8) string { return strconv.Itoa(int(n)) },
		Parse: schema.One(func(x *schema.Expr) (uint8, bool) {
			s, ok := x.TextOrNumber(accepted)
			if !ok {
				return 0, false
			}
			n, err := strconv.ParseUint(s, 0, 8)
			if err != nil {
				return 0, x.Fail("accepted are %s; did you mean 253, which is free for experiments (RFC 3692)?", accepted)
			}
			if what, taken := ipProtocols[uint8(n)]; taken {
				return 0, x.Fail("IP protocol %d is that of %s: every such packet would be taken for IFA; did you mean 253, which is free for experiments (RFC 3692)?", n, what)
			}
			return uint8(n), true
		}),
	}
}

// ifaFieldNames are what a hop may have, with the most bits of each. Everything else is opaque.
var ifaFieldNames = map[string]uint16{
	"lns": 4, "device_id": 32, "ttl": 8, "speed": 4, "congestion": 8, "queue": 16, "rx_seconds": 32, "rx_nanoseconds": 32,
	"egress_port": 32, "ingress_port": 32, "residence_time": 32, "occupancy": 32, opaqueField: longestHop * 8,
}

const (
	opaqueField = "opaque"
	longestHop  = 255 * 4 // bytes
)

func ifaFields(p *[]IFAField) schema.Value {
	names := make([]string, 0, len(ifaFieldNames))
	for n := range ifaFieldNames {
		names = append(names, n)
	}
	slices.Sort(names)
	accepted := fmt.Sprintf(`fields such as "device_id:20", of %s`, strings.Join(names, ", "))
	return &schema.List[IFAField]{
		Into: p, Accepted: accepted, Format: func(f IFAField) string { return fmt.Sprintf("%q", fmt.Sprintf("%s:%d", f.Name, f.Bits)) },
		Parse: schema.One(func(x *schema.Expr) (IFAField, bool) {
			s, ok := x.Text(accepted)
			if !ok {
				return IFAField{}, false
			}
			name, width, _ := strings.Cut(s, ":")
			most, known := ifaFieldNames[name]
			if !known {
				return IFAField{}, x.Fail("accepted are %s; what has another meaning is \"opaque\"", accepted)
			}
			n, err := strconv.ParseUint(width, 10, 16)
			if err != nil || n == 0 || n > uint64(most) {
				return IFAField{}, x.Fail("a field is its name, a colon and its bits: %q has 1 to %d of them", name, most)
			}
			return IFAField{name, uint16(n)}, true
		}),
	}
}

// marks says what marks packets with IFA, for summaries.
func (c *IFA) marks() (all []string) {
	for _, p := range c.Protocol {
		all = append(all, fmt.Sprintf("IFA by IP protocol %d, copies %s", p, map[CopyPolicy]string{DropCopies: "read and dropped", StripCopies: "forwarded"}[c.Copies]))
	}
	if c.Marker != nil {
		all = append(all, fmt.Sprintf("IFA 1.0 by marker 0x%016x, reported and dropped", *c.Marker))
	}
	return all
}

// check: copies are decided, layouts add up, and each namespace has one.
func (c *IFA) check(d checker, of *INT) {
	if c.Marker != nil && of.ProbeMarker != nil && *c.Marker == *of.ProbeMarker {
		d.ErrorAt([]any{&c.Marker}, "int: ifa: marker is that of probe_marker: a packet is either INT or IFA 1.0")
	}
	if len(c.Protocol) == 0 && d.Good(&c.Protocol) {
		d.ErrorAt([]any{&c.Protocol, c}, "int: ifa: protocol is empty: no IFA would be taken; switches of Broadcom's silicon write 253 where they are not told otherwise")
	}
	if c.Copies == "" && !d.Wrong(&c.Copies) {
		d.ErrorAt([]any{&c.Copies, c}, `int: ifa: copies is missing, and has no default: a wrong one loses packets or doubles them. Packets with I = 0 are copies that the initiator made ("drop"), but some initiators `+
			`leave I at 0 in live packets ("strip"). To find out, write "drop" into a copy of this file and run intsink plan on a capture of what arrives here: it says how many packets have I = 0, and of how many of these the packet came without IFA, too: those are copies`)
	}
	type namespace struct{ gns, lns int }
	taken := map[namespace]string{}
	for i := range c.Hops {
		h := &c.Hops[i]
		d.checkIFAHop(h)
		n := namespace{int(h.GNS), -1}
		if h.LNS != nil {
			n.lns = int(*h.LNS)
		}
		if h.GNS != gnsByHop && h.LNS != nil {
			d.ErrorAt([]any{&h.LNS}, "int: ifa: hop %q: lns does nothing in gns = %d: only in gns = 15 has each hop a namespace of its own", h.Name, h.GNS)
			continue
		}
		if other, twice := taken[n]; twice {
			d.ErrorAt([]any{h}, "int: ifa: hop %q has the namespace of hop %q; each needs its own gns or lns", h.Name, other)
		}
		taken[n] = h.Name
	}
}

// checkIFAHop: the fields are whole words, each there once, and the local namespace comes first.
func (d checker) checkIFAHop(h *IFAHop) {
	if !d.Good(&h.Fields) {
		return
	}
	bits, there := 0, map[string]bool{}
	for _, f := range h.Fields {
		bits += int(f.Bits)
		if there[f.Name] && f.Name != opaqueField {
			d.ErrorAt([]any{&h.Fields}, "int: ifa: hop %q: field %q stands there twice", h.Name, f.Name)
		}
		there[f.Name] = true
	}
	if bits == 0 || bits%32 != 0 || bits > longestHop*8 {
		d.ErrorAt([]any{&h.Fields}, "int: ifa: hop %q: its fields have %d bits: a hop is a whole number of words of 32 bits, 255 at most; fill up with \"opaque:%d\"", h.Name, bits, 32-bits%32)
	}
	if h.GNS == gnsByHop && (len(h.Fields) == 0 || h.Fields[0] != IFAField{"lns", 4}) {
		d.ErrorAt([]any{&h.Fields}, "int: ifa: hop %q: in gns = 15 a hop begins with \"lns:4\"; a layout of all hops has another gns", h.Name)
	}
}

// CopyPolicy is int.ifa.copies: what becomes of packets with I = 0.
type CopyPolicy string

// The values of int.ifa.copies.
const (
	DropCopies  CopyPolicy = "drop"
	StripCopies CopyPolicy = "strip"
)

// maxResidence bounds max_residence: a longer time is the clocks', not the queue's.
const maxResidence = time.Second
