// Reads the headers that a packet has without INT, for facts; opens the tunnel behind them
// for its VNI and inner packet.

package watch

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
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
	case info.Unwraps():
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
	case info.Marking.Apart():
		if h.at = int(l.L4); l.Proto == packet.ProtoUDP {
			h.at = int(l.Payload)
		}
	case info.Marking == inthdr.ByIFA:
		h.behindIFA(f, l, info)
	case info.NPT == 1:
		h.proto, h.port = packet.ProtoUDP, info.Orig
	case info.NPT == 2:
		if h.proto = uint8(info.Orig); h.proto == packet.ProtoUDP {
			if h.at+packet.UDPLen <= min(len(f), h.end) {
				h.port = binary.BigEndian.Uint16(f[h.at+2:])
			}
			h.at += packet.UDPLen
		}
	}
}

// behindIFA is read for a packet with IFA, which stands behind the L4 header or at the packet's end.
func (h *originalHeaders) behindIFA(f []byte, l *packet.Layers, info *inthdr.Info) {
	if info.Stack == info.Second { // at the end
		if h.at, h.end = int(l.L4), int(info.Second); l.Payload != 0 {
			h.at = int(l.Payload)
		}
		return
	}
	if l.Proto == packet.ProtoGRE && int(l.L4)+packet.GRELen <= len(f) {
		h.at, h.inside, h.next = int(l.L4), int(info.End), binary.BigEndian.Uint16(f[l.L4+2:])
	}
}

// inside is where the packet in a tunnel stands; at is 0 where there is none.
type inside struct {
	at        int
	etherType uint16
}

// openTunnel reads the tunnel's header behind h. It sets the VNI in facts unless there is
// one already.
func openTunnel(p *packet.TunnelPorts, f []byte, h *originalHeaders, facts *Facts) inside {
	limit := min(len(f), h.end)
	if h.at == 0 || h.at >= limit {
		return inside{}
	}
	switch h.proto {
	case packet.ProtoIPv4:
		return inside{h.at, packet.EtherTypeIPv4}
	case packet.ProtoIPv6:
		return inside{h.at, packet.EtherTypeIPv6}
	case packet.ProtoGRE:
		if h.inside != 0 {
			return inside{h.inside, h.next}
		}
		if t, ok := packet.OpenGRE(f[h.at:limit]); ok {
			return inside{h.at + t.HeaderLen, t.EtherType}
		}
	case packet.ProtoUDP:
		return openUDPTunnel(p, f[h.at:limit], h, facts)
	}
	return inside{}
}

// openUDPTunnel does as openTunnel for b, the bytes behind a UDP header. If INT follows the
// tunnel's header, the packet inside begins behind INT, and INT names its protocol.
func openUDPTunnel(p *packet.TunnelPorts, b []byte, h *originalHeaders, facts *Facts) inside {
	if len(b) < packet.VXLANLen {
		return inside{}
	}
	header := [packet.VXLANLen]byte(b)
	if h.inside != 0 {
		header[3] = uint8(h.next) // only VXLAN-GPE has INT there
	}
	t, ok := p.OpenUDP(header[:], h.port)
	if t.HasVNI && !facts.hasVNI {
		facts.hasVNI, facts.vni = true, t.VNI
	}
	switch {
	case !ok:
		return inside{}
	case h.inside != 0:
		return inside{h.inside, t.EtherType}
	}
	return inside{h.at + t.HeaderLen, t.EtherType}
}
