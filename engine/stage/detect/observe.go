// observe: the hops of a packet as the detector sees them; values that cannot be are counted once.

package detect

import (
	"intsink/engine/burst"
	"intsink/engine/wire/inthdr"
)

// observe makes the hops of a packet those of the observation.
func (s *Stage) observe(b *burst.Burst, f []byte, info *inthdr.Info) {
	o := s.observation
	o.Frame, o.Info, o.Layout = f, info, b.Link.Locator.Layout(info)
	if info.Format.Foreign() {
		for _, node := range s.observeOthers(b) {
			s.odd.count(node)
		}
	}
}

// observeAgain is observe for a packet whose values that cannot be are counted, or that C has passed, which has none.
func (s *Stage) observeAgain(b *burst.Burst, f []byte, info *inthdr.Info) {
	o := s.observation
	o.Frame, o.Info, o.Layout = f, info, b.Link.Locator.Layout(info)
	if info.Format.Foreign() {
		s.observeOthers(b)
	}
}

// observeOthers puts hops as INT has them in place of those of a packet whose format is foreign, and returns the nodes whose values
// cannot be.
func (s *Stage) observeOthers(b *burst.Burst) (odd []uint32) {
	o := s.observation
	h := b.Link.Locator.Hops(o.Frame, o.Info)
	o.Own, o.Frame, o.Info, o.Layout = o.Frame, h.Frame, h.Info, b.Link.Locator.Layout(h.Info)
	return h.Odd
}
