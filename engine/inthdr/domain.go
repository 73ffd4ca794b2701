// Role and Domain: where a domain's instructions put values, in each hop or in source-only metadata
// behind the stack; finds a packet's sequence number and device id.

package inthdr

// Role says what the value of a domain's instruction is for.
type Role uint8

const (
	Opaque   Role = iota
	DeviceID      // of the node that adds it
	Sequence      // numbers a flow's packets, one more with each
)

// Sequence returns the number that a domain's instruction with that role gave the
// packet, and how many bits it has; 0 bits: none. Of a number that each hop adds,
// it is the oldest hop's: the source's.
func (p *Locator) Sequence(b []byte, i *Info) (number uint64, bits uint8) {
	if i.DSInstruction == 0 || i.DomainID == 0 || i.Reason != ReasonNone {
		return 0, 0
	}
	for d := range p.domains {
		if p.domains[d].ID == i.DomainID {
			at, length := p.domains[d].place(p, i, Sequence)
			return number64(b[at : at+length])
		}
	}
	return 0, 0
}

// Place is where the value of the domain's instruction with that role stands in the
// packet; length 0: there is none. Of a value that each hop adds, it is the oldest hop's.
func (p *Locator) Place(i *Info, role Role) (at, length int) {
	if i.DSInstruction == 0 || i.DomainID == 0 || i.Reason != ReasonNone {
		return 0, 0
	}
	for d := range p.domains {
		if p.domains[d].ID == i.DomainID {
			return p.domains[d].place(p, i, role)
		}
	}
	return 0, 0
}

func (d *Domain) place(p *Locator, i *Info, role Role) (at, length int) {
	perHop, source := 0, 0 // bytes in front of the instruction at hand
	for bit := range d.Bits {
		in := &d.Bits[bit]
		if i.DSInstruction&(1<<(15-bit)) == 0 || in.Length == 0 {
			continue
		}
		if in.Role == role {
			at = int(i.Stack) + int(i.StackLen) + source
			if !in.SourceOnly {
				at = int(i.Stack) + int(i.StackLen) - int(i.HopLen) + int(p.Layout(i).HopLen) + perHop
			}
			if in.SourceOnly && i.SourceLen == 0 || !in.SourceOnly && i.StackLen == 0 {
				return 0, 0
			}
			return at, int(in.Length)
		}
		if in.SourceOnly {
			source += int(in.Length)
		} else {
			perHop += int(in.Length)
		}
	}
	return 0, 0
}

// number64 is the number in b, of a longer one the last 64 bits.
func number64(b []byte) (number uint64, bits uint8) {
	for _, v := range b {
		number = number<<8 | uint64(v)
	}
	return number, uint8(min(len(b)*8, 64))
}
