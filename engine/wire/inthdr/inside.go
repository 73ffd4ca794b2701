// Find: locates INT in a packet and inside of its tunnels, up to MaxDepth; tells whether
// what is left without INT is a tunnel itself.

package inthdr

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

// MaxDepth is how many tunnels INT is looked for in.
const MaxDepth = 3

// Outers are the layers around those that INT was found in, the outermost first.
// Info.Depth says how many are valid.
type Outers [MaxDepth]packet.Layers

// Find looks for INT in the outer layers of a packet, then inside of tunnels, as
// Locate and LocateInside do. A DSCP is copied to the outer header by many tunnels:
// what it marks there and is no INT may be INT inside.
func (p *Locator) Find(b []byte, l *packet.Layers, i *Info, o *Outers) Result {
	if !p.Selects(b, l) {
		return NotINT
	}
	r := p.Locate(b, l, i)
	if r != NotINT && (r != Unsound || i.Marking != ByDSCP) || !p.Tunnel(b, l) {
		return r
	}
	if p.outer {
		return NotINT // a DSCP that the tunnel copied is of what is inside
	}
	var inside Info
	at := *l
	if in := p.LocateInside(b, &at, &inside, o); in != NotINT {
		*l, *i = at, inside
		return in
	}
	return r
}

// LocateInside is Locate for the packet inside of the tunnel that l describes, or
// inside of the tunnel in that (INT 2.1, section "INT over TCP/UDP": INT may stand
// in outer, inner, or even both layers). Where it returns anything but NotINT, l is
// the layers that are marked, and o those around them.
func (p *Locator) LocateInside(b []byte, l *packet.Layers, i *Info, o *Outers) Result {
	if p.outer {
		return NotINT
	}
	at := *l
	for depth := range o {
		inner, etherType := p.inside(b, &at)
		if inner == 0 {
			return NotINT
		}
		o[depth] = at
		limit := int(at.End)
		switch packet.ParseInner(b, inner, limit, etherType, &at) {
		case packet.NeedMore:
			return NeedMore
		case packet.TooDeep:
			*i = Info{}
			return unsound(i, ReasonTooDeep)
		case packet.OK:
		default:
			return NotINT
		}
		r := p.Locate(b, &at, i)
		if r == Sound && i.Unwraps() { // a source makes no tunnel inside of one
			r = p.noTunnelInside(i)
		}
		if r != NotINT && !(r == Unsound && i.Marking == ByDSCP && p.Tunnel(b, &at)) {
			*l, i.Depth = at, uint8(depth+1)
			return r
		}
	}
	if p.Tunnel(b, &at) {
		*i = Info{}
		return unsound(i, ReasonTooDeep)
	}
	return NotINT
}

// noTunnelInside makes INT unsound whose tunnel should go although it is inside of another one, whose headers name it.
func (p *Locator) noTunnelInside(i *Info) Result {
	return unsound(i, i.Marking.badTunnel())
}

// Encloses reports whether l, the layers that i was found in, are a tunnel once INT is removed:
// the packet inside may have INT, too (INT 2.1, section "INT over TCP/UDP"). From End on, b has
// the bytes of the packet as it came.
func (p *Locator) Encloses(b []byte, l *packet.Layers, i *Info) bool {
	switch {
	case i.Marking.Encloses():
		asTheyWere := i.Marking.InFront() && i.Depth == 0 && !i.Inserted // the other headers
		return !asTheyWere || p.mayMark(l)
	case i.Marking == ByIFA1: // it goes as a whole
		return false
	}
	switch i.NPT {
	case 1:
		return p.tunnels.Has(i.Orig)
	case 2:
		switch i.Orig {
		case packet.ProtoUDP:
			port := int(i.End) + 2
			return port+2 > len(b) || p.tunnels.Has(binary.BigEndian.Uint16(b[port:]))
		case packet.ProtoGRE, packet.ProtoIPv4, packet.ProtoIPv6:
			return true
		}
		return p.foreign.takes(i.Orig)
	}
	return l.Proto == packet.ProtoUDP && p.tunnels.Has(l.DstPort)
}

// mayMark reports whether the headers of l, but for what stands between IP and L4, may mark INT or be a tunnel.
func (p *Locator) mayMark(l *packet.Layers) bool {
	if p.OfTunnel(l.Proto, l.DstPort) || p.foreign.takes(uint16(l.Proto)) {
		return true
	}
	return l.Payload != 0 && (p.byProbe || p.foreign.byMarker() || p.byDSCP && p.dscps.marks(l.DSCP) || p.byPort && l.Proto == packet.ProtoUDP && l.DstPort == p.port)
}

// LeavesOther reports whether the outermost layers of a packet that had i may be marked as INT again, not only those inside.
func (p *Locator) LeavesOther(i *Info) bool {
	return i.Unwraps() && !p.outer || i.Marking >= ByIFA || i.NPT == 2 && p.foreign.takes(i.Orig)
}

// Tunnel reports whether there is a packet inside of the one that l describes.
func (p *Locator) Tunnel(b []byte, l *packet.Layers) bool {
	switch l.Proto {
	case packet.ProtoUDP, packet.ProtoGRE, packet.ProtoIPv4, packet.ProtoIPv6:
		at, _ := p.inside(b, l)
		return at != 0
	}
	return false
}

// Inside is where the packet inside of the one that l describes starts, and its EtherType; 0:
// that is no tunnel.
func (p *Locator) Inside(b []byte, l *packet.Layers) (at int, etherType uint16) {
	switch l.Proto {
	case packet.ProtoUDP, packet.ProtoGRE, packet.ProtoIPv4, packet.ProtoIPv6:
		return p.inside(b, l)
	}
	return 0, 0
}

// OfTunnel reports whether packets of that protocol, and of UDP to that port, are tunnels.
func (p *Locator) OfTunnel(proto uint8, port uint16) bool {
	switch proto {
	case packet.ProtoGRE, packet.ProtoIPv4, packet.ProtoIPv6:
		return true
	}
	return proto == packet.ProtoUDP && p.tunnels.Has(port)
}

// inside returns where the packet in a tunnel starts, and its EtherType; 0 where there is none, or
// none that could be made shorter.
func (p *Locator) inside(b []byte, l *packet.Layers) (at int, etherType uint16) {
	if l.Fragment != packet.NotFragment {
		return 0, 0
	}
	switch l.Proto {
	case packet.ProtoIPv4:
		return int(l.L4), packet.EtherTypeIPv4
	case packet.ProtoIPv6:
		return int(l.L4), packet.EtherTypeIPv6
	case packet.ProtoGRE:
		if t, ok := packet.OpenGRE(b[min(int(l.L4), len(b)):]); ok {
			return int(l.L4) + t.HeaderLen, t.EtherType
		}
	case packet.ProtoUDP:
		at, end := int(l.Payload), min(len(b), int(l.End))
		if at == 0 || at > end || !p.tunnels.Has(l.DstPort) || !udpLengthAgrees(b, l) {
			return 0, 0
		}
		if t, ok := p.tunnels.OpenUDP(b[at:end], l.DstPort); ok {
			return at + t.HeaderLen, t.EtherType
		}
	}
	return 0, 0
}
