package truth

// refused is a flow with packets that the host's port refuses: the first is reported, then one a
// second with the count.
func refused(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	for range 3 {
		p.wait(1100 * ms)
		k := p.send(f, hops)
		k.Refused = true
		k.plan(Drop)
		for range p.IntN(20) {
			p.gap(ms, 40*ms)
			p.send(f, hops).Refused = p.IntN(2) == 0
		}
	}
	g := p.flow(WatchDC) // a flow whose packets are refused from the first on
	k := p.first(g, hops)
	k.Refused = true
	k.plan(Drop)
}

// odd sends INT that is malformed, of an unknown domain, or from the host side.
func odd(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	f.TCP = false
	p.first(f, hops)
	for range 40 {
		p.gap(ms, 400*ms)
		k := p.send(f, hops)
		switch p.IntN(5) {
		case 0:
			k.Unsound = true
		case 1:
			k.Foreign = true
		case 2:
			k.FromHost = true
		case 3:
			k.Unsound, k.Refused = true, true
		}
	}
	g := p.flow(WatchDC)
	p.first(g, hops).Foreign = true // its values do not become references
	p.gap(ms, 400*ms)
	p.send(g, via(set(hops, 1, 90_000), 0, 99))
	p.gap(ms, 400*ms)
	p.others(5, 10*ms, g, via(set(hops, 1, 90_000), 0, 99))
}

// plainTraffic has packets without INT that the host's port refuses.
func plainTraffic(p *player) {
	f := p.flow(WatchDC)
	for range 20 {
		p.gap(ms, 300*ms)
		k := p.send(f, nil)
		k.NoINT, k.Refused, k.FromHost = true, p.IntN(2) == 0, p.IntN(4) == 0
		k.Refused = k.Refused && !k.FromHost
	}
}

// ends has a watch that asks for new_flow and flow_end only.
func ends(p *player) {
	f, hops := p.flow(WatchEnds), p.fabric(3)
	p.first(f, hops)
	for range 40 {
		p.gap(ms, 300*ms)
		p.disturb(hops)
		k := p.send(f, hops)
		k.M, k.E, k.Refused, k.Foreign = p.IntN(4) == 0, p.IntN(4) == 0, p.IntN(4) == 0, p.IntN(4) == 0
	}
}
