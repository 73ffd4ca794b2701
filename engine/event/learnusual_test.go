package event

import (
	"testing"

	"intsink/engine/usual"
)

// byUsual are thresholds made of what is usual, with a floor of 100 us.
func byUsual(t *Thresholds) {
	t.CongestionRaise, t.CongestionClear = 0, 0
	t.CongestionFactor, t.CongestionLatency = 8, 100_000
}

// crossedQueue is the key of queued's queue.
var crossedQueue = [2]uint64{7<<32 | 2, 0xff}

// usualFor has f learn for so many minutes that its queue's latency and occupancy are these.
func (f *feed) usualFor(minutes int, occupancy, latency uint32) {
	for range minutes * 100 {
		f.now += 60 * second / 100
		f.d.learn(f.now, queued(occupancy, latency))
	}
}

// TestCongestionByWhatIsUsual: the second of four packets over the floor begins an episode in the first ten minutes, later
// one over eight times the 99th percentile; an occupancy counts with a latency over the floor, and where none is told.
func TestCongestionByWhatIsUsual(t *testing.T) {
	type packet struct {
		occupancy, latency uint32
		congested, fires   bool
	}
	slow, calm := packet{40, 150_000, false, false}, packet{40, 1700, false, false}
	raises := func(p packet) packet { p.congested, p.fires = true, true; return p }
	held := func(p packet) packet { p.congested = true; return p }
	for _, c := range []struct {
		name               string
		minutes            int
		occupancy, latency uint32 // usual ones
		packets            []packet
	}{
		{"floor alone", 0, 0, 0, []packet{slow, calm, calm, raises(slow), {40, 49_999, false, true}, slow, calm, calm, calm, slow, raises(slow)}},
		{"hysteresis", 0, 0, 0, []packet{slow, raises(slow), held(packet{40, 50_000, true, false}), {40, 49_999, false, true}}},
		{"ten minutes at 30 us", 12, 40, 30_000, []packet{slow, slow, slow, {40, 300_000, false, false}, {40, 300_000, true, true}, {40, 100_000, false, true}}},
		{"five minutes at 30 us", 5, 40, 30_000, []packet{slow, raises(slow)}},
		{"occupancy with latency below the floor", 12, 40, 90_000, []packet{{9000, 99_999, false, false}, {9000, 99_999, false, false}}},
		{"occupancy with latency over the floor", 12, 40, 90_000, []packet{{9000, 100_000, false, false}, {9000, 100_000, true, true},
			{200, 100_000, true, false}, {100, 100_000, false, true}}},
		{"occupancy without latency", 3, 40, unknown32, []packet{{9000, unknown32, false, false}, {9000, unknown32, true, true}, {100, unknown32, false, true}}},
		{"occupancy that nothing is known of", 0, 0, 0, []packet{{9000, unknown32, false, false}, {9000, unknown32, false, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := watching(Congestion)
			byUsual(&p.Thresholds)
			f := begun(t, p)
			defer f.d.Close()
			f.usualFor(c.minutes, c.occupancy, c.latency)
			for n, want := range c.packets {
				got := f.look(ms, queued(want.occupancy, want.latency)).Has(Congestion)
				q := f.d.fabric.Queues.Find(crossedQueue)
				if is := q != nil && q.Congested; is != want.congested || got != want.fires {
					t.Errorf("packet %d, %+v: congested %v, reported %v", n, want, is, got)
				}
			}
		})
	}
}

// TestSuspicionEnds: two slow packets with more than the timeout between them are no congestion.
func TestSuspicionEnds(t *testing.T) {
	p := watching(Congestion)
	byUsual(&p.Thresholds)
	f := begun(t, p)
	defer f.d.Close()
	for n := range 5 {
		if f.look(second, queued(40, 150_000)).Has(Congestion) {
			t.Errorf("packet %d begins an episode", n)
		}
	}
}

// TestLearnsPlaces: a sampled packet tells of its queues, hops, segments and path.
func TestLearnsPlaces(t *testing.T) {
	f := begun(t, watching(Congestion))
	defer f.d.Close()
	f.usualFor(3, 40, 1700)
	for kind, want := range map[usual.Kind]int{usual.Queue: 1, usual.Hop: 1, usual.Segment: 0, usual.Path: 1} {
		if n, _ := f.d.shared.usual.Places(kind); n != want {
			t.Errorf("%d places are a %v, want %d", n, kind, want)
		}
	}
	v, ok := f.d.shared.usual.Of(usual.Place{Kind: usual.Hop, Key: usual.HopKey(7, 1, 2)})
	if !ok || !v.Latency.Known || v.Latency.Median < 1500 || v.Latency.Median > 1900 {
		t.Errorf("%+v, %v", v, ok)
	}
}

// TestSamplesOfSlowTraffic: with few packets a second, more than one in 256 is a sample, a hundred a second.
func TestSamplesOfSlowTraffic(t *testing.T) {
	for rate, want := range map[int64][2]int{1650: {80, 125}, 100: {90, 101}, 10: {9, 11}, 1_000_000: {3600, 4000}, 10_000_000: {9000, 10_300}} {
		d, samples, seconds := New(nil, 1), 0, int64(3)
		if rate <= 100 {
			seconds = 40
		}
		for n := range seconds * rate {
			d.Samples.Count((n+1)*second/rate, 1)
			if d.Samples.Look() > 0 {
				d.Samples.Skip()
				if n >= (seconds-1)*rate {
					samples++
				}
			}
		}
		if d.Close(); samples < want[0] || samples > want[1] {
			t.Errorf("%d of %d packets in a second are samples, want %d to %d", samples, rate, want[0], want[1])
		}
	}
}
