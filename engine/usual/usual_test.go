package usual

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

var (
	aQueue = Place{Queue, [2]uint64{302<<32 | 15, 2}}
	aHop   = Place{Hop, HopKey(302, 1, 15)}
)

// learnFor has u learn 100 values a minute of a place, for so many minutes from one on, and returns the next minute.
func learnFor(u *Usual, p Place, from, minutes int64, value func() (latency, occupancy uint32)) int64 {
	for m := from; m < from+minutes; m++ {
		for n := range int64(100) {
			latency, occupancy := value()
			u.Learn(m*minute+n*minute/100, []Reading{{Place: p, Latency: latency, Occupancy: occupancy}})
		}
	}
	return from + minutes
}

func always(latency, occupancy uint32) func() (uint32, uint32) {
	return func() (uint32, uint32) { return latency, occupancy }
}

func newTest(t *testing.T) *Usual {
	u := newUsual(7, 64)
	t.Cleanup(u.Close)
	return u
}

// TestClasses: each number is in one class, classes follow one another, and none is wider than a quarter of it.
func TestClasses(t *testing.T) {
	for c := range classes {
		low := uint32(0)
		if c > 0 {
			low = most(c-1) + 1
		}
		if classOf(low) != c || classOf(most(c)) != c || middle(c) < low || middle(c) > most(c) || most(c)-low > low/4 {
			t.Errorf("class %d is %d to %d, of classes %d and %d", c, low, most(c), classOf(low), classOf(most(c)))
		}
	}
	if most(classes-1) != math.MaxUint32 {
		t.Errorf("the last class ends at %d", most(classes-1))
	}
}

// TestStatIsThatOfSortedValues: median and 99th percentile are those of the sorted values, but for the width of a class.
func TestStatIsThatOfSortedValues(t *testing.T) {
	u, r := newTest(t), rand.New(rand.NewPCG(1, 2))
	var all []uint32
	learnFor(u, aHop, 1000, 30, func() (uint32, uint32) {
		x := uint32(1700 * (0.7 + 0.6*r.Float64()))
		if r.IntN(40) == 0 {
			x *= 4
		}
		all = append(all, x)
		return x, unknown
	})
	learnFor(u, aHop, 1030, 1, always(1700, unknown)) // ends the last minute
	slices.Sort(all)
	v, ok := u.Of(aHop)
	median, p99 := float64(all[len(all)/2]), float64(all[len(all)*99/100])
	if near := func(x uint32, want float64) bool { return math.Abs(float64(x)-want) <= want/4 }; !ok || !v.Latency.Known ||
		!near(v.Latency.Median, median) || !near(v.Latency.P99, p99) {
		t.Errorf("%+v, want %.0f and %.0f", v, median, p99)
	}
	if v.Since != 1000*minute || v.Occupancy.Known {
		t.Errorf("%+v: want since minute 1000, and no occupancy", v)
	}
}

// TestFewValuesAreUnknown: a place with few values is known, what is usual there is not.
func TestFewValuesAreUnknown(t *testing.T) {
	u := newTest(t)
	for n := range int64(Few - 1) {
		u.Learn(n+1, []Reading{{Place: aQueue, Latency: 5, Occupancy: 6}})
	}
	u.Learn(2*minute, []Reading{{Place: aQueue, Latency: 5, Occupancy: 6}})
	if v, ok := u.Of(aQueue); !ok || v.Latency.Known || v.Occupancy.Known {
		t.Errorf("%+v, %v", v, ok)
	}
	if _, ok := u.Of(Place{Queue, [2]uint64{1}}); ok {
		t.Error("a place that nobody saw is known")
	}
	if _, ok := u.Of(aHop); ok {
		t.Error("a hop that nobody saw is known")
	}
}

