// Inserts INT as Geneve options.

package intgen

import "encoding/binary"

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

// options are the Geneve options: Option Class 16b, Type 8b, R 3b, Length 5b without
// these four bytes.
func (s *Source) options(hs []header) (b []byte) {
	for i := range hs {
		head := uint32(s.geneveClass())<<16 | uint32(hs[i].typ)<<8 | uint32(hs[i].words())
		b = append(binary.BigEndian.AppendUint32(b, head), hs[i].body...)
	}
	return b
}
