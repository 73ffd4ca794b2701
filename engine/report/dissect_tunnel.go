package report

import "encoding/binary"

// Where tunnels carry INT. The flow of a tunnelled packet is the tunnel's.
const (
	greProtocolINT   = 34998 // not assigned: what intsink's examples use
	vxlanGPEPort     = 4790
	nextProtocolINT  = 0x82
	genevePort       = 6081
	geneveOptionINT  = 0x0103
	geneveHeaderSize = 4 // of one option
)

// tunnel reads INT behind a UDP header of a tunnel; nil where there is none.
func (x *dissector) tunnel(port uint16) *Stack {
	before := x.rest
	var s *Stack
	switch port {
	case vxlanGPEPort:
		s = x.vxlanGPE()
	case genevePort:
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
	if b == nil || b[0]&0x04 == 0 { // P: there is a next protocol
		return nil
	}
	return x.chain(b[3] == nextProtocolINT, func(shim []byte) bool { return shim[3] == nextProtocolINT })
}

// chain reads shims as long as the protocol in front of them says INT.
func (x *dissector) chain(more bool, after func(shim []byte) bool) *Stack {
	var first *Stack
	next := &first
	for n := 0; more && n < maxNested; n++ {
		shim := x.take(shimLen)
		if shim == nil {
			break
		}
		s := x.body(shim[0]>>4, shim[1])
		if s == nil {
			break
		}
		*next, next = s, &s.Next
		more = after(shim)
	}
	return first
}

// geneve reads INT from the options (INT 2.1, section "INT over Geneve"): the
// option's type is that of the INT header.
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
		if binary.BigEndian.Uint16(h) != geneveOptionINT {
			continue
		}
		if s := x.body(h[2], words); s != nil {
			*next, next = s, &s.Next
		}
	}
	return first
}

// gre reads shims behind a GRE header (INT 2.1, section "INT over IPv4/GRE").
func (x *dissector) gre() *Stack {
	const checksum, routing, key, sequence = 0x80, 0x40, 0x20, 0x10
	b := x.take(4)
	if b == nil || b[0]&routing != 0 || b[1]&0x07 != 0 {
		return nil
	}
	for _, optional := range [...]byte{checksum, key, sequence} {
		if b[0]&optional != 0 && x.take(4) == nil {
			return nil
		}
	}
	return x.chain(binary.BigEndian.Uint16(b[2:]) == greProtocolINT, func(shim []byte) bool {
		return binary.BigEndian.Uint16(shim[2:]) == greProtocolINT
	})
}
