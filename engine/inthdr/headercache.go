package inthdr

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/packet"
)

// Template is what the INT headers of a packet said. A flow's packets, and mostly those
// of a whole domain, carry the same ones: they need not be checked again.
type Template struct {
	headers [2]uint64 // the 16 bytes from the shim on, as little endian loads find them, under same; all ones: nothing remembered
	info    Info
}

const noHeaders = ^uint64(0)

// same0 and same1 mask what must be the same: all of the shim but the original port,
// all of the MD header but Remaining Hop Count, which each hop changes in a way
// that no other field depends on, and DS Flags.
const (
	shimMask = 0x00ffffff_0000ffff
	mdMask   = 0x0000ffff_ffffffff
)

// HeaderCache is what Match compares packets with: the last packets of up to
// 16 lengths of INT, so that flows with few and with many hops do not drive each other
// out. Its fields are what matchheaders_amd64.s in package engine reads.
type HeaderCache struct {
	port      uint16    // INT's own, as a little endian load reads it
	tunnels   [3]uint16 // those of tunnels, read likewise
	portsOnly bool      // nothing but ports marks INT
	templates [NumTemplates]Template
}

// NumTemplates is how many a HeaderCache has, a power of two.
const NumTemplates = 16

// HeaderCache is that of p, which Find fills.
func (p *Locator) HeaderCache() *HeaderCache { return &p.cache }

// Offsets of INT in an untagged Ethernet frame with IPv4 without options and UDP,
// and the end of the MD header.
const (
	udpv4Shim = 14 + 20 + 8
	udpv4MD   = udpv4Shim + shimLen
	udpv4End  = udpv4MD + mdLen
)

// CacheAnswer is the answer of Match.
type CacheAnswer uint8

const (
	CacheUnknown CacheAnswer = iota // packet.Parse and Find have to tell
	CacheMatch                      // INT as in the packet before: i is filled
	CacheNotINT                     // no INT
)

// Match is packet.Parse and Find in one for most packets. CacheMatch: an untagged
// Ethernet frame, IPv4 without options, INT on its UDP port, with the same INT
// headers as the packet before, and no tunnel; i is filled as Find would, and
// UDPv4Layers tells the layers. CacheNotINT: such a frame with TCP, or with UDP to a port
// that is neither INT's nor a tunnel's, where nothing but ports marks INT.
func (p *HeaderCache) Match(b []byte, pktLen int, i *Info) CacheAnswer {
	known, r := p.Lookup(b, pktLen)
	if r == CacheMatch {
		*i = *known
		i.Complete(b)
	}
	return r
}

// Lookup is Match without the copy: CacheMatch comes with what all such packets have in
// common, valid until Find is called; Complete makes the rest.
//
// INT must end within b, not only within the packet of pktLen bytes, and so must the
// original packet. No byte is loaded twice: the compiler would then load all its
// neighbours one by one.
func (p *HeaderCache) Lookup(b []byte, pktLen int) (*Info, CacheAnswer) {
	if len(b) < udpv4End || pktLen > packet.MaxFrame {
		return nil, CacheUnknown
	}
	h := b[:udpv4End]
	w1, w2 := binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[16:])
	w4 := binary.LittleEndian.Uint64(h[32:])
	if w1>>32&0x00ffffff != 0x450008 || // EtherType, version and IHL
		w2&0x0000ff3f_00000000 != 0 { // fragment
		return nil, CacheUnknown
	}
	port := uint16(w4 >> 32)
	if w2>>56 != packet.ProtoUDP || port != p.port {
		return nil, p.notINT(uint8(w2>>56), port)
	}
	int0, int1 := binary.LittleEndian.Uint64(h[udpv4Shim:]), binary.LittleEndian.Uint64(h[udpv4Shim+8:])
	orig := uint16(int0 >> 16)
	total := int(bits.ReverseBytes16(uint16(w2)))
	udp := int(bits.ReverseBytes16(uint16(w4 >> 48)))
	m := &p.templates[int0>>8%NumTemplates]
	if int0&shimMask != m.headers[0] || int1&mdMask != m.headers[1] || orig == p.port || p.tunnelPort(orig) ||
		total != udp+20 || 14+total > min(len(b), pktLen) || int(m.info.End) > 14+total {
		return nil, CacheUnknown
	}
	return &m.info, CacheMatch
}

// Complete sets what each packet has of its own where Lookup says CacheMatch
// of b.
func (i *Info) Complete(b []byte) {
	h := b[:udpv4End]
	i.Orig = binary.BigEndian.Uint16(h[udpv4Shim+2:])
	i.Size = i.UDPv4Size(b)
	i.DSCP = h[15] >> 2
	i.RemainingHops = h[udpv4MD+3]
}

// UDPv4Size is Size of packet b, of which Match said i, which is UDPv4.
func (i *Info) UDPv4Size(b []byte) uint16 { return 14 + binary.BigEndian.Uint16(b[16:]) - i.Removed }

// UDPv4Layers are the layers of packet b, of which Match said i.
func UDPv4Layers(b []byte, i *Info, l *packet.Layers) {
	*l = packet.Layers{
		L3: 14, L4: 14 + 20, Payload: udpv4Shim, End: i.Size + i.Removed, ProtoAt: 23, EtherType: 0x0800,
		IPVersion: 4, Proto: packet.ProtoUDP, DSCP: i.DSCP, Fragment: packet.NotFragment,
		SrcPort: binary.BigEndian.Uint16(b[34:]), DstPort: binary.BigEndian.Uint16(b[36:]),
	}
}

// notINT tells whether a whole IPv4 packet of that protocol, to that port as a
// little endian load reads it, can have INT.
func (p *HeaderCache) notINT(proto uint8, port uint16) CacheAnswer {
	if !p.portsOnly {
		return CacheUnknown
	}
	switch proto {
	case packet.ProtoTCP:
		return CacheNotINT
	case packet.ProtoUDP:
		if !p.tunnelPort(port) {
			return CacheNotINT
		}
	}
	return CacheUnknown
}

// tunnelPort tells whether port, as a little endian load reads it, is that of a
// tunnel over UDP.
func (p *HeaderCache) tunnelPort(port uint16) bool {
	return port == p.tunnels[0] || port == p.tunnels[1] || port == p.tunnels[2]
}

// locateByPort is locateShim for INT's UDP port. It remembers what it found for
// Match, where that can be told by what Match looks at.
func (p *Locator) locateByPort(b []byte, l *packet.Layers, i *Info) Result {
	r := p.locateShim(b, l, i, ByPort, int(l.Payload))
	if r != Sound || i.NPT != 1 {
		return r
	}
	if i.Orig == p.port {
		p.addFollowers(b, l, i)
		return Sound
	}
	if i.Type == MD && l.L4 == 34 && l.IPVersion == 4 && l.Fragment == packet.NotFragment && i.Edit == 0 {
		h := b[udpv4Shim:udpv4End]
		int0, int1 := binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:])
		m := &p.cache.templates[int0>>8%NumTemplates]
		*m = Template{headers: [2]uint64{int0 & shimMask, int1 & mdMask}, info: *i}
		m.info.UDPv4 = true
		p.Classify(&m.info)
	}
	return Sound
}

// addFollowers takes in the shims of a chain: the original port of a shim is INT's
// own where another shim follows. The last one may have NPT 2: then the UDP header
// was made for INT. What is no sound shim is the payload of somebody who uses INT's
// port for something else.
func (p *Locator) addFollowers(b []byte, l *packet.Layers, i *Info) {
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
