package usual

import (
	"math"
	"math/rand/v2"
	"testing"
)

const aDay = 24 * 60 // minutes

// teach has each of the sources send one value in each of the minutes that begin with from, and returns the minute after them.
func teach(u *Usual, p Place, from, minutes int64, sources int, value func(minute int64, source int) (latency, occupancy uint32)) int64 {
	for m := from; m < from+minutes; m++ {
		for n := range int64(5) {
			for s := range sources {
				latency, occupancy := value(m-from, s)
				u.Learn(m*minute+n*minute/5, []Reading{{Place: p, Latency: latency, Occupancy: occupancy, Source: uint8(s)}})
			}
		}
	}
	return from + minutes
}

// TestOneSourceTeachesLittle: where three sources speak, one more that sends a hundred times as much moves what is usual by less than
// a class, be it below what is odd for days, or above it for longer than a day; alone it is believed, as it was before others came.
func TestOneSourceTeachesLittle(t *testing.T) {
	for _, p := range []Place{aHop, aQueue} {
		for name, forged := range map[string]func(p99 uint32) uint32{
			"a ramp": func(p99 uint32) uint32 { return 6 * p99 }, "small steps": func(p99 uint32) uint32 { return p99 + p99/2 }, "far above": func(uint32) uint32 { return 50_000_000 },
		} {
			u, r := newTest(t), rand.New(rand.NewPCG(5, 6))
			honest := func(int64, int) (uint32, uint32) { return 20_000 + r.Uint32N(10_000), 300 + r.Uint32N(100) }
			next := teach(u, p, 1000, 60, 3, honest)
			before, _ := u.Of(p)
			for range aDay + aDay/4 {
				v, _ := u.Of(p)
				for n := range int64(300) {
					u.Learn(next*minute+n, []Reading{{Place: p, Latency: forged(v.Latency.P99), Occupancy: forged(v.Occupancy.P99), Source: 9}})
				}
				next = teach(u, p, next, 1, 3, honest)
			}
			after, _ := u.Of(p)
			for _, x := range [][2]uint32{{before.Latency.Median, after.Latency.Median}, {before.Latency.P99, after.Latency.P99}, {before.Occupancy.Median, after.Occupancy.Median}, {before.Occupancy.P99, after.Occupancy.P99}} {
				if float64(x[1]) > 1.3*float64(x[0]) {
					t.Errorf("%v, %s: %d before, %d after", p.Kind, name, x[0], x[1])
				}
			}
		}
	}
	u := newTest(t)
	next := teach(u, aHop, 1000, 20, 1, func(int64, int) (uint32, uint32) { return 20_000, unknown })
	if v, _ := u.Of(aHop); !v.Latency.Known {
		t.Errorf("a source alone: %+v", v)
	}
	teach(u, aHop, next, 3*aDay, 1, func(int64, int) (uint32, uint32) { return 60_000, unknown })
	if v, _ := u.Of(aHop); v.Latency.Median < 50_000 {
		t.Errorf("three times as long for days: %+v", v)
	}
}

// TestTwoSourcesTeachAll: two sources that send as much as each other teach at least half of that: the place is known as soon as
// there are twice as many packets as a median needs.
func TestTwoSourcesTeachAll(t *testing.T) {
	u, r := newTest(t), rand.New(rand.NewPCG(7, 8))
	for range 2 * Few {
		u.Learn(1000*minute, []Reading{{Place: aHop, Latency: 20_000, Occupancy: unknown, Source: uint8(3 + r.IntN(2))}})
	}
	u.Learn(1001*minute, []Reading{{Place: aHop, Latency: 20_000, Occupancy: unknown, Source: 3}})
	if v, _ := u.Of(aHop); !v.Latency.Known {
		t.Errorf("after %d values of two sources: %+v", 2*Few, v)
	}
}

