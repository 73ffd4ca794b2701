package engine

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// originalHeaders say what stands behind the L3 headers of a packet without INT.
type originalHeaders struct {
	proto    uint8
	port     uint16        // UDP destination port
	at       int           // what UDP carries; other protocols: their header. 0: nothing
	end      int           // of the packet
	inside   int           // a tunnel whose header INT stands behind: the packet inside; else 0
	next     uint16        // and its protocol, as Info.Next has it
	inserted bool          // the flow is inside of a tunnel that goes away with INT:
	layers   packet.Layers // those of the flow
}

// read finds what the flow's packet is without INT.
func (h *originalHeaders) read(f []byte, l *packet.Layers, info *inthdr.Info) {
	*h = originalHeaders{proto: l.Proto, port: l.DstPort, at: int(info.End), end: int(l.End)}
	switch {
	case info.Marking == inthdr.ByGRE && info.Inserted:
		h.at = 0
		in := &h.layers
		if packet.ParseInner(f, int(info.End), h.end, info.Next, in) == packet.OK {
			h.inserted = true
			h.proto, h.port, h.at, h.end = in.Proto, in.DstPort, int(in.L4), int(in.End)
			if in.Proto == packet.ProtoUDP {
				h.at = int(in.Payload)
			}
		}
	case info.Marking == inthdr.ByGRE:
		h.at, h.inside, h.next = int(l.L4), int(info.End), info.Next
	case info.Marking == inthdr.ByVXLANGPE:
		h.at, h.inside, h.next = int(l.Payload), int(info.End), info.Next
		if info.Inserted {
			h.port = packet.PortVXLAN
		}
	case info.Marking == inthdr.ByGeneve:
		h.at = int(l.Payload)
	case info.NPT == 1:
		h.proto, h.port = packet.ProtoUDP, info.Orig
	case info.NPT == 2:
		if h.proto = uint8(info.Orig); h.proto == packet.ProtoUDP {
			_, h.port = innerPorts(f, l, info)
			h.at += 8
		}
	}
}

// inside is where the packet in a tunnel stands; at is 0 where there is none.
type inside struct {
	at        int
	etherType uint16
}

// tunnelPorts are the UDP ports of tunnels, besides VXLAN's.
type tunnelPorts struct{ gpe, geneve uint16 }

// Ports of tunnels where the configuration names no others.
const (
	defaultGPEPort    = 4790
	defaultGenevePort = 6081
)

func tunnelPortsOf(c *inthdr.Config) tunnelPorts {
	p := tunnelPorts{gpe: defaultGPEPort, geneve: defaultGenevePort}
	if c.VXLANGPE != nil {
		p.gpe = c.VXLANGPE.Port
	}
	if c.Geneve != nil {
		p.geneve = c.Geneve.Port
	}
	return p
}

func (p *tunnelPorts) has(port uint16) bool {
	return port == packet.PortVXLAN || port == p.gpe || port == p.geneve
}

// open reads the tunnel's header behind h. It sets the VNI in facts unless there is
// one already.
func (p *tunnelPorts) open(f []byte, h *originalHeaders, facts *facts) inside {
	limit := min(len(f), h.end)
	if h.at == 0 || h.at >= limit {
		return inside{}
	}
	switch h.proto {
	case packet.ProtoIPv4:
		return inside{h.at, packet.InIPv4}
	case packet.ProtoIPv6:
		return inside{h.at, packet.InIPv6}
	case packet.ProtoGRE:
		if h.inside != 0 {
			return inside{h.inside, h.next}
		}
		return insideGRE(f[h.at:limit], h.at)
	case packet.ProtoUDP:
		if h.at+8 <= limit {
			return p.insideUDP(f[h.at:][:8], h, facts)
		}
	}
	return inside{}
}

// insideGRE reads the GRE header b (RFC 2784, RFC 2890), which stands at offset at.
func insideGRE(b []byte, at int) inside {
	if len(b) < 4 {
		return inside{}
	}
	flags := binary.BigEndian.Uint16(b)
	if flags&0x4007 != 0 { // routing, or another version
		return inside{}
	}
	n := 4
	for _, field := range [3]uint16{0x8000, 0x2000, 0x1000} { // checksum, key, sequence
		if flags&field != 0 {
			n += 4
		}
	}
	return inside{at + n, binary.BigEndian.Uint16(b[2:])}
}

// insideUDP reads the header b of VXLAN (RFC 7348), VXLAN-GPE or Geneve (RFC 8926).
func (p *tunnelPorts) insideUDP(b []byte, h *originalHeaders, facts *facts) (in inside) {
	hasVNI := b[0]&0x08 != 0 // VXLAN: I
	in.at = h.at + 8
	if h.inside != 0 {
		in.at = h.inside
	}
	switch h.port {
	case packet.PortVXLAN:
		in.etherType = packet.InEthernet
	case p.gpe:
		next := uint16(b[3])
		if h.inside != 0 {
			next = h.next
		}
		in.etherType = packet.InEthernet
		switch {
		case b[0]&0x04 == 0, next == 3: // P: there is a next protocol
		case next == 1:
			in.etherType = packet.InIPv4
		case next == 2:
			in.etherType = packet.InIPv6
		default:
			in.at = 0
		}
	case p.geneve:
		if b[0]>>6 != 0 {
			return inside{}
		}
		hasVNI = true
		in.at += int(b[0]&0x3f) * 4
		in.etherType = binary.BigEndian.Uint16(b[2:])
	default:
		return inside{}
	}
	if hasVNI && !facts.hasVNI {
		facts.hasVNI, facts.vni = true, binary.BigEndian.Uint32(b[4:])>>8
	}
	return in
}
