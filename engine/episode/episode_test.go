package episode

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"intsink/engine/wire/report"
	"intsink/flows"
)

func key(n int) *flows.Key {
	k := new(flows.Key)
	k.SetIPv4(uint32(n), uint32(n)*7)
	return k
}

// passed is one packet of a generated episode.
type passed struct {
	at                 int64
	flow               int
	bytes              uint32
	latency, occupancy uint32
}

// generated is an episode of some large flows, each with so many percent of all bytes, and many small ones.
func generated(r *rand.Rand, large []int, small int) (all []passed) {
	for at := int64(0); at < 400_000_000; at += 1 + r.Int64N(40_000) {
		p := passed{at: at, bytes: 64 + uint32(r.IntN(1400)), latency: 100_000 + uint32(r.IntN(1_000_000)), occupancy: uint32(r.IntN(9000))}
		share := r.IntN(100)
		p.flow = len(large) + r.IntN(small)
		for i, percent := range large {
			if share -= percent; share < 0 {
				p.flow = i
				break
			}
		}
		if r.IntN(50) == 0 {
			p.latency = unknown
		}
		all = append(all, p)
	}
	return all
}

// slowly is the count of an episode that keeps every flow: it shares nothing with Record.
type slowly struct {
	bytes, delay   map[int]uint64
	packets, total uint64
	peak, longest  uint32
	peakAt         int64
}

func countSlowly(all []passed, usual uint32) slowly {
	s := slowly{bytes: map[int]uint64{}, delay: map[int]uint64{}}
	for _, p := range all {
		s.packets, s.total = s.packets+1, s.total+uint64(p.bytes)
		s.bytes[p.flow] += uint64(p.bytes)
		s.longest = max(s.longest, p.occupancy)
		if p.latency == unknown {
			continue
		}
		if p.latency > s.peak {
			s.peak, s.peakAt = p.latency, p.at
		}
		s.delay[p.flow] += uint64(p.latency - usual)
	}
	return s
}

// most are the n flows with the highest sums.
func most(sums map[int]uint64, n int) (all []int) {
	for f := range sums {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), a-b) })
	return all[:min(n, len(all))]
}

// counting is a way to count packets: as many workers get them in turns, in runs of so many where that is more than one. each: the record
// takes each packet at once.
type counting struct {
	workers, run int
	each         bool
}

// count adds packets to a record: those of a run pass at the time of its first one.
func (c *counting) count(b *Book, id uint32, all []passed) {
	type kept struct{ worker, flow int }
	var tallies []*Tallies
	for range c.workers {
		t := b.NewTallies()
		defer t.Close()
		tallies = append(tallies, t)
	}
	shares := map[kept]*[flows.MaxShares]flows.Share{}
	for n := 0; n < len(all); n += c.run {
		worker, now := n/c.run%c.workers, all[n].at
		_, place := tallies[worker].Of(b.find(id).Queue)
		tallies[worker].Leave(now, place)
		for i := range all[n:min(n+c.run, len(all))] {
			p := &all[n+i]
			x := &Packet{Flow: key(p.flow), Values: Values{Bytes: p.bytes, Latency: p.latency, Occupancy: p.occupancy}}
			if of := (kept{worker, p.flow}); !c.each {
				if shares[of] == nil {
					shares[of] = new([flows.MaxShares]flows.Share)
				}
				x.Shares = shares[of]
			}
			if p.at = now; c.run > 1 {
				tallies[worker].Count(place, x.Flow, x.Shares, &x.Values)
			} else {
				b.Count(now, id, x)
			}
		}
		tallies[worker].Leave(now, place)
	}
}

// TestCulpritsAreThoseOfASlowCount: of any mix of flows, every flow above 5 % of the bytes is named, the largest
// first where one is clearly larger, and no sum is off by more than Space-Saving's bound, and what flows keep of it; likewise who waited.
func TestCulpritsAreThoseOfASlowCount(t *testing.T) {
	for seed, large := range [][]int{{50, 20, 10}, {6, 6, 6}, {90}, {30, 30, 30}, {8, 7, 6}, {12, 9, 6}, {25, 6, 6}, {40, 30, 20}, {7, 7, 7}, {}} {
		for _, small := range []int{1, 40, 5000} {
			for _, c := range []counting{{1, 1, true}, {1, 20, false}, {4, 64, false}} {
				t.Run(fmt.Sprint(large, small, c), func(t *testing.T) {
					const usual = 1700
					all := generated(rand.New(rand.NewPCG(uint64(seed), 5)), large, small)
					b := New()
					id := b.Begin(0, [2]uint64{7}, usual, 0)
					c.count(b, id, all)
					want := countSlowly(all, usual)
					b.End(all[len(all)-1].at, id, Cleared)
					ended, _ := b.Ended(0)
					r := &ended[0]
					if r.Packets != want.packets || r.Bytes != want.total || r.PeakLatency != want.peak || r.PeakAt != want.peakAt || r.PeakOccupancy != want.longest {
						t.Errorf("%d packets, %d bytes, peak %d at %d, occupancy %d, want %+v", r.Packets, r.Bytes, r.PeakLatency, r.PeakAt, r.PeakOccupancy, want)
					}
					kept := uint64(0) // one in so many
					if !c.each {
						kept = uint64(Unshared / c.workers)
					}
					checkTop(t, &r.Culprits, want.bytes, kept)
					checkTotals(t, b.Totals(), want, kept)
					checkTop(t, &r.Victims, want.delay, kept)
				})
			}
		}
	}
}

