package inthdr

// Usual tells whether nothing about i asks for a second look: sound INT-MD of a
// version with 32-bit values, with hops that start with node id, level-1 interfaces
// and hop latency, without level-2 interfaces, flags or domain specific metadata.
// Info.Usual is that, and more.
func (p *Locator) Usual(i *Info) bool {
	return i.Type == MD && i.Reason == ReasonNone && i.Hops > 0 && i.DSInstruction == 0 &&
		!i.Discard && !i.HopExceeded && !i.MTUExceeded && p.Layout(i).Plain
}
