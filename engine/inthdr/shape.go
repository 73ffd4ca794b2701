package inthdr

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/packet"
)

// shape is what headers that packet.Parse and Find have gone through look like, up to
// the end of the MD header, and what they found. The next packet of that shape differs
// only where no check asks; what follows from these bytes is read anew.
//
// It is Template for headers that are not UDPv4: with VLAN tags, IPv6, TCP, or INT
// marked by DSCP or probe marker, IP options and NPT 2 included.
type shape struct {
	checks  [shapeWords]masked
	nChecks int
	need    int // bytes of a first segment
	layers  packet.Layers
	info    Info
}

// masked is eight bytes at an offset, as a little endian load reads them; they may
// differ where mask has zeros.
type masked struct {
	want, mask uint64
	at         int
}

const (
	shapeWords = 16 // headers up to 128 bytes
	shapeBytes = shapeWords * 8
)

// shapes are the shapes last learned. Flows of one domain have few.
type shapes struct {
	kept [8]shape
	n    int // kept[:n] are learned
	next int // to be replaced
	last int // where the last packet's was

	missed uint // packets that Store was told of since all are learned
}

// storeInterval is how many packets of other shapes make room for one of them, once there is
// none: more shapes than are kept, or headers made to differ, would otherwise cost more
// than parsing alone.
const storeInterval = 16

// Match is packet.Parse and Find in one for a packet like one that Store was told of:
// true, and l and i are filled as these would, with the result Sound and no tunnel
// around, and Classify was called; i.Size is left to the caller, as Find leaves it.
func (p *Locator) Match(b []byte, pktLen int, l *packet.Layers, i *Info) bool {
	if pktLen > packet.MaxFrame {
		return false
	}
	s := &p.shapes
	for at := s.last; at < s.n; at++ {
		if k := &s.kept[at]; k.matches(b) && k.fill(p, b, pktLen, l, i) {
			s.last = at
			return true
		}
	}
	for at := range min(s.last, s.n) {
		if k := &s.kept[at]; k.matches(b) && k.fill(p, b, pktLen, l, i) {
			s.last = at
			return true
		}
	}
	return false
}

// matches tells whether b has all bytes that may not differ.
func (s *shape) matches(b []byte) bool {
	if len(b) < s.need {
		return false
	}
	for k := range s.checks[:s.nChecks&(2*shapeWords-1)] {
		c := &s.checks[k]
		if (binary.LittleEndian.Uint64(b[c.at:])^c.want)&c.mask != 0 {
			return false
		}
	}
	return true
}

// fill reads what may differ, and tells whether it makes no other difference.
func (s *shape) fill(p *Locator, b []byte, pktLen int, l *packet.Layers, i *Info) bool {
	ip, l4, shim := b[s.layers.L3:], b[s.layers.L4:], b[s.info.Shim:]
	if len(ip) < 6 || len(l4) < packet.TCPLen || len(shim) < shimLen+mdLen {
		return false
	}
	end, dscp := 0, uint8(0)
	if s.layers.IPVersion == 4 {
		end, dscp = int(s.layers.L3)+int(binary.BigEndian.Uint16(ip[2:])), ip[1]>>2
	} else {
		end, dscp = int(s.layers.L4)+int(binary.BigEndian.Uint16(ip[4:])), uint8(binary.BigEndian.Uint16(ip)>>6&0x3f)
	}
	if end > pktLen || int(max(s.info.End, s.layers.Payload)) > end {
		return false
	}
	src, dst, flags := binary.BigEndian.Uint16(l4), binary.BigEndian.Uint16(l4[2:]), uint8(0)
	if s.layers.Proto == packet.ProtoTCP {
		flags = l4[13]
	} else if int(s.layers.L4)+int(binary.BigEndian.Uint16(l4[4:])) != end || s.info.Marking != ByPort && p.hasOwnPort(dst) {
		return false
	}
	if s.info.NPT == 2 && original(b, int(s.info.End), end, s.info.Orig, false) != Sound {
		return false
	}
	orig := s.info.Orig
	if s.info.NPT == 1 {
		if orig = binary.BigEndian.Uint16(shim[2:]); orig == p.port {
			return false
		}
	}
	*l, *i = s.layers, s.info
	l.End, l.SrcPort, l.DstPort, l.TCPFlags, l.DSCP = uint16(end), src, dst, flags, dscp
	if l.VLANs > 0 {
		l.VLAN = binary.BigEndian.Uint16(b[packet.EthernetLen:]) & 0xfff
	}
	i.Orig, i.RemainingHops = orig, shim[shimLen+3]
	if i.Marking != ByDSCP {
		i.DSCP = dscp
	}
	return true
}

