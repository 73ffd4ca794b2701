package event

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// Quiet is Packet for most packets: those that are as the flow's last one was.
// True: the packet is counted and gives no event. False: nothing is changed, and
// Packet must be called. It is apart because what it needs fits into registers.
func (d *Detector) Quiet(now int64, f *flows.Flow, watch int, frame []byte, i *inthdr.Info, l *inthdr.Layout) bool {
	if uint(watch) >= uint(len(d.policies)) {
		return false
	}
	p := &d.policies[watch]
	n := uint(i.Hops)
	if !p.quiet || !l.Plain || i.Reason != 0 || i.DSInstruction != 0 || i.MTUExceeded || n == 0 || n > uint(f.NumHops) || n > flows.MaxHops ||
		!f.Settled() || i.HopExceeded || int32(refreshTick(now)-f.NextRefresh) >= 0 {
		return false
	}
	h := uint64(n)
	absolute, sum := p.Thresholds.Latency.Absolute, uint64(0)
	stack := frame[i.Stack:]
	hopLen := uint(i.HopLen)
	for _, ref := range f.Hops[:n] {
		if len(stack) < inthdr.PlainHop {
			return false
		}
		first := binary.LittleEndian.Uint64(stack)
		x := binary.BigEndian.Uint32(stack[8:])
		// A node that is known is no unknown word.
		if uint32(first) != ref.Node || first>>32 == unknown32 || x == unknown32 || x-ref.Ref+absolute > 2*absolute {
			return false
		}
		h = d.mix(h, first)
		sum += uint64(x)
		if uint(len(stack)) < hopLen {
			return false
		}
		stack = stack[hopLen:]
	}
	if f.PathHash != h || f.NumPaths == 0 || f.NextRefresh == 0 {
		return false
	}
	if p.Events.Has(EndToEnd) && (!f.EndKnown() || farther(uint64(f.EndRef), sum, uint64(p.Thresholds.EndToEnd.Absolute))) {
		return false
	}
	if d.overlooked++; d.overlooked >= surveyed ||
		p.things && (now <= d.stirred || d.busy > 0 || !p.calm.pass(frame[i.Stack:][:i.StackLen], hopLen, n, l)) {
		return false
	}
	f.PathSeen = flows.Tick(now)
	return true
}

// farther tells whether a and b are more than limit apart.
func farther(a, b, limit uint64) bool { return b-a+limit > 2*limit }
