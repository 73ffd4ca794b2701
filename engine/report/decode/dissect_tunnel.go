// Dissects tunnels in a reported packet, and INT in GRE, VXLAN-GPE and Geneve, whose headers it
// reads and checks itself.

package decode

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// Where tunnels carry INT. The flow of a tunnelled packet is the tunnel's.
const (
	nextProtocol1    = 0x08 // INT 1.0, section 4.6.2
	nextProtocol2016 = 0x05 // June 2016, section 5.3.2
	geneveHeaderSize = 4    // of one option

	defaultGREProtocol = 34998 // not assigned: what intsink's examples use
)

var (
	defaultVXLANGPE = inthdr.VXLANGPE{Port: packet.PortVXLANGPE, NextProtocol: 0x82}
	defaultGeneve   = inthdr.Geneve{Port: packet.PortGeneve, OptionClass: 0x0103}
)

func (d *Decoder) greProtocol() uint16 {
	if d.GREProtocol != nil {
		return *d.GREProtocol
	}
	return defaultGREProtocol
}

func (d *Decoder) gpe() inthdr.VXLANGPE {
	if d.VXLANGPE != nil {
		return *d.VXLANGPE
	}
	return defaultVXLANGPE
}

func (d *Decoder) geneveMark() inthdr.Geneve {
	if d.Geneve != nil {
		return *d.Geneve
	}
	return defaultGeneve
}

// tunnel reads INT behind a UDP header of a tunnel; nil where there is none.
func (x *dissector) tunnel(port uint16) *Stack {
	before := x.rest
	var s *Stack
	switch port {
	case x.gpe().Port:
		s = x.vxlanGPE()
	case x.geneveMark().Port:
		s = x.geneve()
	}
	if s == nil {
		x.rest = before
	}
	return s
}

// vxlanGPE reads shims chained by their next protocol (INT 2.1, section "INT over
// VXLAN GPE").
func (x *dissector) vxlanGPE() *Stack {
	b := x.take(8)
	if b == nil || b[0]&packet.VXLANHasNextProtocol == 0 { // P: there is a next protocol
		return nil
	}
	named := b[3]
	return x.chain(x.isNextINT(named), func(shim []byte) tunnelShim {
		h := tunnelShim{kind: shim[0] >> 4, words: x.words(shim), length: shim[1], allowed: x.namedBy(named, false)}
		if (shim[0] == 1 || shim[0] == 2) && shim[1] == 0 && shim[2] > 0 { // INT 1.0, section 4.6.2: 8 bits of type, a length that counts the shim
			h = tunnelShim{kind: shim[0], words: shim[2] - 1, length: shim[2], allowed: x.namedBy(named, true)}
		}
		named = shim[3]
		h.more = x.isNextINT(named)
		return h
	})
}

// namedBy returns the versions of INT that a next protocol of VXLAN-GPE can name in front of a shim of 2.x or, where
// old is set, of those before. The one that is configured names what the sink's list of versions has, which is not
// known here: any.
func (x *dissector) namedBy(next uint8, old bool) versions {
	configured := next == x.gpe().NextProtocol
	switch {
	case !old && configured:
		return only2
	case !old:
		return 0
	case configured:
		return only1 | only2016
	case next == nextProtocol1:
		return only1
	}
	return only2016
}

// isNextINT: INT 1.0 and June 2016 have next protocols of their own.
func (x *dissector) isNextINT(next uint8) bool {
	return next == x.gpe().NextProtocol || next == nextProtocol1 || next == nextProtocol2016
}

// tunnelShim is a shim of GRE or VXLAN-GPE.
type tunnelShim struct {
	kind    uint8
	words   uint8 // behind it
	length  uint8 // Length, as on the wire
	allowed versions
	more    bool // INT again is the next protocol
}

// chain reads shims as long as the protocol in front of them says INT.
func (x *dissector) chain(more bool, read func(shim []byte) tunnelShim) *Stack {
	var first *Stack
	next := &first
	for n := 0; more && n < maxNested; n++ {
		b := x.take(shimLen)
		if b == nil {
			break
		}
		shim := read(b)
		s := x.bodyInTunnel(shim.kind, shim.words, shim.allowed)
		if s == nil {
			break
		}
		s.ShimLength = shim.length
		*next, next = s, &s.Next
		more = shim.more
	}
	return first
}

// geneve reads INT from the options (INT 2.1, section "INT over Geneve"), whose option type is the
// type of the INT header.
func (x *dissector) geneve() *Stack {
	b := x.take(8)
	if b == nil || b[0]>>6 != 0 {
		return nil
	}
	end := int(b[0]&0x3f) * 4 // of the options, from here
	options := x.rest[:min(end, len(x.rest))]
	var first *Stack
	next := &first
	for len(options) >= geneveHeaderSize {
		h := options[:geneveHeaderSize]
		words := h[3] & 0x1f
		x.rest = options[geneveHeaderSize:]
		options = x.rest[min(int(words)*4, len(x.rest)):]
		if binary.BigEndian.Uint16(h) != x.geneveMark().OptionClass {
			continue
		}
		if s := x.bodyInTunnel(h[2], words, anyVersion); s != nil {
			*next, next = s, &s.Next
		}
	}
	return first
}

// gre reads shims behind a GRE header (INT 2.1, section "INT over IPv4/GRE").
func (x *dissector) gre() *Stack {
	t, ok := packet.OpenGRE(x.rest)
	if !ok || x.take(t.HeaderLen) == nil {
		return nil
	}
	protocol := t.EtherType
	if protocol != x.greProtocol() {
		return x.inside(protocol)
	}
	return x.chain(true, func(shim []byte) tunnelShim {
		more := binary.BigEndian.Uint16(shim[2:]) == x.greProtocol()
		return tunnelShim{kind: shim[0] >> 4, words: x.words(shim), length: shim[1], allowed: only2, more: more}
	})
}

// inside reads the INT of the packet in a tunnel. The flow stays the tunnel's.
func (x *dissector) inside(ether uint16) *Stack {
	y := dissector{Decoder: x.Decoder, rest: x.rest, depth: x.depth}
	s := y.packet(ether)
	x.rest = y.rest
	return s
}

// insideUDP is inside for the tunnels over UDP.
func (x *dissector) insideUDP(port uint16) *Stack {
	ports := packet.TunnelPorts{GPE: x.gpe().Port, Geneve: x.geneveMark().Port}
	t, ok := ports.OpenUDP(x.rest, port)
	if !ok || x.take(t.HeaderLen) == nil {
		return nil
	}
	return x.inside(t.EtherType)
}

// labels steps over a label stack (RFC 3032); IP behind it tells its version.
func (x *dissector) labels() (etherType uint16, ok bool) {
	for range maxNested {
		b := x.take(4)
		if b == nil {
			return 0, false
		}
		if b[2]&1 == 0 {
			continue
		}
		if len(x.rest) > 0 && x.rest[0]>>4 == 6 {
			return packet.EtherTypeIPv6, true
		}
		return packet.EtherTypeIPv4, true
	}
	return 0, false
}
