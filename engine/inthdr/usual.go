package inthdr

// Judge sets i.Usual, and what is asked of Usual packets.
//
// Usual means that nothing about i asks for a second look: sound INT-MD of a version
// with 32-bit values, with hops that start with node id, level-1 interfaces and hop
// latency, without level-2 interfaces, flags or domain specific metadata.
func (p *Locator) Judge(i *Info) {
	l := p.Layout(i)
	i.Usual = i.Type == MD && i.Reason == ReasonNone && i.Hops > 0 && i.DSInstruction == 0 &&
		!i.Discard && !i.HopExceeded && !i.MTUExceeded && l.Plain
	if i.Usual {
		i.QueueAt, i.TxAt = uint8(max(l.Queue, 0)), uint8(max(l.TxUtilization, 0))
	}
}
