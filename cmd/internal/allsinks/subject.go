// Subject: what an incident is about, as the store's flows, episodes and problems are held against it.

package allsinks

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"intsink/cmd/internal/problem"
)

// subject is a node, a host, two hosts, or a flow.
type subject struct {
	about  string
	node   string         // "": flows
	ends   []netip.Prefix // of one end of a flow, or of both
	flow   string         // an id, "": those between the ends
	flow2  string         // the same the other way round
	number uint32         // of the node
}

// flowID is the id of a flow as the API has it.
var flowID = regexp.MustCompile(`^([a-z0-9-]+):([0-9a-fA-F.:\[\]]+)-([0-9a-fA-F.:\[\]]+)(@vni\d+)?$`)

// subjectOf reads exactly one of flow, host and node.
func subjectOf(q url.Values) (x subject, err error) {
	flow, host, node := q.Get("flow"), q.Get("host"), q.Get("node")
	a, b, isPair := strings.Cut(flow, ",")
	switch {
	case bit(flow != "")+bit(host != "")+bit(node != "") != 1:
		return x, &refusal{http.StatusBadRequest, "write one of flow=A,B, host=ADDRESS, node=ID"}
	case node != "":
		n, err := strconv.ParseUint(node, 0, 32)
		if err != nil {
			return x, &refusal{http.StatusBadRequest, fmt.Sprintf("node = %.40q: must be a number", node)}
		}
		x.number, x.node = uint32(n), strconv.FormatUint(n, 10)
		x.about = "flows through node " + x.node
	case host != "":
		x.about, x.ends = "flows of "+host, make([]netip.Prefix, 1)
		x.ends[0], err = prefixOf("host", host)
	case isPair:
		x.about, x.ends = "flows between "+a+" and "+b, make([]netip.Prefix, 2)
		if x.ends[0], err = prefixOf("flow", a); err == nil {
			x.ends[1], err = prefixOf("flow", b)
		}
	default:
		m := flowID.FindStringSubmatch(flow)
		if m == nil {
			return x, &refusal{http.StatusBadRequest, fmt.Sprintf("flow = %.80q: must be two addresses, such as 10.0.0.1,10.1.0.1, or a flow, such as tcp:10.0.0.1:1024-10.1.0.1:80", flow)}
		}
		x.about, x.flow, x.flow2 = "flow "+flow, flow, m[1]+":"+m[3]+"-"+m[2]+m[4]
	}
	return x, err
}

// prefixOf is an address or a prefix.
func prefixOf(name, text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		err = &refusal{http.StatusBadRequest, fmt.Sprintf("%s = %.40q: must be an address or a prefix such as 10.0.0.0/8 or 2001:db8::/32", name, text)}
	}
	return p.Masked(), err
}

// sql is the condition on reports of packets that it is about.
func (x *subject) sql() string {
	switch {
	case x.node != "":
		return fmt.Sprintf("has(arrayMap(h -> ifNull(h.node_id, %s), hops), %d)", unknownNumber, x.number)
	case x.flow != "":
		return fmt.Sprintf("flow IN ('%s', '%s')", x.flow, x.flow2) // of the characters of flowID
	case len(x.ends) == 1:
		return within("source", x.ends[0]) + " OR " + within("destination", x.ends[0])
	}
	way := func(a, b netip.Prefix) string { return within("source", a) + " AND " + within("destination", b) }
	return way(x.ends[0], x.ends[1]) + " OR " + way(x.ends[1], x.ends[0])
}

// within is the condition that a column has an address of p; those of IPv4 are stored as ::ffff:192.0.2.1.
func within(column string, p netip.Prefix) string {
	first := p.Addr().As16()
	last := first
	for i := p.Bits() + 128 - p.Addr().BitLen(); i < 128; i++ {
		last[i/8] |= 0x80 >> (i % 8)
	}
	at := func(a [16]byte) string { return "toIPv6('" + netip.AddrFrom16(a).String() + "')" }
	return fmt.Sprintf("%s >= %s AND %[1]s <= %s", column, at(first), at(last))
}

// fits tells whether it is about a flow with this id.
func (x *subject) fits(flow string) bool {
	if x.flow != "" || x.node != "" {
		return flow != "" && (flow == x.flow || flow == x.flow2)
	}
	m := flowID.FindStringSubmatch(flow)
	if m == nil {
		return false
	}
	a, b := addressOf(m[2]), addressOf(m[3])
	if len(x.ends) == 1 {
		return x.ends[0].Contains(a) || x.ends[0].Contains(b)
	}
	return x.ends[0].Contains(a) && x.ends[1].Contains(b) || x.ends[1].Contains(a) && x.ends[0].Contains(b)
}

// addressOf is that of one end of a flow, with its port or without.
func addressOf(end string) netip.Addr {
	if a, err := netip.ParseAddr(strings.Trim(end, "[]")); err == nil {
		return a
	}
	a, _ := netip.ParseAddrPort(end) // else it is no address, which no prefix has
	return a.Addr()
}

// step is a node of a way, and the interfaces there; "": not known.
type step struct{ node, ingress, egress string }

// meets tells whether a problem names a flow that x is about, or is at a place of one of these ways; of a node, at the node. A full queue is met by
// those who waited in it, or filled it.
func (x *subject) meets(p *problem.Problem, ways [][]step) bool {
	named := slices.ContainsFunc(p.Evidence.Flows, x.fits)
	for _, c := range p.Evidence.Culprits {
		named = named || x.fits(c.Flow)
	}
	for _, v := range p.Evidence.Victims {
		named = named || x.fits(v.Flow)
	}
	switch {
	case named || len(p.Place) == 0:
		return named
	case x.node != "":
		return slices.ContainsFunc(p.Place, func(s problem.Part) bool {
			return s.ID == x.node && slices.Contains([]string{"node", "from", "to"}, s.What)
		})
	case p.Kind == problem.QueueCongested:
		return false
	}
	return slices.ContainsFunc(ways, func(way []step) bool { return passes(way, p.Place) })
}

// passes tells whether a way has the node of a place, by its interfaces, or goes from one node to the other.
func passes(way []step, place []problem.Part) bool {
	at := slices.IndexFunc(way, func(s step) bool {
		if s.node != place[0].ID {
			return false
		}
		return !slices.ContainsFunc(place[1:], func(q problem.Part) bool {
			return q.What == "ingress" && s.ingress != "" && s.ingress != q.ID || q.What == "egress" && s.egress != "" && s.egress != q.ID
		})
	})
	switch {
	case at < 0:
		return false
	case place[0].What == "node":
		return true
	}
	return place[0].What == "from" && len(place) > 1 && slices.ContainsFunc(way[at:], func(s step) bool { return s.node == place[1].ID })
}
