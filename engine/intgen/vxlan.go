// Inserts INT behind VXLAN-GPE: its shims and next protocols.

package intgen

import "encoding/binary"

// Flags of VXLAN and VXLAN-GPE, and next protocols of the latter
// (draft-ietf-nvo3-vxlan-gpe-09).
const (
	vxlanI, vxlanP                = 0x08, 0x04
	gpeIPv4, gpeIPv6, gpeEthernet = 1, 2, 3
)

// intoVXLAN puts INT behind the VXLAN header (INT 2.1, section "INT over VXLAN GPE").
func (s *Source) intoVXLAN(frame []byte, p *place, hs []header) ([]byte, error) {
	port, isGPE := s.gpePort(), uint8(vxlanP)
	if s.FromVXLAN {
		port, isGPE = portVXLAN, 0
	}
	vx := p.payload
	if p.proto != UDP || vx == 0 || vx+8 > p.end || binary.BigEndian.Uint16(frame[p.l4+2:]) != port || frame[vx]&vxlanP != isGPE {
		return nil, ErrProto
	}
	next := frame[vx+3]
	if s.FromVXLAN {
		next = gpeEthernet
	}
	block := s.shimsGPE(hs, next)
	out, err := splice(frame, p, vx+8, block)
	if err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint16(out[p.l4+2:], s.gpePort())
	out[vx] |= vxlanP
	out[vx+3] = s.gpeNextProtocol()
	repairIP(frame, out, p, len(block))
	repairL4(frame, out, p, vx+8, block)
	return out, nil
}

// shimsGPE are the shims and what they hold: Type 4b, Rsvd 4b, Length 8b, G 1b,
// Reserved 7b, Next Protocol 8b. Before 2.0: Type 8b, Reserved 8b, Length 8b with
// the shim in it, Next Protocol 8b (INT 1.0, section 4.6.2; 2016, section 5.3.2).
func (s *Source) shimsGPE(hs []header, protocol uint8) (b []byte) {
	for i := range hs {
		next := protocol
		if i < len(hs)-1 {
			next = s.gpeNextProtocol()
		}
		shim := uint32(hs[i].typ)<<28 | uint32(hs[i].words())<<16 | bit(s.FromVXLAN, 15) | uint32(next)
		if s.Format != Format2 {
			shim = uint32(hs[i].typ)<<24 | uint32(hs[i].words()+1)<<8 | uint32(next)
		}
		b = append(binary.BigEndian.AppendUint32(b, shim), hs[i].body...)
	}
	return b
}
