package inthdr

import (
	"encoding/binary"

	"intsink/engine/packet"
)

// memo is what the last packet's INT headers said. A flow's packets, and mostly
// those of a whole domain, carry the same ones: they need not be checked again.
type memo struct {
	md   uint64 // first eight bytes of the MD header, Remaining Hop Count masked
	shim uint64 // shim without its last two bytes, and DS Instruction; 0: nothing remembered
	info Info
}

// remainingHops is where the count stands that each hop changes in a way that
// no other field depends on.
const remainingHops = 0xff << 32

// locateByPort is locateShim for INT's UDP port.
func (p *Locator) locateByPort(b []byte, l *packet.Layers, i *Info) Result {
	at, end := int(l.Payload), int(l.End)
	if len(b) < at+shimLen+mdLen || end < at+shimLen+mdLen {
		return p.locateShim(b, l, i, ByPort, at)
	}
	h := b[at : at+shimLen+mdLen]
	shim := binary.BigEndian.Uint32(h)
	md := binary.BigEndian.Uint64(h[4:])
	key := uint64(shim>>16)<<16 | uint64(binary.BigEndian.Uint16(h[12:]))
	to := at + shimLen + int(shim>>16&0xff)*4
	udp := int(binary.BigEndian.Uint16(b[l.L4+4:]))
	m := &p.memo
	if key != m.shim || md&^remainingHops != m.md || to > end || len(b) < to || int(l.L4)+udp != end ||
		l.Fragment != packet.NotFragment {
		return p.learn(b, l, i, at, md&^remainingHops, key)
	}
	*i = m.info
	i.Start, i.End, i.Shim = uint16(at), uint16(to), uint16(at)
	i.Orig, i.DSCP = uint16(shim), l.DSCP
	i.RemainingHops = uint8(md >> 32)
	i.Stack = uint16(at + shimLen + mdLen)
	if i.NPT == 2 {
		i.Orig, i.Start = i.Orig&0xff, l.L4
	}
	return Sound
}

// learn goes the long way and remembers what it found.
//
//go:noinline
func (p *Locator) learn(b []byte, l *packet.Layers, i *Info, at int, md, key uint64) Result {
	r := p.locateShim(b, l, i, ByPort, at)
	if r == Sound && i.Type == MD {
		p.memo = memo{md: md, shim: key, info: *i}
	}
	return r
}
