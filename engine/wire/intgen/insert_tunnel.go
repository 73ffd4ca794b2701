// Inserts INT in tunnels, as Insert asks: behind GRE (an existing header or a new tunnel),
// as Geneve options, behind VXLAN-GPE with its shims and next protocols.

package intgen

import (
	"encoding/binary"
)

// GRE is IP protocol 47.
const GRE = 47

// Flags of a GRE header (RFC 2784, RFC 2890; the others are of RFC 1701).
const (
	greC, greR, greK, greS = 0x8000, 0x4000, 0x2000, 0x1000
	greVersion             = 7
)

// greHeader is a GRE header to be written.
type greHeader struct {
	protocol                uint16
	checksum, key, sequence bool
}

func (h *greHeader) append(b []byte) []byte {
	flags := bit(h.checksum, 15) | bit(h.key, 13) | bit(h.sequence, 12)
	b = binary.BigEndian.AppendUint32(b, flags<<16|uint32(h.protocol))
	if h.checksum {
		b = append(b, 0, 0, 0, 0)
	}
	if h.key {
		b = binary.BigEndian.AppendUint32(b, 0x00006b79)
	}
	if h.sequence {
		b = binary.BigEndian.AppendUint32(b, 0x00000007)
	}
	return b
}

// finish computes the checksum of b, which is all that the header is in front of
// (RFC 2784, section 2.3).
func (h *greHeader) finish(b []byte) {
	if h.checksum {
		binary.BigEndian.PutUint16(b[4:], ^fold(sum(0, b)))
	}
}

// intoGRE puts INT behind the GRE header of the original (INT 2.1, section "INT over
// IPv4/GRE", G = 0).
func (s *Source) intoGRE(frame []byte, p *place, hs []header) ([]byte, error) {
	if p.proto != GRE || p.l4+4 > p.end {
		return nil, ErrProto
	}
	flags := binary.BigEndian.Uint16(frame[p.l4:])
	at := p.l4 + 4
	for _, flag := range [...]uint16{greC, greK, greS} {
		if flags&flag != 0 {
			at += 4
		}
	}
	if flags&(greR|greVersion) != 0 || at > p.end {
		return nil, ErrProto
	}
	block := s.shimsGRE(hs, binary.BigEndian.Uint16(frame[p.l4+2:]))
	out, err := splice(frame, p, at, block)
	if err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint16(out[p.l4+2:], s.greProtocol())
	repairIP(frame, out, p, len(block))
	if flags&greC != 0 {
		patch(out[p.l4+4:], change(frame[p.l4:at], out[p.l4:at])+sum(0, block))
	}
	return out, nil
}

// newGRE puts IP, GRE and INT between the Ethernet header and what it carries
// (G = 1).
func (s *Source) newGRE(frame []byte, p *place, hs []header) ([]byte, error) {
	etherType := binary.BigEndian.Uint16(frame[p.l3-2:])
	return s.outerGRE(frame[:p.l3-2], hs, etherType, frame[p.l3:p.end], frame[p.end:])
}

// bridgeGRE puts Ethernet, IP, GRE and INT in front of the whole frame (G = 1). The new headers
// have the addresses of the original.
func (s *Source) bridgeGRE(frame []byte, hs []header) ([]byte, error) {
	if len(frame) < 14 {
		return nil, ErrNotIP
	}
	link := append([]byte(nil), frame[:12]...)
	if s.OuterVLAN != 0 {
		link = appendTags(link, s.OuterVLAN)
	}
	return s.outerGRE(link, hs, etherTEB, frame, nil)
}

// outerGRE builds a frame: link header without EtherType, IP, GRE, INT, inner
// packet, trailer.
func (s *Source) outerGRE(link []byte, hs []header, protocol uint16, inner, trailer []byte) ([]byte, error) {
	if !s.OuterSrc.IsValid() || s.OuterSrc.Is4() != s.OuterDst.Is4() {
		return nil, ErrFormat
	}
	h := greHeader{s.greProtocol(), s.GREChecksum, s.GREKey, s.GRESequence}
	gre := append(append(h.append(nil), s.shimsGRE(hs, protocol)...), inner...)
	h.finish(gre)
	ip := ipHeader{src: s.OuterSrc, dst: s.OuterDst, proto: GRE}
	if len(gre)+20 > 65535 {
		return nil, ErrLength
	}
	out := binary.BigEndian.AppendUint16(append([]byte(nil), link...), ip.etherType())
	return append(append(ip.append(out, len(gre)), gre...), trailer...), nil
}

// shimsGRE returns the shims and what they hold: Type 4b, G 1b, Rsvd 3b, Length 8b, Next Protocol
// 16b.
func (s *Source) shimsGRE(hs []header, protocol uint16) (b []byte) {
	for i := range hs {
		next := protocol
		if i < len(hs)-1 {
			next = s.greProtocol()
		}
		shim := uint32(hs[i].typ)<<28 | bit(s.GREInserted, 27) | uint32(hs[i].words())<<16 | uint32(next)
		b = append(binary.BigEndian.AppendUint32(b, shim), hs[i].body...)
	}
	return b
}

// maxGeneveWords is what six bits of Opt Len can say (RFC 8926, section 3.4).
const maxGeneveWords = 63

// intoGeneve adds INT as options (INT 2.1, section "INT over Geneve").
func (s *Source) intoGeneve(frame []byte, p *place, hs []header) ([]byte, error) {
	gnv := p.payload
	if p.proto != UDP || gnv == 0 || gnv+8 > p.end || binary.BigEndian.Uint16(frame[p.l4+2:]) != s.genevePort() {
		return nil, ErrProto
	}
	words := int(frame[gnv] & 0x3f)
	at := gnv + 8
	if s.GeneveLast {
		at += words * 4
	}
	if frame[gnv]>>6 != 0 || gnv+8+words*4 > p.end {
		return nil, ErrProto
	}
	block := s.options(hs)
	words += len(block) / 4
	if words > maxGeneveWords {
		return nil, ErrLength
	}
	out, err := splice(frame, p, at, block)
	if err != nil {
		return nil, err
	}
	out[gnv] = uint8(words)
	repairIP(frame, out, p, len(block))
	repairL4(frame, out, p, at, block)
	return out, nil
}

// options returns the Geneve options: Option Class 16b, Type 8b, R 3b, Length 5b without these four
// bytes.
func (s *Source) options(hs []header) (b []byte) {
	for i := range hs {
		head := uint32(s.geneveClass())<<16 | uint32(hs[i].typ)<<8 | uint32(hs[i].words())
		b = append(binary.BigEndian.AppendUint32(b, head), hs[i].body...)
	}
	return b
}

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

// shimsGPE returns the shims and what they hold: Type 4b, Rsvd 4b, Length 8b, G 1b, Reserved 7b,
// Next Protocol 8b. Before 2.0: Type 8b, Reserved 8b, Length 8b with the shim in it, Next Protocol
// 8b (INT 1.0, section 4.6.2; 2016, section 5.3.2).
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
