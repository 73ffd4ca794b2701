package truth

import "slices"

// step changes the latency up and down by more than the deadband: the second packet is reported.
func step(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(2+p.IntN(3))
	i, low := p.IntN(len(hops)), 10_000+p.Int64N(50_000)
	high := low*3 + 10_001 + p.Int64N(20_000) // so high that the step down leaves its deadband, too
	hops = set(hops, i, low)
	p.first(f, hops)
	for range 3 {
		for _, x := range []int64{high, low} {
			hops = set(hops, i, x)
			p.gap(110*ms, 200*ms)
			p.send(f, hops)
			p.gap(ms, 100*ms)
			p.send(f, hops).plan(HopLatency)
			for range 5 + p.IntN(10) {
				p.gap(ms, 100*ms)
				p.send(f, hops)
			}
		}
	}
}

// stepWAN needs three of eight packets beyond 100 us and a quarter.
func stepWAN(p *player) {
	f, hops := p.flow(WatchWAN), p.fabric(3)
	hops = set(hops, 1, 800_000)
	high := set(hops, 1, 1_000_001)
	p.first(f, hops)
	p.gap(ms, 100*ms)
	p.others(4, 20*ms, f, set(hops, 1, 1_000_000)) // at the edge of the deadband
	for range 2 {
		p.send(f, high)
		p.wait(20 * ms)
		p.others(2, 20*ms, f, hops)
	}
	p.send(f, high).plan(HopLatency)
	p.gap(ms, 100*ms)
	p.others(8, 20*ms, f, high)
}

// pending steps twice within the interval: the second step is reported by the first
// packet after it.
func pending(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	p.gap(10*ms, 100*ms)
	hops = set(hops, 1, 50_000)
	p.send(f, hops)
	p.gap(ms, 2*ms)
	p.send(f, hops).plan(HopLatency)
	hops = set(hops, 1, 150_000)
	p.wait(ms)
	p.others(9, 10*ms, f, hops)
	p.wait(10 * ms)
	p.send(f, hops).plan(HopLatency)
	p.gap(ms, 10*ms)
	p.others(5, 30*ms, f, hops)
}

// drift changes the latency so slowly that refreshes come meanwhile; it is reported when it has
// moved by half of its reference.
func drift(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, set(hops, 1, 100_000))
	for x, n := int64(100_000), 0; x < 152_000; x += 250 {
		p.gap(50*ms, 100*ms)
		k := p.send(f, set(hops, 1, x))
		if x > 150_000 {
			if n++; n == 2 {
				k.plan(HopLatency)
			}
		}
	}
}

// unknown values come between the known ones, everywhere.
func unknown(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	for range 60 {
		p.gap(ms, 300*ms)
		h := slices.Clone(hops)
		for i := range h {
			switch p.IntN(6) {
			case 0:
				h[i].LatencyNs = unknown32
			case 1:
				h[i].QueueID, h[i].QueueOccupancy = 0xff, unknown32
			case 2:
				h[i].TxUtilization = unknown32
			case 3:
				h[i].NodeID = unknown32
			}
		}
		p.send(f, h)
	}
}

// endToEnd rises at every hop by less than the deadband of one.
func endToEnd(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(7)
	p.first(f, hops)
	for range 2 {
		for _, x := range []uint32{14_000, 5000} {
			for i := range hops {
				hops[i].LatencyNs = x
			}
			p.gap(110*ms, 200*ms)
			p.send(f, hops)
			p.gap(ms, 100*ms)
			p.send(f, hops).plan(EndToEnd)
			p.others(6, 50*ms, f, hops)
		}
	}
}

// endToEndPTP has the time in the links, where only clocks see it. A source without
// one, or before its time, gives no value.
func endToEndPTP(p *player) {
	f, hops := p.flow(WatchPTP), p.own(3)
	p.sendStamped(f, hops, 2000).plan(NewFlow, FlowEnd)
	delay := func(f *Flow, link int64) *Packet {
		p.gap(20*ms, 60*ms)
		return p.sendStamped(f, hops, link)
	}
	for range 3 {
		for _, d := range []int64{52_000, 2000} {
			p.wait(100 * ms)
			delay(f, d)
			delay(f, d).plan(EndToEnd)
			for range 6 {
				k := delay(f, d)
				switch p.IntN(4) {
				case 0:
					k.Hops[2].IngressTimestamp = unknown64
				case 1:
					k.Hops[2].IngressTimestamp = uint64(k.Time + 100*us)
				}
			}
		}
	}
}
