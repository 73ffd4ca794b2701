// Keeps templates in the State: finds or adds the shape of a draft, links the template into its
// chain, replaces the oldest.

package fast

// Where templates are kept: a few shapes, each with templates for lengths of INT. One that
// the burst at hand has packets of is never replaced.

// place finds room for a template of shape s: among those of the shape, where it is known.
// lengthAt is where the length of INT stands in f, negative where it does not count; packets of
// a rare template do not pass. Where it finds none, other templates may have made room all the same: they
// are of no shape then, and no guess may lead to them.
func (p *Path) place(s *shape, lengthAt int, f []byte, rare bool) uint8 {
	p.forgetGuesses()
	n := p.shapeLike(s)
	if n < 0 {
		if n = p.addShape(s); n < 0 {
			return None
		}
	}
	k := &p.shape[n]
	if first := k.variant[0]; lengthAt < 0 && first != None {
		return first
	}
	at := p.free()
	if at == None {
		return None
	}
	p.learned[at].shape, p.learned[at].variant = n, k.variantOf(f)
	if !p.link(k, p.learned[at].variant, at, rare) {
		p.learned[at].shape = none
		return None
	}
	return at
}

// chain is how many templates of one shape and length there may be.
const chain = 4

// link puts a template in front of the others of its shape and length, or behind them where
// its packets are rare. The last makes room where there are enough; false where the burst has
// packets of that.
func (p *Path) link(k *shape, v int, at uint8, rare bool) bool {
	last, before, n := k.variant[v], uint8(None), 0
	for i := last; i != None; i = p.templates[i].next {
		if last != i {
			before = last
		}
		last, n = i, n+1
	}
	if n >= chain {
		if p.inUse()>>last&1 != 0 {
			return false
		}
		p.learned[last].shape = none
		p.templates[before].next = None
		last = before
	}
	if rare && last != None {
		p.templates[at].next, p.templates[last].next = None, at
		return true
	}
	p.templates[at].next, k.variant[v] = k.variant[v], at
	return true
}

// none is the shape of no template.
const none = -1

// inUse are the templates of the burst at hand.
func (p *Path) inUse() (set uint64) {
	for _, at := range p.Template[:p.ints] {
		if at != None {
			set |= 1 << at
		}
	}
	return set
}

// free is a template that nothing needs, taken from its shape where it has to be made so.
func (p *Path) free() uint8 {
	for at := range p.learned {
		if p.learned[at].shape == none {
			return uint8(at)
		}
	}
	used := p.inUse()
	for range p.learned {
		p.victim = (p.victim + 1) % maxTemplates
		if used>>p.victim&1 == 0 {
			at := uint8(p.victim)
			p.unlink(at)
			return at
		}
	}
	return None
}

// unlink takes a template from its shape, which may be left with none.
func (p *Path) unlink(at uint8) {
	from := &p.shape[p.learned[at].shape].variant[p.learned[at].variant]
	p.learned[at].shape = none
	for *from != at && *from != None {
		from = &p.templates[*from].next
	}
	if *from == at {
		*from = p.templates[at].next
	}
}

// shapeLike is the shape that is as s, or -1.
func (p *Path) shapeLike(s *shape) int {
	for n := range p.shapes {
		k := &p.shape[n]
		if k.need == s.need && k.blocks == s.blocks && k.lengthAt == s.lengthAt && k.variantMask == s.variantMask && k.at == s.at && k.likeBlocks(s) {
			return int(n)
		}
	}
	return -1
}

// likeBlocks tells whether two shapes with as many blocks ask for the same.
func (s *shape) likeBlocks(o *shape) bool {
	for i := range s.block[:s.blocks] {
		if !s.block[i].like(&o.block[i]) {
			return false
		}
	}
	return true
}

// noVariants are those of a shape without templates.
var noVariants = func() (none [variants]uint8) {
	for v := range none {
		none[v] = None
	}
	return none
}()

// addShape makes s known, in place of one that nothing needs where there is no room; -1
// where there is none.
func (p *Path) addShape(s *shape) int {
	s.variant = noVariants
	if p.shapes < maxShapes {
		p.shape[p.shapes] = *s
		p.shapes++
		p.setKinds()
		return int(p.shapes) - 1
	}
	used := p.inUse()
	for range maxShapes {
		p.oldest = (p.oldest + 1) % maxShapes
		if p.shapeUses(p.oldest)&used != 0 {
			continue
		}
		for at := range p.learned {
			if p.learned[at].shape == p.oldest {
				p.learned[at].shape = none
			}
		}
		p.shape[p.oldest] = *s
		p.setKinds()
		return p.oldest
	}
	return -1
}

// shapeUses are the templates of shape n.
func (p *Path) shapeUses(n int) (set uint64) {
	for at := range p.learned {
		if p.learned[at].shape == n {
			set |= 1 << at
		}
	}
	return set
}
