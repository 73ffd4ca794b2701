package truth

import "intsink/engine/wire/intgen"

// numbered sends the packets of a flow with sequence numbers.
type numbered struct {
	*player
	f    *Flow
	hops []intgen.Hop
	next uint32
}

func (p *player) numbered() *numbered {
	n := &numbered{p, p.flow(WatchDC), p.fabric(3), p.Uint32()}
	if p.IntN(2) == 0 {
		n.next = -uint32(p.IntN(40)) // the numbers wrap soon
	}
	k := p.first(n.f, n.hops)
	k.Sequence = n.number(0)
	return n
}

func (n *numbered) number(ahead uint32) *uint32 {
	v := n.next + ahead
	n.next = v + 1
	return &v
}

func (n *numbered) step(ahead uint32) *Packet {
	n.gap(5*ms, 30*ms)
	k := n.send(n.f, n.hops)
	k.Sequence = n.number(ahead)
	return k
}

// again sends a number once more, or late.
func (n *numbered) again(v uint32) {
	n.gap(ms, 5*ms)
	n.send(n.f, n.hops).Sequence = &v
}

func (n *numbered) run(count int) {
	for range count {
		n.step(0)
	}
}

// loss leaves holes in the sequence; each hole gives one report.
func loss(p *player) {
	n := p.numbered()
	n.run(20)
	for range 3 {
		n.step(uint32(1 + p.IntN(5))).plan(Loss)
		n.run(1 + p.IntN(5))
		for range 40 {
			p.wait(150 * ms)
			n.step(0)
		}
	}
}

// reordered fills every hole in time, and repeats numbers.
func reordered(p *player) {
	n := p.numbered()
	n.run(10)
	for range 20 {
		missing := n.next
		n.step(1)
		n.run(p.IntN(3))
		n.again(missing)
		n.run(p.IntN(5))
		n.again(n.next - 1 - uint32(p.IntN(5)))
	}
	n.run(20)
}

// restart jumps beyond the window, forwards and backwards.
func restart(p *player) {
	n := p.numbered()
	n.run(10)
	for _, by := range []uint32{5000, 1 << 20} {
		n.step(by)
		n.run(30)
		n.step(-by)
		n.run(30)
	}
	n.step(1023).plan(Loss) // a step of 1024 would be a restart
	n.run(20)
	n.wait(300 * ms)
	n.step(1024)
	n.run(20)
}

// lostAtTheEnd sends no packet after a hole: the report comes by a timer.
func lostAtTheEnd(p *player) {
	n := p.numbered()
	n.run(5)
	n.step(3).plan(Loss)
}

// numberless has a source that sometimes has no number.
func numberless(p *player) {
	n := p.numbered()
	n.next = p.Uint32N(1 << 31) // far from the wrap; a restart for the sink
	for range 40 {
		n.run(p.IntN(5))
		n.again(unknown32)
	}
}

// wrap sends the last numbers before the wrap out of order: there all ones is a number.
func wrap(p *player) {
	n := p.numbered()
	for range 2 {
		n.next = 1 << 31
		n.step(0)
		n.next = -uint32(3 + p.IntN(3))
		for n.next != unknown32 {
			n.step(0)
		}
		n.step(1)
		n.run(p.IntN(3))
		n.again(unknown32)
		n.again(unknown32)
		n.run(20)
	}
}