// TestLimits: latency and occupancy of a queue make thresholds once they are known.
func TestLimits(t *testing.T) {
	u := newTest(t)
	u.Learn(1000*minute, []Reading{{Place: aQueue, Latency: 1700, Occupancy: 40}})
	if latency, occupancy := u.Limits().Of(aQueue.Key); latency != 0 || occupancy != 0 {
		t.Errorf("after a packet: %d, %d", latency, occupancy)
	}
	learnFor(u, aQueue, 1000, 3, always(1700, 40))
	if latency, occupancy := u.Limits().Of(aQueue.Key); latency < 1700 || latency > 2200 || occupancy < 40 || occupancy > 50 {
		t.Errorf("after three minutes: %d, %d", latency, occupancy)
	}
}

// TestAFaultIsNotLearned: what lasts half a day, far above what is usual, changes nothing; what lasts longer than a day is
// what is usual from then on, and until then what was before. So it is without a latency, too, and of a hop.
// TestAPacketFillsNoQueue: a queue that is usually empty, whose node counts bytes, is held against a packet of full size: one
// that waits is nothing, and is learned; eight are what a threshold is made of. Where nobody knows the unit, eight of it are.
func TestAPacketFillsNoQueue(t *testing.T) {
	for _, packet := range []uint32{0, 1518} {
		u := New(1)
		defer u.Close()
		meet := func(at int64, occupancy uint32) bool {
			_, odd := u.Learn(at, []Reading{{Place: aQueue, Latency: unknown, Occupancy: occupancy, Packet: packet}})
			return odd
		}
		for n := range int64(200) {
			meet(minute+n*minute/200, 0)
		}
		meet(2*minute, 0)
		if _, limit := u.Limits().Of(aQueue.Key); limit != max(packet, 1) {
			t.Errorf("limit %d, where a packet is %d", limit, packet)
		}
		for _, x := range []uint32{1, 7, 8, 1614, 8*1518 - 1, 8 * 1518} {
			if odd := meet(2*minute+int64(x), x); odd != (x >= 8*max(packet, 1)) {
				t.Errorf("%d in a queue where a packet is %d: odd %v", x, packet, odd)
			}
		}
	}
}

func TestAFaultIsNotLearned(t *testing.T) {
	for name, c := range map[string]struct {
		place       Place
		calm, fault func() (uint32, uint32)
		stat        func(Value) Stat
	}{
		"latency":   {aQueue, always(1700, 40), always(1_784_000, 9000), func(v Value) Stat { return v.Latency }},
		"occupancy": {aQueue, always(unknown, 40), always(unknown, 9000), func(v Value) Stat { return v.Occupancy }},
		"hop":       {aHop, always(1700, unknown), always(301_000, unknown), func(v Value) Stat { return v.Latency }},
	} {
		t.Run(name, func(t *testing.T) {
			u := newTest(t)
			next := learnFor(u, c.place, 1000, 5, c.calm)
			next = learnFor(u, c.place, next, patience/2, c.fault)
			v, _ := u.Of(c.place)
			if s := c.stat(v); !s.Known || s.P99 > 2200 {
				t.Errorf("after half a day: %+v", v)
			}
			for m := range int64(patience/2 + 5) {
				next = learnFor(u, c.place, next, 1, c.fault)
				if v, _ = u.Of(c.place); !c.stat(v).Known {
					t.Fatalf("after half a day and %d minutes nothing is known: %+v", m, v)
				}
			}
			if s := c.stat(v); s.P99 < 9000 {
				t.Errorf("after more than a day: %+v", v)
			}
		})
	}
}

