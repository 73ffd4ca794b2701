// Role and Domain: where and how long a domain's values are, in each hop or as source-only
// metadata behind the stack; finds a packet's sequence number, device id and TTL.

package inthdr

// Role says what the value of a domain's instruction is for.
type Role uint8

const (
	Opaque   Role = iota
	DeviceID      // of the node that adds it
	Sequence      // numbers a flow's packets, one more with each
	TTL           // of the IP header when the source got the packet
)

// Sequence returns the number that a domain's instruction with that role gave the
// packet, and how many bits it has; 0 bits: none. Of a number that each hop adds,
// it is the oldest hop's: the source's.
func (p *Locator) Sequence(b []byte, i *Info) (number uint64, bits uint8) {
	if i.DSInstruction == 0 || i.DomainID == 0 || i.Reason != ReasonNone {
		if i.Format.Foreign() {
			return p.numberOf(b, i)
		}
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

// IPHops returns by how much the TTL (IPv6: hop limit) of the IP header at l3 has gone down since the source wrote it
// into a domain's metadata; false where it did not, and where the two cannot be compared.
func (p *Locator) IPHops(b []byte, l3 int, i *Info) (hops uint8, known bool) {
	at, length := p.Place(i, TTL)
	if length == 0 && !i.Format.Foreign() || i.Depth > 0 || i.Marking == ByGRE && i.Inserted {
		return 0, false // another header counts the hops: that of the tunnel, or of the source
	}
	now := b[l3+8]
	if b[l3]>>4 == 6 {
		now = b[l3+7]
	}
	source, _ := number64(b[at : at+length])
	if i.Format.Foreign() {
		first, told := p.hopLimitOf(b, i)
		if source = uint64(first); !told {
			return 0, false
		}
	}
	if source > 255 || source < uint64(now) {
		return 0, false
	}
	return uint8(source) - now, true
}

// Place returns where the value of the domain's instruction with that role stands in the packet;
// length 0: there is none. Of a value that each hop adds, it is the oldest hop's.
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
				if i.Bitmap&BitChecksumComplement != 0 {
					at -= 4 // it stands behind the domain's
				}
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

// number64 returns the number in b, of a longer one the last 64 bits.
func number64(b []byte) (number uint64, bits uint8) {
	for _, v := range b {
		number = number<<8 | uint64(v)
	}
	return number, uint8(min(len(b)*8, 64))
}

// sourceInserted checks the metadata behind an MX header (INT 2.1, section
// "INT-MX Header Format").
func (p *Locator) sourceInserted(i *Info, n int) Reason {
	_, source, known := p.domainLengths(i)
	switch {
	case !known:
		return ReasonUnknownDomain
	case n == 0:
		return ReasonNone
	case n != source:
		return ReasonStack
	}
	i.SourceLen = uint16(n)
	return ReasonNone
}

// MaxSourceLen bounds Info.SourceLen: what the longest shim leaves.
const MaxSourceLen = 255*4 - MDLen

// SourceBits returns the bits of DS Instruction that the source-inserted metadata of i belongs to.
func (p *Locator) SourceBits(i *Info) (bits uint16) {
	for d := range p.domains {
		if p.domains[d].ID != i.DomainID {
			continue
		}
		for bit, in := range p.domains[d].Bits {
			if in.SourceOnly && in.Length > 0 {
				bits |= 1 << (15 - bit)
			}
		}
	}
	return bits & i.DSInstruction
}

// domainLengths returns the bytes that DS Instruction asks of each hop, and of
// the source alone; known is false where its metadata cannot be divided. Domain 0 has no instructions: its bits are reserved.
func (p *Locator) domainLengths(i *Info) (perHop, source int, known bool) {
	if i.DomainID == 0 || i.DSInstruction == 0 {
		return 0, 0, true
	}
	for d := range p.domains {
		if p.domains[d].ID != i.DomainID {
			continue
		}
		for bit, in := range p.domains[d].Bits {
			switch {
			case i.DSInstruction&(1<<(15-bit)) == 0:
			case in.Length == 0: // the configuration gives no length
				return 0, 0, false
			case in.SourceOnly:
				source += int(in.Length)
			default:
				perHop += int(in.Length)
			}
		}
		return perHop, source, true
	}
	return 0, 0, false
}
