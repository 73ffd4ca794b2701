package truth

import (
	"slices"

	"intsink/engine/wire/intgen"
)

// path sends packets on new paths: other interfaces, other nodes, more and fewer hops.
func path(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(4)
	p.first(f, hops)
	swapped := slices.Clone(hops)
	swapped[1], swapped[2] = swapped[2], swapped[1]
	in := slices.Clone(hops)
	in[0].Ingress = 77
	for _, h := range [][]intgen.Hop{via(hops, 3, 77), in, hops[1:], swapped, hops[:1]} {
		p.gap(ms, s)
		p.send(f, h).plan(PathChange)
		for range p.IntN(10) {
			p.gap(ms, 300*ms)
			p.send(f, h)
		}
	}
	level2 := func(out uint32) *Packet {
		p.gap(ms, s)
		h := slices.Clone(hops)
		h[0].Level2Egress = out
		k := p.send(f, h)
		k.Bitmap |= bitLevel2
		return k
	}
	level2(1).plan(PathChange) // level-2 interfaces are part of the path
	level2(1)
	level2(2).plan(PathChange)
}

// pathMemory: a flow forgets paths after a minute, and the one unseen for longest beyond four.
func pathMemory(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	go4 := func(egress uint16, news bool) {
		p.gap(200*ms, s)
		if k := p.send(f, via(hops, 0, egress)); news {
			k.plan(PathChange)
		}
	}
	go4(100, true)
	go4(101, true)
	go4(102, true)
	go4(hops[0].Egress, false) // all four are known
	go4(100, false)
	go4(103, true) // 101 is the one longest unseen
	go4(102, false)
	go4(101, true)
	for range 64 {
		p.wait(s)
		p.send(f, via(hops, 0, 101))
	}
	go4(102, true) // more than a minute ago
}

// pathRate sends packets on more new paths than are reported in a second. A path whose report was
// withheld is not learned: its next packet is reported.
func pathRate(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	for i := range uint16(10) {
		p.gap(ms, 2*ms)
		p.send(f, via(hops, 0, 100+i)).plan(PathChange)
	}
	for i := range uint16(10) {
		p.gap(ms, 2*ms)
		p.send(f, via(hops, 0, 200+i))
	}
	p.wait(100 * ms)
	p.send(f, via(hops, 0, 209)).plan(PathChange)
	p.wait(ms)
	p.others(5, 20*ms, f, via(hops, 0, 209))
	p.wait(2*s + p.Int64N(100*ms)) // the bucket is full again
	for i := range uint16(14) {
		p.gap(ms, 9*ms)
		p.send(f, via(hops, 0, 300+i))
	}
}

// ecmp alternates between paths of the same nodes: no path_change once both are known, and no
// latency event.
func ecmp(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	hops = set(hops, 1, 60_000)
	other := slices.Clone(hops)
	other[0], other[1] = other[1], other[0]
	p.first(f, hops)
	p.gap(ms, 100*ms)
	k := p.send(f, other)
	k.Quiet = false
	k.plan(PathChange)
	p.send(f, hops)
	for n := range 60 {
		p.gap(ms, 300*ms)
		k := p.send(f, [][]intgen.Hop{other, hops}[n%2])
		if n == sprayedRow-3 { // with the two changes before: the flow is sprayed
			k.Quiet = false
			k.plan(PathChange)
		}
	}
}

// ecmpReported has a watch that asks for known paths, too.
func ecmpReported(p *player) {
	f, hops := p.flow(WatchWAN), p.fabric(3)
	p.first(f, hops)
	for i := range 20 {
		p.gap(200*ms, 400*ms)
		h := via(hops, 0, 90+uint16(i%2))
		p.send(f, h).plan(PathChange)
		p.gap(ms, 20*ms)
		p.send(f, h)
	}
}

// noEvidence has other paths in packets that are no evidence: with M, with unknown words, without
// nodes or interfaces.
func noEvidence(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	p.gap(ms, 100*ms)
	k := p.send(f, via(hops, 0, 99))
	k.M = true
	k.plan(MTUExceeded)
	for range 40 {
		p.gap(ms, 200*ms)
		h := via(hops, 1, uint16(100+p.IntN(100)))
		switch p.IntN(4) {
		case 0:
			p.send(f, h).M = true
		case 1:
			h[p.IntN(3)].NodeID = unknown32
			p.send(f, h)
		case 2:
			i := p.IntN(3)
			h[i].Ingress, h[i].Egress = unknown16, unknown16
			p.send(f, h)
		case 3:
			p.send(f, h).Bitmap = bitNode | bitLatency
		}
	}
	p.gap(ms, 100*ms)
	p.send(f, hops)
}

// sprayed sends packets, or bursts of them, over several paths: each path is told once, that they are many once, then a new one
// and one that is lost.
func sprayed(p *player) {
	f, hops := p.flow(WatchPTP), p.fabric(3)
	hops = via(hops, 1, 1)
	n, burst, seen, row, way := 3+p.IntN(5), []int{1, 20}[p.IntN(2)], map[int]bool{0: true}, 0, 0
	p.first(f, hops)
	send := func(ways []int, low, high int64) {
		next := ways[p.IntN(len(ways))]
		changes := next != way
		if way = next; changes {
			row++
		}
		for i := range burst {
			p.gap(low/int64(burst), high/int64(burst))
			k := p.send(f, via(hops, 1, uint16(100*min(next, 1)+next+1)))
			if i == 0 && (!seen[next] || changes && row == sprayedRow) {
				k.plan(PathChange)
			}
		}
		seen[next] = true
	}
	var ways []int
	for i := range n {
		ways = append(ways, i)
	}
	for range 100 {
		send(ways, 100*ms, 300*ms)
	}
	p.wait(s)
	ways = append(ways, n) // a new one
	for range 100 {
		send(ways, 100*ms, 300*ms)
	}
	ways = ways[:n] // and it is lost
	for range 64 + 2*lostChanges*(n+1) {
		send(ways, 150*ms, 250*ms)
	}
}

// sprayedWide has more paths than a flow remembers: they are not told one by one.
func sprayedWide(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	for range 400 {
		p.gap(ms, 20*ms)
		p.send(f, via(hops, 1, uint16(100+p.IntN(8))))
	}
	p.wait(10 * s) // on one path, but not for long enough
	p.others(40, 500*ms, f, via(hops, 1, 100))
	for range 60 {
		p.gap(ms, 20*ms)
		p.send(f, via(hops, 1, uint16(100+p.IntN(8))))
	}
	p.others(64, s, f, via(hops, 1, 100)) // long enough
	p.gap(ms, s)
	p.send(f, via(hops, 1, 200)).plan(PathChange)
}

// flap has a link fail and come back every ten seconds, for minutes: that is no spraying, and is told once.
func flap(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	told := false
	for range 24 {
		for _, way := range [][]intgen.Hop{hops, via(hops, 1, 99)} {
			for range 20 {
				p.gap(450*ms, 550*ms)
				k := p.send(f, way)
				if !told && way[1].Egress == 99 {
					told, k.Quiet = true, false
					k.plan(PathChange)
				}
			}
		}
	}
}
