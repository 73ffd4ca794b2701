// Fill: what the parser would find in a packet that has a template; Info, Outermost: what all
// packets of a template have in common.

package fast

import (
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// learned is what the parser found in the packet that a template was made of.
type learned struct {
	shape   int // its shape, or none
	variant int // of shape, where its chain begins
	layers  packet.Layers
	info    inthdr.Info
	outers  inthdr.Outers
}

// Fill makes l, i and o what the parser would find in packet f of template at.
func (p *Path) Fill(at uint8, f []byte, pktLen int, l *packet.Layers, i *inthdr.Info, o *inthdr.Outers) {
	k, t := &p.learned[at%maxTemplates], &p.templates[at%maxTemplates]
	*l, *i = k.layers, k.info
	l.Refresh(f, pktLen)
	for d := range min(int(i.Depth), len(o)) {
		o[d] = k.outers[d]
		o[d].Refresh(f, pktLen)
	}
	i.Size = uint16(pktLen) - i.Removed
	if i.Marking != inthdr.ByIFA {
		i.RemainingHops = f[i.Shim+inthdr.ShimLen+3]
	}
	if i.Format == inthdr.Format2016 { // Total Hop Count, which is the same in all, of Max Hop Count
		i.RemainingHops = f[i.Shim+inthdr.ShimLen+2] - i.RemainingHops
	}
	if t.portMask != 0 {
		i.Orig = uint16(f[t.portFrom])<<8 | uint16(f[t.portFrom+1])
	}
	if i.Marking != inthdr.ByDSCP {
		i.DSCP = l.DSCP
	}
	i.Common = i.Common && f[t.flagsAt]&t.flagsMask == 0
}

// Info is what all packets of a template have in common.
func (p *Path) Info(at uint8) *inthdr.Info { return &p.learned[at%maxTemplates].info }

// IsMarked tells whether a queue has marked packets of a template (ECN: CE).
func (p *Path) IsMarked(at uint8) bool { return p.templates[at%maxTemplates].marked != 0 }

// Outermost is the IP header of packets of a template that comes first.
func (p *Path) Outermost(at uint8) *packet.Layers {
	k := &p.learned[at%maxTemplates]
	if k.info.Depth > 0 {
		return &k.outers[0]
	}
	return &k.layers
}