// checkTotals compares the sums of a Book that had one episode.
func checkTotals(t *testing.T, got Totals, want slowly, kept uint64) {
	t.Helper()
	three := uint64(0)
	for _, flow := range most(want.bytes, 3) {
		three += want.bytes[flow]
	}
	if got.Packets != want.packets || got.Bytes != want.total || got.Culprits > three || got.Culprits+3*want.total/Counters+3*keptOf(want.total, kept) < three {
		t.Errorf("%+v, want %d packets, %d bytes, %d of three flows", got, want.packets, want.total, three)
	}
}

// keptOf is how much of a sum flows may keep: one in so many; 0: nothing.
func keptOf(total, kept uint64) uint64 {
	if kept == 0 {
		return 0
	}
	return total / kept
}

// checkTop compares a Top with the sums of all flows, which may keep one in so many of all.
func checkTop(t *testing.T, top *Top, sums map[int]uint64, kept uint64) {
	t.Helper()
	total := uint64(0)
	for _, n := range sums {
		total += n
	}
	got := top.Most(3)
	first := most(sums, 4)
	for place, flow := range first[:min(3, len(first))] {
		if sums[flow]*20 <= total || len(first) > 3 && sums[flow] <= sums[first[3]]+keptOf(total, kept) {
			continue // or as large as the next one
		}
		if !slices.ContainsFunc(got, func(c Counter) bool { return c.Flow == key(flow).Canonical() }) {
			t.Errorf("flow %d, number %d with %d of %d, is not among %v", flow, place+1, sums[flow], total, got)
		}
	}
	if top.Total != total {
		t.Errorf("%d in all, want %d", top.Total, total)
	}
	names := map[flows.Key]int{}
	for flow := range sums {
		names[key(flow).Canonical()] = flow
	}
	for _, c := range top.Most(Counters) {
		if is := sums[names[c.Flow]]; c.Sum+keptOf(total, kept) < is || c.Sum-c.Over > is || c.Sum > is+total/Counters {
			t.Errorf("flow %d: %d, over by %d at most, is %d of %d", names[c.Flow], c.Sum, c.Over, is, total)
		}
	}
}

// TestWindows: what passes stands in windows of 10 ms, which become longer where the episode does; nothing is lost.
func TestWindows(t *testing.T) {
	b := New()
	id := b.Begin(0, [2]uint64{7}, 0, 0)
	add := func(at int64, latency uint32) {
		b.Count(at, id, &Packet{Flow: key(1), Values: Values{Bytes: 100, Latency: latency, Occupancy: unknown}})
	}
	add(5_000_000, 10)
	add(15_000_000, 20)
	r := b.Open()[0]
	if r.Width != WindowNs || r.Window[0] != (Window{1, 100, 10, 0}) || r.Window[1] != (Window{1, 100, 20, 0}) {
		t.Errorf("%d %+v", r.Width, r.Window[:2])
	}
	add(100_000_000_000, 5) // 100 s
	r = b.Open()[0]
	packets := uint64(0)
	for _, w := range r.Window {
		packets += w.Packets
	}
	if packets != 3 || r.Width*Windows <= 100e9 || r.Width > 4e9 || r.Window[0] != (Window{2, 200, 20, 0}) {
		t.Errorf("%d packets in windows of %d ns, the first %+v", packets, r.Width, r.Window[0])
	}
	var e report.Episode
	r.Window[0].Packets, r.PeakAt = 1<<32+7, r.Begin
	if r.summary(&e); e.Peak.Packets != 1<<32-1 {
		t.Errorf("%d packets in a report, which has room for 32 bits", e.Peak.Packets)
	}
	add(-5, 1) // a worker whose burst is older
	if got := b.Open()[0].Window[0].Packets; got != 3 {
		t.Errorf("%d packets in the first window", got)
	}
}

// TestBookIsBounded: only so many records are open and so many ended kept; one that nobody ends, ends after the timeout, when
// its last packet passed; a number that is no longer open counts nothing.
func TestBookIsBounded(t *testing.T) {
	b := New()
	var ids []uint32
	for n := range MaxOpen {
		ids = append(ids, b.Begin(int64(n), [2]uint64{uint64(n)}, 0, 0))
	}
	if id := b.Begin(99, [2]uint64{99}, 0, 0); id != 0 || b.Totals().Unrecorded != 1 || b.Totals().Open != MaxOpen {
		t.Errorf("record %d, %+v", id, b.Totals())
	}
	b.Count(1000, ids[0], &Packet{Flow: key(1), Values: Values{Bytes: 5, Latency: 9, Occupancy: unknown}})
	b.Expire(1e9+999, 1e9)
	if open := b.Open(); len(open) != 1 || open[0].ID != ids[0] {
		t.Errorf("%d are open", len(open))
	}
	b.Count(2000, ids[1], &Packet{Flow: key(1), Values: Values{Bytes: 5, Latency: 9, Occupancy: unknown}})
	b.End(3000, ids[0], Cleared)
	b.End(4000, ids[0], Cleared)
	ended, next := b.Ended(0)
	if len(ended) != MaxOpen || next != MaxOpen || ended[0].Ended != Silent || ended[0].End != MaxOpen-1 || ended[0].Packets != 0 || ended[MaxOpen-1].Ended != Cleared {
		t.Errorf("%d ended, next %d", len(ended), next)
	}
	for range 2 * MaxEnded {
		b.End(5000, b.Begin(4000, [2]uint64{1}, 0, 0), Cleared)
	}
	ended, next = b.Ended(next)
	if again, _ := b.Ended(next); len(ended) != MaxEnded || len(again) != 0 || b.Totals().Ended != MaxOpen+2*MaxEnded || b.Totals().Open != 0 {
		t.Errorf("%d ended, then %d, %+v", len(ended), len(again), b.Totals())
	}
}
