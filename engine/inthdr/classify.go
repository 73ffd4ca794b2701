package inthdr

// Classify sets i.Common, i.QueueAt and i.TxAt.
//
// Common packets can take the fast path: sound INT-MD of a version
// with 32-bit values, with hops that start with node id, level-1 interfaces and hop
// latency, without level-2 interfaces, flags or domain specific metadata.
func (p *Locator) Classify(i *Info) {
	l := p.Layout(i)
	i.Common = i.Type == MD && i.Reason == ReasonNone && i.Hops > 0 && i.DSInstruction == 0 &&
		!i.Discard && !i.HopExceeded && !i.MTUExceeded && l.BasicHops
	if i.Common {
		i.QueueAt, i.TxAt = uint8(max(l.Queue, 0)), uint8(max(l.TxUtilization, 0))
	}
}
