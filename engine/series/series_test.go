package series

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"intsink/engine/usual"
)

// noon is some whole minute.
const noon = int64(1_700_000_040_000_000_000)

func queue(n uint64) usual.Place { return usual.Place{Kind: usual.Queue, Key: [2]uint64{n << 32, 1}} }

func newTest(t *testing.T, n int) *Places {
	p := newPlaces(7, &[usual.NumKinds]int{n, n, n, n})
	t.Cleanup(p.Close)
	return p
}

func span(t *testing.T, now int64, back, step time.Duration) *Span {
	t.Helper()
	s, err := NewSpan(time.Unix(0, now), time.Unix(0, now).Add(-back), time.Unix(0, now), step)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPointsOfEachSecond: median, 99th percentile and maximum of a second are those of its samples, to 6 % and a
// thousandth; a second without samples is unknown; a minute has those of all its seconds.
func TestPointsOfEachSecond(t *testing.T) {
	p, r := newTest(t, 8), rand.New(rand.NewPCG(1, 2))
	var minutes []uint32
	bySecond := map[int][]uint32{}
	for s := range 60 {
		if s%7 == 3 {
			continue
		}
		for i := range 400 {
			x := uint32(1700 + r.IntN(500))
			if i%100 == 5 {
				x = 300_000 + uint32(s)
			}
			bySecond[s], minutes = append(bySecond[s], x), append(minutes, x)
			p.Add(noon+int64(s)*second+int64(i), []usual.Reading{{Place: queue(9), Latency: x, Occupancy: unknown}})
		}
	}
	near := func(what string, got, want uint32, exact float64) {
		t.Helper()
		if d := float64(got)/float64(want) - 1; d > exact || d < -exact {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	check := func(what string, x Point, all []uint32) {
		t.Helper()
		if x.Known != (len(all) > 0) {
			t.Errorf("%s: known %v of %d samples", what, x.Known, len(all))
		}
		if len(all) > 0 {
			slices.Sort(all)
			near(what+" median", x.Median, all[len(all)/2], 0.07)
			near(what+" p99", x.P99, all[len(all)*99/100-1], 0.13)
			near(what+" max", x.Max, all[len(all)-1], 0.001)
		}
	}
	now := noon + 60*second
	got := p.Of(queue(9), span(t, now, time.Minute, 0))
	if len(got.Latency) != 60 || len(got.Occupancy) != 60 || got.Occupancy[0].Known {
		t.Fatalf("%d points of latency, %d of occupancy", len(got.Latency), len(got.Occupancy))
	}
	for s, x := range got.Latency {
		check("second", x, bySecond[s])
	}
	got = p.Of(queue(9), span(t, now+10*second, 12*time.Minute, time.Minute))
	check("minute", got.Latency[len(got.Latency)-1], minutes)
	if got := p.Of(queue(8), span(t, now, time.Minute, 0)); got != nil {
		t.Errorf("a place that was never seen has %+v", got)
	}
}

// TestOldPointsGo: after a silence nothing of what was before stands in a new place; ten minutes by seconds and a day by
// minutes are there, and no more; a clock that is set back begins anew.
func TestOldPointsGo(t *testing.T) {
	p := newTest(t, 8)
	add := func(at int64) { p.Add(at, []usual.Reading{{Place: queue(1), Latency: 5, Occupancy: 6}}) }
	known := func(now int64, back, step time.Duration) (n int) {
		for _, x := range p.Of(queue(1), span(t, now, back, step)).Latency {
			if x.Known {
				n++
			}
		}
		return n
	}
	for s := range int64(2000) {
		add(noon + s*second)
	}
	now := noon + 2000*second
	if n := known(now, 10*time.Minute, 0); n != 600 {
		t.Errorf("%d seconds are known", n)
	}
	if n := known(now, 24*time.Hour, 0); n != 33 {
		t.Errorf("%d minutes are known", n)
	}
	now += 550 * second
	add(now)
	if n := known(now+second, 10*time.Minute, 0); n != 50 {
		t.Errorf("%d seconds are known after a silence", n)
	}
	now += 25 * 3600 * second
	add(now)
	if n := known(now+second, 24*time.Hour, 0); n != 0 {
		t.Errorf("%d minutes are known after a day", n)
	}
	add(noon)
	add(noon + second)
	if n := known(noon+2*second, 10*time.Minute, 0); n != 2 {
		t.Errorf("%d seconds are known after the clock was set back", n)
	}
}

// TestPlacesAreBounded: so many places of each kind, however many are named; those that are idle make room, and those that
// are not keep theirs; nothing is allocated.
func TestPlacesAreBounded(t *testing.T) {
	p := newTest(t, 64)
	one := make([]usual.Reading, 1)
	add := func(now int64, n uint64) {
		one[0] = usual.Reading{Place: queue(n), Latency: uint32(n), Occupancy: 1}
		p.Add(now, one)
	}
	for n := range uint64(64) {
		add(noon, n)
	}
	for n := range uint64(1000) {
		add(noon+second, 100+n)
	}
	keys, left := p.Keys(usual.Queue, 0)
	if len(keys) != 64 || left != 1000 || slices.ContainsFunc(keys, func(k [2]uint64) bool { return k[0]>>32 >= 64 }) {
		t.Errorf("%d places, %d left out", len(keys), left)
	}
	for n := range uint64(32) {
		add(noon+50*second, n)
	}
	for round := range uint64(3) {
		for n := range uint64(64) {
			add(noon+100*second, 1000+100*round+n)
		}
	}
	if keys, _ = p.Keys(usual.Queue, 0); len(keys) != 64 {
		t.Errorf("%d places", len(keys))
	}
	for n := range uint64(32) {
		l := p.Of(queue(n), span(t, noon+2*second, 5*time.Second, 0))
		if l == nil || l.Latency[3].Max != uint32(n) || !l.Latency[3].Known {
			t.Errorf("place %d has lost its points: %+v", n, l)
		}
	}
	fresh := 0
	for n := range uint64(64) {
		if l := p.Of(queue(1000+n), span(t, noon+101*second, 200*time.Second, 0)); l != nil {
			fresh++
			if l.Latency[199].Max != uint32(1000+n) || slices.ContainsFunc(l.Latency[:199], func(x Point) bool { return x.Known }) {
				t.Errorf("a place that took another's has %+v", l)
			}
		}
	}
	if fresh < 24 {
		t.Errorf("%d places made room of 32 that were idle", fresh)
	}
	n := uint64(0)
	if got := testing.AllocsPerRun(1000, func() { n++; add(noon+int64(n)*100*second, 5000+n) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
	if size := unsafe.Sizeof(track{}); size > 9<<10+512 {
		t.Errorf("a track is %d bytes", size)
	}
}

// TestIndex compares the index with a map while places come and go.
func TestIndex(t *testing.T) {
	p, r := newTest(t, 32), rand.New(rand.NewPCG(3, 4))
	kind := &p.kinds[usual.Path]
	now := noon
	for range 200_000 {
		now += int64(r.IntN(5)) * second
		key := [2]uint64{uint64(r.IntN(80)), 7}
		at := kind.get(key, now)
		if at < 0 {
			continue
		}
		if kind.places[at].key != key || kind.index[kind.slot(key)] != int32(at+1) {
			t.Fatalf("place %d of %v has %v", at, key, kind.places[at])
		}
	}
	n := 0
	for _, x := range kind.index {
		if x != 0 {
			n++
		}
	}
	if n != kind.used {
		t.Errorf("%d in the index, %d places", n, kind.used)
	}
	for i := range kind.places {
		if kind.index[kind.slot(kind.places[i].key)] != int32(i+1) {
			t.Errorf("place %d is not found", i)
		}
	}
}

// TestCounts: what a counter grew by in each second and minute; a gap is unknown, and a counter that begins anew counts
// from zero.
func TestCounts(t *testing.T) {
	c := NewCounts()
	t.Cleanup(c.Close)
	value := uint64(1000)
	for s := range int64(120) {
		value += uint64(s)
		if s < 50 || s >= 55 {
			c.Look(noon+s*second, "x", value)
		}
	}
	got := c.Of("x", span(t, noon+120*second, 2*time.Minute, 0))
	for s, x := range got {
		want := Count{true, uint64(s)}
		switch {
		case s == 0 || s >= 50 && s < 55:
			want = Count{}
		case s == 55:
			want.N = 50 + 51 + 52 + 53 + 54 + 55
		}
		if x != want {
			t.Errorf("second %d: %+v, want %+v", s, x, want)
		}
	}
	if m := c.Of("x", span(t, noon+120*second, 24*time.Hour, time.Minute)); m[len(m)-1] != (Count{true, 119*120/2 - 59*60/2}) || m[len(m)-3].Known {
		t.Errorf("minutes %+v", m[len(m)-3:])
	}
	c.Look(noon+121*second, "x", 7)
	if got := c.Of("x", span(t, noon+122*second, 2*time.Second, 0)); got[1] != (Count{true, 7}) || got[0].Known {
		t.Errorf("after a restart %+v", got)
	}
	for n := range 2 * MostRows {
		c.Look(noon, string(rune('a'+n)), 1)
	}
	if len(c.names) != MostRows || c.Of("nobody", span(t, noon, time.Second, 0)) != nil {
		t.Errorf("%d rows", len(c.names))
	}
}

// TestSpan: what cannot be answered is refused; a step of several units joins their points.
func TestSpan(t *testing.T) {
	now := time.Unix(0, noon)
	for name, c := range map[string]struct {
		since, until time.Duration // before now
		step         time.Duration
	}{
		"older than what is kept": {25*time.Hour + time.Minute, 0, 0},
		"until before since":      {time.Minute, 2 * time.Minute, 0},
		"half a second":           {time.Minute, 0, time.Second / 2},
		"seconds of an hour":      {time.Hour, 0, time.Second},
		"a minute and 30 seconds": {time.Hour, 0, 90 * time.Second},
	} {
		if _, err := NewSpan(now, now.Add(-c.since), now.Add(-c.until), c.step); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	p := newTest(t, 8)
	for s := range int64(60) {
		p.Add(noon+s*second, []usual.Reading{{Place: queue(1), Latency: uint32(s % 8), Occupancy: unknown}})
	}
	s := span(t, noon+60*second, time.Minute, 10*time.Second)
	l := p.Of(queue(1), s)
	if len(l.Latency) != 6 || l.Latency[0] != (Point{Known: true, Median: 2, P99: 7, Max: 7}) || s.Step() != 10*time.Second || !s.Begin().Equal(now) {
		t.Errorf("%v %v %+v", s.Begin(), s.Step(), l.Latency)
	}
}

// TestClasses: every number is in its class, and what is kept of it is as exact as Point says.
func TestClasses(t *testing.T) {
	for _, x := range []uint32{0, 1, 7, 8, 9, 15, 16, 17, 2047, 2048, 2049, 4095, 4096, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 2} {
		low, high := bounds(classOf(x))
		if x < low || x > high || uint64(high) > uint64(low)+uint64(low)/8 || classOf(x) >= classes {
			t.Errorf("%d is in class %d, %d to %d", x, classOf(x), low, high)
		}
		if y := long(short(x)); y > x || float64(x-y) > float64(x)/1000 {
			t.Errorf("%d is kept as %d", x, y)
		}
	}
}
