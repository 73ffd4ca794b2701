// Divides the INT stack of a reported packet into hops by its bitmap, with domain specific metadata
// in hops and behind the stack.

package decode

import (
	"fmt"

	"intsink/engine/report"
)

// contents reads what follows the header: b is as much as is there of size
// bytes.
func (s *Stack) contents(d *Decoder, b []byte, size int) {
	if s.HopML == nil { // MX
		s.Source = clone(b)
		return
	}
	hop := int(*s.HopML) * 4
	source, problem := s.sourceOnly(d, size, hop)
	if problem != "" {
		s.Problem, s.Source = problem, clone(b)
		return
	}
	stack := size - source
	s.hops(&hopBits, *s.InstructionBitmap, b[:min(stack, len(b))], hop)
	if len(b) > stack {
		s.Source = clone(b[stack:])
	}
}

// sourceOnly returns how many of the stack's size bytes only the source added, or why that cannot
// be told: as many as the domain says or, of a domain that is not known, what whole hops leave
// over.
func (s *Stack) sourceOnly(d *Decoder, size, hop int) (source int, problem string) {
	perHop, source, known := d.domainLengths(*s.DomainSpecificID, *s.DSInstruction)
	need := hopBits.size(*s.InstructionBitmap) + perHop
	switch {
	case size == 0:
		return 0, ""
	case hop == 0 && (!known || size != source):
		return 0, "Hop ML is 0, the stack is not empty"
	case hop < need && size > source:
		return 0, fmt.Sprintf("the instructions ask for %d words a hop, Hop ML is %d", need/4, hop/4)
	case !known:
		return size % hop, ""
	case size == source:
		return source, ""
	case hop != need:
		return 0, fmt.Sprintf("the instructions ask for %d words a hop, Hop ML is %d", need/4, hop/4)
	case size > source && (size-source)%hop == 0:
		return source, ""
	case size%hop == 0: // asked for, and not added by the source
		return 0, ""
	}
	return 0, fmt.Sprintf("a stack of %d words is not whole hops of %d", size/4, hop/4)
}

// domainLengths returns the bytes that DS Instruction asks of each hop, and of the source alone;
// not known for a domain that nobody described.
func (d *Decoder) domainLengths(id, instruction uint16) (perHop, source int, known bool) {
	if id == 0 || instruction == 0 { // INT 2.1: domain 0 has no instructions
		return 0, 0, true
	}
	for i := range d.Domains {
		if d.Domains[i].ID != id {
			continue
		}
		for bit, in := range d.Domains[i].Bits {
			switch {
			case instruction&(0x8000>>bit) == 0:
			case in.SourceOnly:
				source += int(in.Length)
			default:
				perHop += int(in.Length)
			}
		}
		return perHop, source, true
	}
	if id == report.TransparentSecurityID && instruction == 0x8000 { // the device's address and two bytes of padding
		return 0, 8, true
	}
	return 0, 0, false
}

// hops divides b into hops; the instructions ask for no more than hop bytes. Domain
// specific metadata stands behind the baseline, in front of the checksum complement.
func (s *Stack) hops(m *bitmap, asked uint16, b []byte, hop int) {
	const complement = 1
	for ; hop > 0 && len(b) >= hop; b = b[hop:] {
		v, n := m.read(asked&^complement, b[:hop])
		last := hop - m.size(asked&complement)
		if asked&complement != 0 {
			v = appendParts(v, m[15], b[last:hop])
		}
		s.Hops = append(s.Hops, Hop{Values: v, DSMetadata: clone(b[n:last])})
	}
}
