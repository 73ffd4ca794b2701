package event

import (
	"testing"

	"intsink/engine/usual"
	"intsink/flows"
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
		f.d.learn(f.now, &f.f, true, &f.d.policies[0], queued(occupancy, latency))
	}
}

// TestCongestionByWhatIsUsual: the second of four packets over the floor and over eight times the 99th percentile begins an
// episode, none as long as nobody knows what is usual; an occupancy counts with a latency over the floor, and where none is told. A
// latency of a queue that is as full as usual is none of its business. It ends with the first packet after a second without
// one over its threshold, once the last four were calm.
func TestCongestionByWhatIsUsual(t *testing.T) {
	type packet struct {
		after              int64
		occupancy, latency uint32
		congested, fires   bool
	}
	slow, calm := packet{ms, unknown32, 150_000, false, false}, packet{ms, unknown32, 1700, false, false}
	raises := func(p packet) packet { p.congested, p.fires = true, true; return p }
	held := func(p packet) packet { p.congested = true; return p }
	later := func(p packet, after int64) packet { p.after = after; return p }
	end := packet{second, unknown32, 1700, false, true}
	for _, c := range []struct {
		name               string
		minutes            int
		occupancy, latency uint32 // usual ones
		packets            []packet
	}{
		{"floor alone", 2, unknown32, 1700, []packet{slow, calm, calm, raises(slow), held(calm), held(calm), held(calm), held(calm), end, slow, calm, calm, calm, slow, raises(slow)}},
		{"no calm without four calm ones", 2, unknown32, 1700, []packet{slow, raises(slow), held(calm), held(later(calm, second)), held(calm), {ms, unknown32, 1700, false, true}}},
		{"half of the threshold is not calm", 2, unknown32, 1700, []packet{slow, raises(slow), held(packet{second, unknown32, 50_000, true, false}), held(calm), held(calm), held(calm), end}},
		{"bursts a second apart are one episode", 2, unknown32, 1700, []packet{slow, raises(slow), held(calm), held(calm), held(calm), held(calm), held(later(slow, second-10*ms)),
			raises(slow), held(calm), held(calm), held(calm), held(calm), held(later(calm, second-10*ms)), end}},
		{"those that repeat are one episode", 2, unknown32, 1700, []packet{slow, raises(slow), held(calm), held(calm), held(calm), held(calm), end, later(slow, 4*second), raises(slow),
			held(calm), held(calm), held(calm), held(calm), held(later(calm, 9*second)), later(end, 2*second)}},
		{"ten minutes at 30 us", 12, 40, 30_000, []packet{slow, slow, slow, {ms, 100, 200_000, false, false}, {ms, 100, 300_000, false, false}, {ms, 100, 300_000, true, true}}},
		{"as full as usual", 12, 40, 30_000, []packet{{ms, 40, 300_000, false, false}, {ms, 40, 300_000, false, false}, {ms, 40, 300_000, false, false}}},
		{"two minutes at 30 us", 2, 40, 30_000, []packet{slow, slow, slow, {ms, 100, 300_000, false, false}, {ms, 100, 300_000, true, true}}},
		{"nothing is known", 0, 0, 0, []packet{slow, slow, slow, {ms, 9000, 5_000_000, false, false}, {ms, 9000, 5_000_000, false, false}}},
		{"occupancy with latency below the floor", 12, 40, 90_000, []packet{{ms, 9000, 99_999, false, false}, {ms, 9000, 99_999, false, false}}},
		{"occupancy with latency over the floor", 12, 40, 90_000, []packet{{ms, 9000, 100_000, false, false}, {ms, 9000, 100_000, true, true},
			{second, 200, 100_000, true, false}, {ms, 100, 100_000, true, false}, {ms, 100, 100_000, true, false}, {ms, 100, 100_000, true, false}, {ms, 100, 100_000, false, true}}},
		{"occupancy without latency", 3, 40, unknown32, []packet{{ms, 9000, unknown32, false, false}, {ms, 9000, unknown32, true, true}}},
		{"occupancy that nothing is known of", 0, 0, 0, []packet{{ms, 9000, unknown32, false, false}, {ms, 9000, unknown32, false, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := watching(Congestion)
			byUsual(&p.Thresholds)
			f := begun(t, p)
			defer f.d.Close()
			f.usualFor(c.minutes, c.occupancy, c.latency)
			for n, want := range c.packets {
				f.d.sampling = true // as a packet of a queue that is calm in an episode has to be, or C passes it
				got := f.look(want.after, queued(want.occupancy, want.latency)).Has(Congestion)
				q := f.d.fabric.Queues.Find(crossedQueue)
				if is := q != nil && q.Congested; is != want.congested || got != want.fires {
					t.Errorf("packet %d, %+v: congested %v, reported %v", n, want, is, got)
				}
			}
		})
	}
}

// TestAnEpisodeIsHeldAgainstWhatIsKnownNow: an episode ends once what it is made of turns out to be usual.
func TestAnEpisodeIsHeldAgainstWhatIsKnownNow(t *testing.T) {
	p := watching(Congestion)
	byUsual(&p.Thresholds)
	f := begun(t, p)
	defer f.d.Close()
	f.d.shared.usual.Limits().Set(crossedQueue, 1700, 0)
	for range 4 {
		f.look(ms, queued(unknown32, 450_000))
	}
	congested := func() bool { return f.d.fabric.Queues.Find(crossedQueue).Congested }
	if !congested() {
		t.Fatal("there is no episode")
	}
	f.d.shared.usual.Limits().Set(crossedQueue, 500_000, 0)
	for range 3000 {
		f.look(ms, queued(unknown32, 450_000))
	}
	if congested() {
		t.Error("at 0.9 times what is usual the episode goes on")
	}
}

// TestFloor: the lowest floor of a watch by what is usual is that of slow hops, too.
func TestFloor(t *testing.T) {
	for want, floors := range map[uint32][]uint32{100_000: nil, 1_000_000: {1_000_000}, 20_000: {1_000_000, 20_000}} {
		var policies []Policy
		for _, ns := range floors {
			p := watching(Congestion)
			byUsual(&p.Thresholds)
			p.Thresholds.CongestionLatency = ns
			policies = append(policies, p)
		}
		d := New(append(policies, watching(NewFlow)), 1)
		if v, _ := d.Usual().Of(usual.Place{}); v.Floor != want {
			t.Errorf("%v: %d, want %d", floors, v.Floor, want)
		}
		d.Close()
	}
}

// TestLatencyOfAnEpisode: while a queue is in an episode by what is usual, the flows that pass it do not tell of its latency one
// by one, nor of their whole way's; those whose watch hears of no episodes do.
func TestLatencyOfAnEpisode(t *testing.T) {
	for _, c := range []struct {
		events   []Event
		withheld bool
	}{{[]Event{Congestion, HopLatency, EndToEnd}, true}, {[]Event{HopLatency, EndToEnd}, false}} {
		policies := []Policy{watching(Congestion), watching(c.events...)}
		for i := range policies {
			byUsual(&policies[i].Thresholds)
			policies[i].Thresholds.Latency, policies[i].Thresholds.EndToEnd = Deadband{10_000, 0.5, 2, 4, 0}, Deadband{10_000, 0.5, 2, 4, 0}
		}
		d, now, f := New(policies, 7), int64(second), [2]flows.Flow{{Watch: 0}, {Watch: 1}}
		d.shared.usual.Limits().Set(crossedQueue, 1700, 0)
		pass := func(n int, latency uint32) Set {
			now += ms
			return d.Packet(now, &f[n], false, n, queued(unknown32, latency)) &^ Congestion.Set()
		}
		got, bursts := Set(0), 20
		for range bursts {
			for n := range 8 {
				pass(0, 150_000)
				got |= pass(1, 3000+uint32(min(n, 1))*200_000)
			}
			for range 8 {
				pass(0, 3000)
				got |= pass(1, 3000)
			}
		}
		n := d.Counters.Suppressed[HopLatency][SuppressEpisode]
		if d.Close(); (got == 0) != c.withheld || (n > uint64(bursts)) != c.withheld || d.Counters.Suppressed[EndToEnd][SuppressEpisode] != n {
			t.Errorf("watch of %v: reported %b, %d withheld", c.events, got, n)
		}
	}
}

// TestSuspicionEnds: two slow packets with more than ten timeouts between them are no congestion; with less they are, or a queue
// with few packets would never be full.
func TestSuspicionEnds(t *testing.T) {
	for after, want := range map[int64]bool{10 * second: false, 10*second - ms: true} {
		p := watching(Congestion)
		byUsual(&p.Thresholds)
		f := begun(t, p)
		f.usualFor(2, unknown32, 1700)
		fired := false
		for range 5 {
			fired = f.look(after, queued(unknown32, 150_000)).Has(Congestion) || fired
		}
		if f.d.Close(); fired != want {
			t.Errorf("packets %d ms apart: %v", after/ms, fired)
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

// TestOneHostTeachesLittle: where others speak, packets of one host, however many, do not move what is usual.
func TestOneHostTeachesLittle(t *testing.T) {
	f := start(t, Policy{})
	say := func(host uint32, occupancy, latency uint32, times int) {
		f.f.Key.SetPorts(4, 17, 1, 2)
		f.f.Key.SetIPv4(0x0a000000+host, 1)
		for range times {
			f.d.learn(f.now, &f.f, true, &f.d.policies[0], queued(occupancy, latency))
		}
	}
	for range 60 * 24 {
		for host := range uint32(20) {
			say(host, 40, 30_000, 1)
		}
		say(99, 100, 150_000, 60)
		f.now += 60 * second
	}
	if v, _ := f.d.Usual().Of(usual.Place{Kind: usual.Queue, Key: crossedQueue}); !v.Latency.Known || v.Latency.P99 > 35_000 || v.Occupancy.P99 > 50 {
		t.Errorf("%+v", v)
	}
}