// TestAPoisonedBaselineDecays: a quarter of an hour of slow packets at the start raises what is usual, which comes down again.
func TestAPoisonedBaselineDecays(t *testing.T) {
	u := newTest(t)
	next := learnFor(u, aQueue, 1000, 15, always(90_000, 40))
	if v, _ := u.Of(aQueue); v.Latency.P99 < 90_000 {
		t.Errorf("%+v", v)
	}
	next = learnFor(u, aQueue, next, 60, always(1700, 40))
	if v, _ := u.Of(aQueue); v.Latency.Median > 2200 {
		t.Errorf("an hour later the median is %d", v.Latency.Median)
	}
	learnFor(u, aQueue, next, 4*24*60, always(1700, 40))
	if v, _ := u.Of(aQueue); v.Latency.P99 > 2200 {
		t.Errorf("four days later the 99th percentile is %d", v.Latency.P99)
	}
}

// TestWorkersAtTheTurnOfAMinute: samples of two workers, whose bursts are of different ages, end a minute once; a clock that
// was set back by hours does not stop the minutes.
func TestWorkersAtTheTurnOfAMinute(t *testing.T) {
	u := newTest(t)
	next := learnFor(u, aHop, 1000, 30, always(1700, unknown))
	for n := range int64(2000) { // alternately in front of the turn, and behind it
		u.Learn(next*minute-1+n%2, []Reading{{Place: aHop, Latency: 5000, Occupancy: unknown}})
	}
	if v, _ := u.Of(aHop); v.Latency.Median > 2200 {
		t.Errorf("%+v", v)
	}
	learnFor(u, aHop, 500, 30, always(900, unknown))
	learnFor(u, aHop, 530, 200, always(900, unknown))
	if v, _ := u.Of(aHop); v.Latency.Median > 1000 {
		t.Errorf("after the clock was set back: %+v", v)
	}
}

// TestOneFlowDoesNotOutweigh: a minute with many values counts for as much as any other minute.
func TestOneFlowDoesNotOutweigh(t *testing.T) {
	u := newTest(t)
	next := learnFor(u, aHop, 1000, 60, func() (uint32, uint32) { return 1700, unknown })
	for n := range int64(50_000) {
		u.Learn(next*minute+n, []Reading{{Place: aHop, Latency: 50_000, Occupancy: unknown}})
	}
	learnFor(u, aHop, next+1, 2, always(1700, unknown))
	if v, _ := u.Of(aHop); v.Latency.Median > 2200 {
		t.Errorf("%+v", v)
	}
}

// TestPlacesAreBounded: more places than there is room for take the room of the idlest.
func TestPlacesAreBounded(t *testing.T) {
	u := newTest(t)
	for n := range uint64(10_000) {
		for k := range NumKinds {
			u.Learn(int64(n+1)<<20, []Reading{{Place: Place{k, [2]uint64{n << 32}}, Latency: 5, Occupancy: 6}})
		}
	}
	for k := range NumKinds {
		if known, evicted := u.Places(k); known != 64 || evicted != 10_000-64 {
			t.Errorf("%v: %d places, %d evicted", k, known, evicted)
		}
	}
}

// TestNobodyWaits: while a goroutine asks, a packet is not learned, and nothing waits for it.
func TestNobodyWaits(t *testing.T) {
	u := newTest(t)
	u.mu.Lock()
	if ok, _ := u.Learn(1, []Reading{{Place: aHop, Latency: 1, Occupancy: 2}}); ok {
		t.Error("it was learned")
	}
	u.mu.Unlock()
	if ok, _ := u.Learn(1, []Reading{{Place: aHop, Latency: 1, Occupancy: 2}}); !ok {
		t.Error("it was not learned")
	}
}

// TestPathKey: a path's key depends on its hops and their order.
func TestPathKey(t *testing.T) {
	a, b := HopKey(1, 2, 3), HopKey(2, 2, 3)
	if ab, ba := PathKey(PathKey([2]uint64{}, a), b), PathKey(PathKey([2]uint64{}, b), a); ab == ba || ab == PathKey([2]uint64{}, a) {
		t.Errorf("%x and %x", ab, ba)
	}
}