// TestSourcesAreSpread: addresses are in all groups, in others with another seed.
func TestSourcesAreSpread(t *testing.T) {
	u, v := newTest(t), newUsual(8, 64)
	defer v.Close()
	groups, same := map[uint8]int{}, 0
	for n := range uint64(1600) {
		g := u.Source([2]uint64{0, 0x0a000000 + n})
		groups[g]++
		if g == v.Source([2]uint64{0, 0x0a000000 + n}) {
			same++
		}
	}
	for g := range uint8(Sources) {
		if groups[g] < 50 {
			t.Errorf("group %d has %d of 1600", g, groups[g])
		}
	}
	if len(groups) != Sources || same > 300 {
		t.Errorf("%d groups; %d of 1600 are the same with another seed", len(groups), same)
	}
}

// TestUsualHasChanged: what creeps by less than two times a day is told when it is four times what it was, what lasted for more than
// a day as soon as it is usual; each for a week, over a restart, too. A day's swing of five times, with calm weekends, is not, nor what
// stays where no threshold is.
func TestUsualHasChanged(t *testing.T) {
	swing := func(low float64) func(m int64) float64 {
		return func(m int64) float64 {
			if m/aDay%7 >= 5 {
				return low
			}
			return low * (3 - 2*math.Cos(2*math.Pi*float64(m)/aDay))
		}
	}
	creep := func(m int64) float64 { return 30_000 * math.Exp2(0.95*float64(m)/aDay) }
	fault := func(m int64) float64 {
		if m > aDay {
			return 2_000_000
		}
		return 30_000
	}
	for name, c := range map[string]struct {
		at   func(minute int64) float64
		days int64
		told int64 // on this day; -1: never
	}{
		"a day's swing":         {swing(30_000), 15, -1},
		"the same, as it falls": {func(m int64) float64 { return swing(30_000)(m + aDay/2) }, 15, -1},
		"what creeps":           {creep, 4, 2},
		"a fault that stays":    {fault, 4, 2},
		"below the floor":       {func(m int64) float64 { return creep(m) / 100 }, 5, -1},
	} {
		for _, p := range []Place{aHop, aQueue, {Segment, [2]uint64{1, 2}}} {
			if name == "below the floor" && p.Kind == Queue {
				continue // an occupancy has none
			}
			u, r, told, next := newTest(t), rand.New(rand.NewPCG(7, 8)), int64(-1), int64(1000)
			var is []Change
			for m := range c.days * aDay {
				next = teach(u, p, next, 1, 4, func(int64, int) (uint32, uint32) {
					x := uint32(c.at(m) * (0.8 + 0.4*r.Float64()))
					if p.Kind == Queue {
						return unknown, x / 100
					}
					return x, unknown
				})
				if is = u.Changed(next * minute); len(is) > 0 {
					told = m / aDay
					break
				}
			}
			if told != c.told {
				t.Errorf("%s, %v: told on day %d, want %d: %+v", name, p.Kind, told, c.told, is)
			}
			if told < 0 || t.Failed() {
				continue
			}
			if x := is[0]; len(is) != 1 || x.Place != p || x.Occupancy != (p.Kind == Queue) || x.Is < drifted*x.Was || x.Since != (next-1)*minute {
				t.Errorf("%s: %+v", name, is)
			}
			after := newTest(t)
			if err := after.Decode(u.Encode(), next*minute); err != nil || len(after.Changed(next*minute)) != 1 || after.Changed(next * minute)[0].Since != is[0].Since {
				t.Errorf("%s, after a restart: %v %+v", name, err, after.Changed(next*minute))
			}
			at := c.at(next - 1000)
			next = teach(u, p, next, 7*aDay+2, 1, func(int64, int) (uint32, uint32) {
				if p.Kind == Queue {
					return unknown, uint32(at / 100)
				}
				return uint32(at), unknown
			})
			if is = u.Changed(next * minute); len(is) != 0 {
				t.Errorf("%s, %v, a week later: %+v", name, p.Kind, is)
			}
		}
	}
}
