package streams

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"intsink/internal/rounds"
)

const ms = int64(1e6)

// sent is a report packet on its way: one process of a sink sent it, with number n, and it arrives at that
// time. Packets that differ in neither process nor number are copies.
type sent struct {
	at      int64
	process int
	n       uint32
}

// run are the packets from number first to last of a process, one every step.
func run(process int, at, step int64, first, last uint32) (all []sent) {
	for n := first; n <= last; n++ {
		all = append(all, sent{at, process, n})
		at += step
	}
	return all
}

// join puts packets in the order of their arrival.
func join(lists ...[]sent) []sent {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b sent) int { return cmp.Compare(a.at, b.at) })
	return all
}

// copied are packets and a copy of each, late by delay.
func copied(all []sent, delay int64) []sent {
	copies := slices.Clone(all)
	for i := range copies {
		copies[i].at += delay
	}
	return join(all, copies)
}

// shuffled are packets that changed places with others, less than 64 away; the first one stays.
func shuffled(all []sent) []sent {
	r := rand.New(rand.NewPCG(1, 2))
	out := slices.Clone(all)
	for i := 1; i < len(out); i += 64 {
		part := out[i:min(i+64, len(out))]
		r.Shuffle(len(part), func(i, j int) {
			part[i].process, part[j].process, part[i].n, part[j].n = part[j].process, part[i].process, part[j].n, part[i].n
		})
	}
	return out
}

// overtaken counts the packets that arrive behind one of the same process with a higher number.
func overtaken(all []sent) (n uint64) {
	highest := map[int]uint32{}
	for _, x := range all {
		if x.n < highest[x.process] {
			n++
		}
		highest[x.process] = max(highest[x.process], x.n)
	}
	return n
}

// TestRestart: a sink that restarts within a second is told from what a network does to packets: copies,
// delays, other orders. No two reports share a place; copies do.
func TestRestart(t *testing.T) {
	before := run(0, 0, ms, 0, 310) // until 310 ms
	mixed := join(shuffled(before), shuffled(join(run(1, 610*ms, ms, 0, 8), run(1, 619*ms, ms, 10, 47))))
	pause := shuffled(join(before, run(0, 610*ms, ms, 311, 600)))
	for _, c := range []struct {
		name  string
		in    []sent
		count Counts
	}{
		{"in 0.3 s", join(before, run(1, 610*ms, ms, 0, 49)), Counts{Received: 361, Restarts: 1}},
		{"in 0.85 s, all packets at once", join(run(0, 0, 1000, 0, 310), run(1, 850*ms, 1000, 0, 49)), Counts{Received: 361, Restarts: 1}},
		{"its first packets are lost", join(before, run(1, 610*ms, ms, 30, 79)), Counts{Received: 361, Restarts: 1}},
		{"one of its packets is lost, others change places", mixed, Counts{Received: 358, Lost: 1, Restarts: 1, Reordered: overtaken(mixed)}},
		{"one of the old packets is lost", join(run(0, 0, ms, 0, 6), run(0, 8*ms, ms, 8, 310), run(1, 610*ms, ms, 0, 49)), Counts{Received: 360, Lost: 1, Restarts: 1}},
		{"after more packets than there are bits for", join(run(0, 0, 1000, 0, 40000), run(1, 340*ms, ms, 0, 49)), Counts{Received: 40051, Restarts: 1}},
		{"after the wrap", join(run(0, 0, ms, 4194204, 4194303), run(0, 100*ms, ms, 0, 310), run(1, 710*ms, ms, 0, 49)), Counts{Received: 461, Restarts: 1}},
		{"the stream begins with a later number, long ago", join(run(0, 0, 10*ms, 200, 310), run(1, 1410*ms, ms, 0, 49)), Counts{Received: 161, Restarts: 1}},
		{"few packets, a long silence, more", join(before, run(1, 610*ms, ms, 0, 4), run(1, 3000*ms, ms, 5, 15)), Counts{Received: 327, Restarts: 1}},
		{"again and again, after few packets", join(before, run(1, 610*ms, ms, 0, 4), run(2, 910*ms, ms, 0, 4), run(3, 1210*ms, ms, 0, 4)), Counts{Received: 326, Repeated: 15}},
		{"of a network that makes copies", copied(join(before, run(1, 610*ms, ms, 0, 49)), 5*ms), Counts{Received: 722, Restarts: 1, Repeated: 361}},

		{"copies of all packets, late by 0.1 s", copied(before, 100*ms), Counts{Received: 622, Repeated: 311}},
		{"copies late by 0.2 s, when the sink is silent", copied(run(0, 0, 1000, 0, 310), 200*ms), Counts{Received: 622, Repeated: 311}},
		{"copies late by 0.6 s, while the sink goes on", copied(run(0, 0, ms, 0, 1500), 600*ms), Counts{Received: 3002, Repeated: 901 + 600}},
		{"another order of packets, and a silence", pause, Counts{Received: 601, Reordered: overtaken(pause)}},
		{"another order and copies", copied(shuffled(before), 3*ms), Counts{Received: 622, Reordered: overtaken(shuffled(before)), Repeated: 311}},
		{"missing packets in a late burst", join(run(0, 0, ms, 0, 9), run(0, 60*ms, ms, 60, 310), run(0, 800*ms, 1000, 10, 59)), Counts{Received: 311, Reordered: 50}},
		{"the same behind two that come again", join(run(0, 0, ms, 0, 1), run(0, 60*ms, ms, 60, 310), run(1, 800*ms, 1000, 0, 1), run(0, 801*ms, 1000, 2, 59)), Counts{Received: 313, Lost: 4, Late: 4, Reordered: 54, Repeated: 2}},
		{"a burst from before the stream's first packet", join(run(0, 0, ms, 60, 310), run(0, 800*ms, 1000, 0, 49)), Counts{Received: 301, Late: 50}},
		{"a late burst that is not near 0", join(before, run(0, 610*ms, ms, 100, 149)), Counts{Received: 361, Repeated: 50}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed()
			places := map[Place]sent{}
			by := map[sent]Place{}
			for _, x := range c.in {
				b.now = second + x.at
				b.t.Expire(b.now, b.gap)
				p := b.see(x.n)
				x.at, p.Skipped = 0, 0
				if other, ok := places[p]; ok && other != x {
					t.Fatalf("%+v and %+v are both at %+v", other, x, p)
				}
				if was, ok := by[x]; ok && was != p {
					t.Fatalf("%+v is at %+v, its copy at %+v", x, was, p)
				}
				places[p], by[x] = x, p
			}
			b.t.Expire(b.now+2*idle, b.gap)
			if got := b.counts(); got != c.count {
				t.Errorf("%+v, want %+v", got, c.count)
			}
		})
	}
}

// TestRestartsAtRandom: whatever a sink has sent until it restarts, in 0.3 s to 0.9 s, and whatever of that is lost, no two
// reports share a place.
func TestRestartsAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range rounds.Of(1000, 10) {
		b, places := newBed(), map[Place]sent{}
		loss, longest := r.Float64()/50, 1+r.IntN(600)
		for process := range 6 {
			for n := range uint32(1 + r.IntN(longest)) {
				b.now += ms
				b.t.Expire(b.now, b.gap)
				if r.Float64() < loss {
					continue
				}
				x := sent{process: process, n: n}
				p := b.see(n)
				if other, ok := places[p]; ok {
					t.Fatalf("%+v and %+v are both at %+v", other, x, p)
				}
				places[p] = x
			}
			b.now += 300*ms + r.Int64N(600*ms)
		}
	}
}