func filled(t *testing.T) *Usual {
	u := newTest(t)
	learnFor(u, aQueue, 1000, 20, always(1700, 40))
	learnFor(u, aHop, 1000, 20, always(1600, unknown))
	learnFor(u, Place{Segment, [2]uint64{1, 2}}, 1000, 20, always(300, unknown))
	learnFor(u, Place{Path, [2]uint64{3, 4}}, 1000, 20, always(5000, unknown))
	return u
}

// TestStateOutlivesARestart: what a file holds is what was known, thresholds of queues included.
func TestStateOutlivesARestart(t *testing.T) {
	before, after := filled(t), newTest(t)
	if err := after.Decode(before.Encode(), 1021*minute); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Place{aQueue, aHop, {Segment, [2]uint64{1, 2}}, {Path, [2]uint64{3, 4}}} {
		want, _ := before.Of(p)
		if got, ok := after.Of(p); !ok || !got.Latency.Known || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %+v, want %+v", p, got, want)
		}
	}
	latency, occupancy := after.Limits().Of(aQueue.Key)
	if latency < 1700 || occupancy < 40 {
		t.Errorf("limits %d, %d", latency, occupancy)
	}
}

// TestAStateThatIsNotTaken: one whose places cannot be read is told, and nothing of it is taken.
func TestAStateThatIsNotTaken(t *testing.T) {
	good := filled(t).Encode()
	change := func(at int, to byte) []byte { b := slices.Clone(good); b[at] = to; return b }
	for name, b := range map[string][]byte{
		"empty": nil, "cut": good[:len(good)-9], "more places": change(3, 200), "no such kind": change(4, 77),
	} {
		u := newTest(t)
		if err := u.Decode(b, 1020*minute); !errors.Is(err, errPlaces) {
			t.Errorf("%s: %v, want %v", name, err, errPlaces)
		}
		if _, ok := u.Of(aQueue); ok {
			t.Errorf("%s: places were taken", name)
		}
	}
}

// FuzzDecode: no state makes Decode fail otherwise than by an error.
func FuzzDecode(f *testing.F) {
	u := newUsual(7, 16)
	u.Learn(1, []Reading{{Place: aQueue, Latency: 5, Occupancy: 6}, {Place: aHop, Latency: 5, Occupancy: unknown}})
	f.Add(u.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		u.Decode(b, 1)
		u.Learn(5*minute, []Reading{{Place: aQueue, Latency: 5, Occupancy: 6}, {Place: aHop, Latency: 5, Occupancy: unknown}})
	})
}

// TestSlow: a hop is slow when three of its last four samples are far above what is usual, with the values of now and of
// before, and no longer when the last ones are as usual, or none come; one sample that is odd, or a place that is not known
// yet, is nothing. Segments are the same; a path is not listed.
func TestSlow(t *testing.T) {
	u, r := newTest(t), rand.New(rand.NewPCG(3, 4))
	aSegment, aPath := Place{Segment, [2]uint64{101 << 32, 202 << 32}}, Place{Path, [2]uint64{5}}
	jitter := func() (uint32, uint32) { return 1700 + uint32(r.IntN(500)), unknown }
	next := int64(0)
	for _, p := range []Place{aHop, aSegment, aPath} {
		next = learnFor(u, p, 1000, 3, jitter)
	}
	now := next * minute
	pass := func(p Place, latencies ...uint32) (odd bool) {
		for _, x := range latencies {
			now += 1e6
			_, odd = u.Learn(now, []Reading{{Place: p, Latency: x, Occupancy: unknown}})
		}
		return odd
	}
	if pass(aHop, 1700, 900_000, 1700, 1700, 900_000, 1700, 900_000, 1800); len(u.Slow(now)) != 0 {
		t.Errorf("some odd packets: %+v", u.Slow(now))
	}
	begin := now
	for _, p := range []Place{aHop, aSegment, aPath} {
		if !pass(p, 300_000, 300_000, 300_000, 300_000, 302_000) {
			t.Errorf("%v: nothing odd", p)
		}
	}
	all := u.Slow(now)
	if len(all) != 2 || all[0].Place != aHop || all[1].Place != aSegment {
		t.Fatalf("slow: %+v", all)
	}
	if s := all[0]; s.Latency < 300_000 || s.Latency > 302_000 || s.Usual.Median < 1700 || s.Usual.Median > 2200 || s.Since > begin+1e6 || s.Last != begin+5e6 {
		t.Errorf("%+v", s)
	}
	if pass(aHop, 1700, 1800, 1700); len(u.Slow(now)) != 1 {
		t.Errorf("as usual again: %+v", u.Slow(now))
	}
	if now += slowSilence; len(u.Slow(now)) != 0 {
		t.Errorf("after a silence: %+v", u.Slow(now))
	}
	if seen := u.Seen(Hop, now-slowSilence-20e6); len(seen) != 1 || seen[0].Place != aHop {
		t.Errorf("seen: %+v", seen)
	}
	for n := range uint64(maxSlow + 100) {
		pass(Place{Hop, [2]uint64{n<<32 | 7}}, 300_000, 300_000, 300_000, 300_000)
	}
	if len(u.slow) > maxSlow {
		t.Errorf("%d are slow", len(u.slow))
	}
}