// hasOwnPort tells whether INT or a tunnel is looked for behind that UDP port.
func (p *Locator) hasOwnPort(port uint16) bool {
	return port == p.port || p.cache.tunnelPort(bits.ReverseBytes16(port))
}

// Store remembers the shape of b, of which packet.Parse said l, and Find Sound and i.
func (p *Locator) Store(b []byte, l *packet.Layers, i *Info) {
	if p.shapes.n == len(p.shapes.kept) {
		if p.shapes.missed++; p.shapes.missed%storeInterval != 0 {
			return
		}
	}
	var s shape
	if !s.store(p, b, l, i) {
		return
	}
	at := p.shapes.next
	p.shapes.kept[at] = s
	p.shapes.last, p.shapes.next, p.shapes.n = at, (at+1)%len(p.shapes.kept), max(p.shapes.n, at+1)
}

// store tells whether s can be made.
func (s *shape) store(p *Locator, b []byte, l *packet.Layers, i *Info) bool {
	to := int(i.Shim) + shimLen + mdLen
	switch {
	case i.Marking > ByProbeMarker, i.Type != MD, i.Format != Format2, i.Depth != 0,
		i.Marking == ByPort && i.NPT == 1 && l.L3 == packet.EthernetLen && l.L4 == udpv4Shim-8 && l.IPVersion == 4, // Template serves these
		l.Fragment != packet.NotFragment, int(l.L3) != packet.EthernetLen+4*int(l.VLANs), to > shapeBytes,
		i.NPT == 1 && i.Orig == p.port, i.Marking != ByPort && l.Proto == packet.ProtoUDP && p.hasOwnPort(l.DstPort),
		int(i.End) != int(i.Shim)+shimLen+4*(int(b[i.Shim+1])-p.counted): // followed by another shim
		return false
	}
	if l.IPVersion == 6 && l.L4 != l.L3+packet.IPv6Len {
		return false // extension headers
	}
	words := (to + 7) / 8
	if s.need = max(words*8, int(i.End), int(l.Payload), int(l.L4)+packet.TCPLen); s.need > len(b) {
		return false
	}
	s.layers, s.info = *l, *i
	p.Classify(&s.info)
	var mask [shapeBytes]byte
	for k := range to {
		mask[k] = 0xff
	}
	clear(mask[:12])
	for tag := range int(l.VLANs) {
		clear(mask[packet.EthernetLen+4*tag:][:2])
	}
	s.maskIP(p, mask[l.L3:], l)
	s.maskL4(mask[l.L4:], l, i)
	if i.NPT == 1 {
		clear(mask[i.Shim+2:][:2])
	}
	mask[i.Shim+shimLen+3] = 0 // Remaining Hop Count
	for at := 0; at < to; at += 8 {
		if m := binary.LittleEndian.Uint64(mask[at:]); m != 0 {
			s.checks[s.nChecks] = masked{want: binary.LittleEndian.Uint64(b[at:]), mask: m, at: at}
			s.nChecks++
		}
	}
	return true
}

const ecn = 3 // bits of the TOS byte that are not DSCP (RFC 3168)

// maskIP frees what may differ in an IP header. A DSCP may not where it can mark INT.
func (s *shape) maskIP(p *Locator, m []byte, l *packet.Layers) {
	if l.IPVersion == 4 {
		m[1] = 0
		if p.byDSCP {
			m[1] = 0xff &^ ecn
		}
		clear(m[2:6])           // total length, identification
		m[6], m[7] = 0x3f, 0xff // all of flags and offset that makes a fragment
		clear(m[8:9])           // TTL
		clear(m[10:20])         // checksum, addresses
		return
	}
	m[0], m[1] = 0xf0, 0 // version, traffic class
	if p.byDSCP {
		m[0], m[1] = 0xff, 0xc0
	}
	clear(m[2:6])  // flow label, payload length
	clear(m[7:40]) // hop limit, addresses
}

// maskL4 frees what may differ in a TCP or UDP header.
func (s *shape) maskL4(m []byte, l *packet.Layers, i *Info) {
	clear(m[:2])
	if i.Marking == ByDSCP {
		clear(m[2:4])
	}
	if l.Proto == packet.ProtoUDP {
		clear(m[4:8]) // length, checksum
		return
	}
	clear(m[4:12])             // sequence and acknowledgment numbers
	m[12] = 0xf0               // data offset
	clear(m[13:packet.TCPLen]) // flags, window, checksum, urgent pointer
	if start := int(i.Start) - int(l.L4); start > packet.TCPLen {
		clear(m[packet.TCPLen:start]) // options
	}
}
