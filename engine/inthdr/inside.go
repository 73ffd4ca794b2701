package inthdr

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/packet"
)

// MaxDepth is how many tunnels INT is looked for in.
const MaxDepth = 3

// Outers are the layers around those that INT was found in, the outermost first.
// Info.Depth says how many are valid.
type Outers [MaxDepth]packet.Layers

// Ports of tunnels where the configuration names no others.
const (
	defaultGPEPort    = 4790
	defaultGenevePort = 6081
)

// Find looks for INT in the outer layers of a packet, then inside of tunnels, as
// Locate and LocateInside do. A DSCP is copied to the outer header by many tunnels:
// what it marks there and is no INT may be INT inside.
func (p *Locator) Find(b []byte, l *packet.Layers, i *Info, o *Outers) Result {
	r := p.Locate(b, l, i)
	if r != NotINT && (r != Unsound || i.Marking != ByDSCP) || !p.Tunnel(b, l) {
		return r
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
		if r == Sound && i.Marking == ByGRE && i.Inserted { // a source makes no tunnel inside of one
			r = unsound(i, ReasonTunnel)
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

// Encloses tells whether the layers that i was found in, l, are those of a tunnel
// once INT is gone: INT may stand in both (INT 2.1, section "INT over TCP/UDP").
// b is the packet from End on as it came.
func (p *Locator) Encloses(b []byte, l *packet.Layers, i *Info) bool {
	switch i.Marking {
	case ByGRE, ByVXLANGPE, ByGeneve:
		return true
	}
	switch i.NPT {
	case 1:
		return p.cache.tunnelPort(bits.ReverseBytes16(i.Orig))
	case 2:
		switch i.Orig {
		case packet.ProtoUDP:
			port := int(i.End) + 2
			return port+2 > len(b) || p.cache.tunnelPort(binary.LittleEndian.Uint16(b[port:]))
		case packet.ProtoGRE, packet.ProtoIPv4, packet.ProtoIPv6:
			return true
		}
		return false
	}
	return l.Proto == packet.ProtoUDP && p.cache.tunnelPort(bits.ReverseBytes16(l.DstPort))
}

// Tunnel tells whether there is a packet inside of the one that l describes.
func (p *Locator) Tunnel(b []byte, l *packet.Layers) bool {
	switch l.Proto {
	case packet.ProtoUDP, packet.ProtoGRE, packet.ProtoIPv4, packet.ProtoIPv6:
		at, _ := p.inside(b, l)
		return at != 0
	}
	return false
}

// inside is where the packet in a tunnel starts, and its EtherType; 0 where there
// is none, or none that could be made shorter.
func (p *Locator) inside(b []byte, l *packet.Layers) (at int, etherType uint16) {
	if l.Fragment != packet.NotFragment {
		return 0, 0
	}
	switch l.Proto {
	case packet.ProtoIPv4:
		return int(l.L4), packet.InIPv4
	case packet.ProtoIPv6:
		return int(l.L4), packet.InIPv6
	case packet.ProtoGRE:
		return insideGRE(b, l)
	case packet.ProtoUDP:
		if l.DstPort != packet.PortVXLAN && l.DstPort != p.gpe.Port && l.DstPort != p.geneve.Port {
			return 0, 0
		}
		if l.Payload == 0 || int(l.Payload)+gpeLen > min(len(b), int(l.End)) || !udpLengthAgrees(b, l) {
			return 0, 0
		}
		return p.insideUDP(b[l.Payload:][:gpeLen], l)
	}
	return 0, 0
}

func insideGRE(b []byte, l *packet.Layers) (at int, etherType uint16) {
	if int(l.L4)+greLen > len(b) {
		return 0, 0
	}
	flags := binary.BigEndian.Uint16(b[l.L4:])
	if flags&(greRouting|greVersion) != 0 {
		return 0, 0
	}
	return int(l.L4) + greHeaderLen(flags), binary.BigEndian.Uint16(b[l.L4+2:])
}

// insideUDP reads the header h of a tunnel over UDP.
func (p *Locator) insideUDP(h []byte, l *packet.Layers) (at int, etherType uint16) {
	at = int(l.Payload) + gpeLen
	switch l.DstPort {
	case packet.PortVXLAN:
		return at, packet.InEthernet
	case p.gpe.Port:
		if h[0]&vxlanP == 0 {
			return at, packet.InEthernet
		}
		switch h[3] {
		case 1:
			return at, packet.InIPv4
		case 2:
			return at, packet.InIPv6
		case gpeEthernet:
			return at, packet.InEthernet
		}
	case p.geneve.Port:
		if h[0]>>6 == 0 {
			return at + int(h[0]&0x3f)*4, binary.BigEndian.Uint16(h[2:])
		}
	}
	return 0, 0
}