// TestSegmentThatWasSlowFromTheBegin: one that takes far longer than others between such nodes is doubtful, and those are not, however
// long they take; alone it is doubtful.
func TestSegmentThatWasSlowFromTheBegin(t *testing.T) {
	for name, c := range map[string]struct {
		ns  [3]uint32
		all State
		one State
	}{
		"DC": {[3]uint32{700, 700, 900_000}, Known, Doubtful}, "WAN": {[3]uint32{5_000_000, 9_000_000, 12_000_000}, Known, Known},
	} {
		f := newFabric(t, all(3000))
		for i, ns := range c.ns {
			learnFor(f.u, Place{Segment, [2]uint64{101 << 32, uint64(201+i) << 32}}, 1000, 3, always(ns, unknown))
		}
		f.pass(5)
		for i := range c.ns {
			v, _ := f.u.Of(Place{Segment, [2]uint64{101 << 32, uint64(201+i) << 32}})
			if want := []State{c.all, c.all, c.one}[i]; v.State != want {
				t.Errorf("%s: segment %d is %v, want %v", name, i, v.State, want)
			}
		}
		if b := f.u.Believed(Segment); b.Doubtful == 0 != (c.one == Known) {
			t.Errorf("%s: %+v", name, b)
		}
	}
	u := newTest(t)
	learnFor(u, Place{Segment, [2]uint64{101 << 32, 201 << 32}}, 1000, 3, always(900_000, unknown))
	if v, _ := u.Of(Place{Segment, [2]uint64{101 << 32, 201 << 32}}); v.State != Doubtful {
		t.Errorf("alone: %v", v.State)
	}
}

