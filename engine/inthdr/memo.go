package inthdr

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/packet"
)

// Memo is what the INT headers of a packet said. A flow's packets, and mostly those
// of a whole domain, carry the same ones: they need not be checked again.
type Memo struct {
	headers [2]uint64 // the 16 bytes from the shim on, as little endian loads find them, under same; all ones: nothing remembered
	info    Info
}

const nothing = ^uint64(0)

// same0 and same1 mask what must be the same: all of the shim but the original port,
// all of the MD header but Remaining Hop Count, which each hop changes in a way
// that no other field depends on, and DS Flags.
const (
	same0 = 0x00ffffff_0000ffff
	same1 = 0x0000ffff_ffffffff
)

// Memory is what Recall compares packets with: the last packets of up to
// 16 lengths of INT, so that flows with few and with many hops do not drive each other
// out. Its fields are what recall_amd64.s in package engine reads.
type Memory struct {
	port    uint16    // INT's own, as a little endian load reads it
	tunnels [3]uint16 // those of tunnels, read likewise
	settles bool      // nothing but ports marks INT
	memos   [Memos]Memo
}

// Memos is how many a Memory has, a power of two.
const Memos = 16

// Memory is that of p, which Find fills.
func (p *Locator) Memory() *Memory { return &p.memory }

// Offsets of INT in an untagged Ethernet frame with IPv4 without options and UDP,
// and the end of the MD header.
const (
	plainShim = 14 + 20 + 8
	plainMD   = plainShim + shimLen
	plainEnd  = plainMD + mdLen
)

// Recalled is the answer of Recall.
type Recalled uint8

const (
	Ask   Recalled = iota // packet.Parse and Find have to tell
	Same                  // INT as in the packet before: i is filled
	Plain                 // no INT
)

// Recall is packet.Parse and Find in one for most packets. Same: an untagged
// Ethernet frame, IPv4 without options, INT on its UDP port, with the same INT
// headers as the packet before, and no tunnel; i is filled as Find would, and
// PlainLayers tells the layers. Plain: such a frame with TCP, or with UDP to a port
// that is neither INT's nor a tunnel's, where nothing but ports marks INT.
func (p *Memory) Recall(b []byte, pktLen int, i *Info) Recalled {
	known, r := p.Known(b, pktLen)
	if r == Same {
		*i = *known
		i.Complete(b)
	}
	return r
}

// Known is Recall without the copy: Same comes with what all such packets have in
// common, valid until Find is called; Complete makes the rest.
//
// INT must end within b, not only within the packet of pktLen bytes, and so must the
// original packet. No byte is loaded twice: the compiler would then load all its
// neighbours one by one.
func (p *Memory) Known(b []byte, pktLen int) (*Info, Recalled) {
	if len(b) < plainEnd || pktLen > packet.MaxFrame {
		return nil, Ask
	}
	h := b[:plainEnd]
	w1, w2 := binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[16:])
	w4 := binary.LittleEndian.Uint64(h[32:])
	if w1>>32&0x00ffffff != 0x450008 || // EtherType, version and IHL
		w2&0x0000ff3f_00000000 != 0 { // fragment
		return nil, Ask
	}
	port := uint16(w4 >> 32)
	if w2>>56 != packet.ProtoUDP || port != p.port {
		return nil, p.plain(uint8(w2>>56), port)
	}
	int0, int1 := binary.LittleEndian.Uint64(h[plainShim:]), binary.LittleEndian.Uint64(h[plainShim+8:])
	orig := uint16(int0 >> 16)
	total := int(bits.ReverseBytes16(uint16(w2)))
	udp := int(bits.ReverseBytes16(uint16(w4 >> 48)))
	m := &p.memos[int0>>8%Memos]
	if int0&same0 != m.headers[0] || int1&same1 != m.headers[1] || orig == p.port || p.tunnelPort(orig) ||
		total != udp+20 || 14+total > min(len(b), pktLen) || int(m.info.End) > 14+total {
		return nil, Ask
	}
	return &m.info, Same
}

// Complete sets what each packet has of its own where Known says that b is the Same
// as those before.
func (i *Info) Complete(b []byte) {
	h := b[:plainEnd]
	i.Orig = binary.BigEndian.Uint16(h[plainShim+2:])
	i.Size = i.PlainSize(b)
	i.DSCP = h[15] >> 2
	i.RemainingHops = h[plainMD+3]
}

// PlainSize is Size of packet b, which is Plain.
func (i *Info) PlainSize(b []byte) uint16 { return 14 + binary.BigEndian.Uint16(b[16:]) - i.Removed }

// PlainLayers are the layers of packet b, of which Recall said i.
func PlainLayers(b []byte, i *Info, l *packet.Layers) {
	*l = packet.Layers{
		L3: 14, L4: 14 + 20, Payload: plainShim, End: i.Size + i.Removed, ProtoAt: 23, EtherType: 0x0800,
		IPVersion: 4, Proto: packet.ProtoUDP, DSCP: i.DSCP, Fragment: packet.NotFragment,
		SrcPort: binary.BigEndian.Uint16(b[34:]), DstPort: binary.BigEndian.Uint16(b[36:]),
	}
}

// plain tells whether a whole IPv4 packet of that protocol, to that port as a
// little endian load reads it, can have INT.
func (p *Memory) plain(proto uint8, port uint16) Recalled {
	if !p.settles {
		return Ask
	}
	switch proto {
	case packet.ProtoTCP:
		return Plain
	case packet.ProtoUDP:
		if !p.tunnelPort(port) {
			return Plain
		}
	}
	return Ask
}

// tunnelPort tells whether port, as a little endian load reads it, is that of a
// tunnel over UDP.
func (p *Memory) tunnelPort(port uint16) bool {
	return port == p.tunnels[0] || port == p.tunnels[1] || port == p.tunnels[2]
}

// locateByPort is locateShim for INT's UDP port. It remembers what it found for
// Recall, where that can be told by what Recall looks at.
func (p *Locator) locateByPort(b []byte, l *packet.Layers, i *Info) Result {
	r := p.locateShim(b, l, i, ByPort, int(l.Payload))
	if r != Sound || i.NPT != 1 {
		return r
	}
	if i.Orig == p.port {
		p.followers(b, l, i)
		return Sound
	}
	if i.Type == MD && l.L4 == 34 && l.IPVersion == 4 && l.Fragment == packet.NotFragment {
		h := b[plainShim:plainEnd]
		int0, int1 := binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:])
		m := &p.memory.memos[int0>>8%Memos]
		*m = Memo{headers: [2]uint64{int0 & same0, int1 & same1}, info: *i}
		m.info.Plain = true
		p.Judge(&m.info)
	}
	return Sound
}

// followers takes in the shims of a chain: the original port of a shim is INT's
// own where another shim follows. The last one may have NPT 2: then the UDP header
// was made for INT. What is no sound shim is the payload of somebody who uses INT's
// port for something else.
func (p *Locator) followers(b []byte, l *packet.Layers, i *Info) {
	for i.NPT == 1 && i.Orig == p.port {
		var next Info
		if p.locateShim(b, l, &next, ByPort, int(i.End)) != Sound {
			return
		}
		start, end := i.Start, next.End
		if next.NPT == 2 {
			start = l.L4
		}
		if i.Type == Destination && next.Type != Destination {
			*i = next
		}
		i.NPT, i.Orig = next.NPT, next.Orig
		i.Start, i.End, i.Removed = start, end, end-start
	}
}
