// Finds IOAM in the extension headers of IPv6, and shows its nodes as hops of INT-MD.

package inthdr

import (
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
)

// Reasons of IOAM that is malformed.
const (
	ReasonIOAMOptions Reason = firstOfIOAM + iota
	ReasonIOAMAuthenticated
	ReasonIOAMLength
	ReasonIOAMRemaining
	ReasonIOAMSnapshot
	ReasonIOAMEdge
	ReasonIOAMTunnel
	endOfIOAM
)

var textsOfIOAM = Foreign{
	Type: IOAM, Title: "IOAM", label: "ioam", Ends: []string{"a probe of IOAM (flag A)"}, Tunnel: "`decapsulate` of IOAM",
	notes:      map[Reason]string{ReasonStack: "IOAM: what nodes wrote is not"},
	asFragment: "with IOAM behind the fragment header",
	reasons: []reasonText{
		{"ioam_options", "IOAM: the options of an IPv6 extension header go beyond it, there are more than 64 of them in front of IOAM's, the headers are longer than 2,048 bytes, or one of them is that of a jumbogram; not taken as IOAM"},
		{"ioam_authenticated", "IOAM: an authentication header (AH) covers the packet, which its host would refuse without IOAM; not taken as IOAM"},
		{"ioam_length", "IOAM: the node length does not agree with the trace type, which has no reserved bit, or an option is too short for its header; IOAM removed, contents ignored"},
		{"ioam_remaining", "IOAM: the remaining length goes beyond the option; IOAM removed, contents ignored"},
		{"ioam_snapshot", "IOAM: the opaque snapshot of a node goes beyond the option; IOAM removed, contents ignored"},
		{"ioam_edge_to_edge", "IOAM: an edge-to-edge option is shorter than its type says; IOAM removed, contents ignored"},
		{"ioam_tunnel", "IOAM: a tunnel that `decapsulate` ends holds no whole IP packet of the version that its header names, or IPv4 behind MPLS labels, or it is inside of another tunnel; not taken as IOAM"},
	},
}

// ioamReasons are what package ioam finds wrong, as it is counted.
var ioamReasons = [...]Reason{
	ioam.OK: ReasonNone, ioam.Options: ReasonIOAMOptions, ioam.Authenticated: ReasonIOAMAuthenticated, ioam.Fragment: ReasonFragment,
	ioam.Length: ReasonIOAMLength, ioam.Remaining: ReasonIOAMRemaining, ioam.Snapshot: ReasonIOAMSnapshot, ioam.Stack: ReasonStack,
	ioam.EdgeToEdge: ReasonIOAMEdge,
}

// locateIOAM finds IOAM of the configured namespaces in an IPv6 packet with extension headers.
//
//go:noinline
func (p *Locator) locateIOAM(b []byte, l *packet.Layers, i *Info) Result {
	var f ioam.Found
	problem := p.foreign.IOAM.Find(b, l, &f)
	switch problem {
	case ioam.None:
		return NotINT
	case ioam.NeedMore:
		return NeedMore
	}
	*i = Info{}
	i.Marking, i.Type, i.Format, i.DSCP, i.Shim = ByIOAM, IOAM, FormatIOAM, l.DSCP, l.L3+packet.IPv6Len
	i.Reason = ioamReasons[problem]
	if !problem.Out() {
		return Unsound
	}
	i.Start, i.End, i.Shim, i.Removed, i.Options = f.Start, f.End, f.Option, f.Removed, f.Gone
	i.MTUExceeded, i.Copy, i.Discard = f.Trace.Overflow, f.Trace.Active, f.Trace.Active
	i.Bitmap, i.Stack, i.StackLen = f.Trace.Bitmap(), f.Trace.Stack, f.Trace.Bytes
	i.Second, i.HopML = f.Number, f.NumberLen
	if problem == ioam.OK {
		i.Hops = f.Trace.Hops
	}
	if i.Hops == 0 {
		i.Stack, i.StackLen = f.Option, 0
	}
	if !f.Routed && p.foreign.IOAM.EndsAt(b[l.L3:]) {
		return p.endTunnel(b, l, i)
	}
	return Sound
}

// endTunnel has the IPv6 header with its extension headers go where they are those of a tunnel (RFC 2473, RFC 9486).
func (p *Locator) endTunnel(b []byte, l *packet.Layers, i *Info) Result {
	switch l.Proto {
	case packet.ProtoIPv4:
		i.Next = packet.EtherTypeIPv4
	case packet.ProtoIPv6:
		i.Next = packet.EtherTypeIPv6
	default:
		return Sound // a packet to the node itself
	}
	i.Inserted = true
	i.Start, i.End, i.Removed = l.L3, l.L4, l.L4-l.L3
	if p.cut || p.readOnly || l.Fragment != packet.NotFragment {
		return Sound
	}
	var in packet.Layers
	switch packet.ParseInner(b, int(l.L4), int(l.End), i.Next, &in) {
	case packet.OK:
	case packet.NeedMore:
		return NeedMore
	default:
		return unsound(i, ReasonIOAMTunnel)
	}
	if i.Next != l.EtherType && packet.EtherTypeAt(l)+2 != int(l.L3) { // MPLS labels stand for IPv6
		return unsound(i, ReasonIOAMTunnel)
	}
	return i.decapsulate(b, l)
}

// ioamNodes returns the nodes of the first trace in the packet that b begins; none, where the trace goes beyond b.
func (p *Locator) ioamNodes(b []byte, i *Info) (n ioam.Nodes) {
	if p.foreign.IOAM == nil || i.Hops == 0 || int(i.Stack)+int(i.StackLen) > len(b) {
		return n
	}
	return p.asINT.nodes.Open(b, i.Shim, i.Stack, i.StackLen)
}

//go:noinline
func (p *Locator) ioamHops(b []byte, i *Info) Hops {
	out := p.asINT
	h := Hops{Frame: out.frame[:], Info: &out.info}
	out.info = *i
	n, nodes, hopLen := 0, p.ioamNodes(b, i), int(p.Layout(i).HopLen)
	for node := nodes.Next(); node != nil; node = nodes.Next() {
		nodes.Put(out.frame[n*hopLen:], node, p.foreign.IOAM.Clock, i.Bitmap)
		n++
	}
	out.info.Stack, out.info.StackLen, out.info.HopLen, out.info.Hops = 0, uint16(n*hopLen), uint16(hopLen), uint16(n)
	return h
}

// ioamSource is the hop limit that the packet came to its first node with; false where that did not tell.
func (p *Locator) ioamSource(b []byte, i *Info) (hopLimit uint8, told bool) {
	nodes := p.ioamNodes(b, i)
	for node := nodes.Next(); node != nil; node = nodes.Next() {
		hopLimit, told = nodes.HopLimit(node)
	}
	return hopLimit + 1, told && hopLimit < 255 // each writes what it sends the packet on with
}

// ioamPrivate is Private for nodes.
func (p *Locator) ioamPrivate(b []byte, i *Info, data []byte, ends []int) ([]byte, []int) {
	nodes := p.ioamNodes(b, i)
	for node := nodes.Next(); node != nil; node = nodes.Next() {
		data = nodes.Private(node, data)
		ends = append(ends, len(data))
	}
	return data, ends
}