// TestMadeUpPlacesPushNothingOut: a hundred times as many made-up places of each kind as there is room for, slow ones among them, beside
// real traffic: what is usual at the real ones stays known, a fault there is one within three seconds, and what is slow has room for it.
func TestMadeUpPlacesPushNothingOut(t *testing.T) {
	u := newUsual(7, MaxPlaces)
	defer u.Close()
	real := []Reading{{Place: aQueue, Latency: 1700, Occupancy: 40}, {Place: aHop, Latency: 1700, Occupancy: unknown},
		{Place: Place{Segment, [2]uint64{101 << 32, 202 << 32}}, Latency: 900, Occupancy: unknown}, {Place: Place{Path, [2]uint64{5}}, Latency: 9000, Occupancy: unknown}}
	next := int64(1000)
	for range 10 {
		for n := range int64(40) {
			u.Learn(next*minute+n*minute/40, real)
			u.Learn(next*minute+n*minute/40, []Reading{{Place: Place{Hop, HopKey(666, uint16(n), 2)}, Latency: 5, Occupancy: unknown}})
		}
		next++
	}
	now, n, told := next*minute, uint64(0), int64(0)
	slow := func() bool {
		for _, s := range u.Slow(now) {
			if s.Place == aHop {
				return true
			}
		}
		return false
	}
	const flood = 100 * MaxPlaces / 60 // each second, for a minute
	for second := range int64(63) {
		for i := range flood {
			now += int64(1e9) / flood
			n++
			for k := range NumKinds {
				// Ways of one made-up node, which was fast before.
				made, latency := Place{k, [2]uint64{1<<62 | n<<32, n}}, uint32(5)
				if k == Hop && i%4 != 0 {
					made, latency = Place{k, HopKey(666, uint16(n%3000), 1)}, 9_000_000
				}
				u.Learn(now, []Reading{{Place: made, Latency: latency, Occupancy: 6, Source: uint8(n)}})
			}
			if i%(flood/40) == 0 {
				if second >= 60 {
					real[0].Latency, real[0].Occupancy, real[1].Latency = 1_700_000, 9000, 1_700_000
				}
				u.Learn(now, real)
			}
		}
		if told == 0 && slow() {
			told = second
		}
	}
	if told < 60 || told > 62 {
		t.Errorf("the real hop is slow from second %d on, the fault is there from 60 on", told)
	}
	for i := range real {
		if v, ok := u.Of(real[i].Place); !ok || !v.Latency.Known || v.Since >= next*minute {
			t.Errorf("%v: %+v", real[i].Place, v)
		}
	}
	if latency, occupancy := u.Limits().Of(aQueue.Key); latency == 0 || latency > 2500 || occupancy > 60 {
		t.Errorf("limits %d, %d", latency, occupancy)
	}
}

// TestSlowPlacesHaveRoom: made-up ways that are slow, more than there is room for, make room for one that has been met for longer.
func TestSlowPlacesHaveRoom(t *testing.T) {
	u := newUsual(7, MaxPlaces)
	defer u.Close()
	next := learnFor(u, aHop, 1000, 5, always(1700, unknown))
	next = learnFor(u, Place{Hop, HopKey(666, 1, 1)}, next, 5, always(1700, unknown))
	u.Slow(next * minute)
	for n := range 4 * (maxSlow + 100) {
		u.Learn(next*minute+int64(n), []Reading{{Place: Place{Hop, HopKey(666, uint16(n%(maxSlow+100)), 2)}, Latency: 900_000, Occupancy: unknown}})
	}
	made := len(u.Slow(next*minute + 1e6))
	for n := range int64(4) {
		u.Learn(next*minute+2e6+n, []Reading{{Place: aHop, Latency: 300_000, Occupancy: unknown}})
	}
	all := u.Slow(next*minute + 3e6)
	if made != maxSlow || len(all) != maxSlow || !slices.ContainsFunc(all, func(s Slow) bool { return s.Place == aHop }) {
		t.Errorf("%d made-up ones, then %d", made, len(all))
	}
}

// TestSlowPlacesAreToldSoon: a packet that passes a slow place asks for more samples, though it did not wait; once it is not slow, no more.
func TestSlowPlacesAreToldSoon(t *testing.T) {
	u := newTest(t)
	now := learnFor(u, aHop, 1000, 3, always(1700, unknown)) * minute
	pass := func(ns uint32) bool {
		now += 1e6
		_, soon := u.Learn(now, []Reading{{Place: aHop, Latency: ns, Occupancy: unknown}})
		return soon
	}
	if pass(1700) {
		t.Error("calm")
	}
	for range 4 {
		pass(300_000)
	}
	if !pass(1700) || !u.Slow(now)[0].Calm || !pass(1700) || pass(1700) || len(u.Slow(now)) != 0 {
		t.Errorf("slow: %+v", u.Slow(now))
	}
}
