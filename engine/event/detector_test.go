package event

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

const (
	ms     = int64(1e6)
	second = int64(1e9)
	bitmap = inthdr.BitNodeID | inthdr.BitLevel1Interfaces | inthdr.BitHopLatency
)

type hop struct{ node, ports, latency uint32 }

// path is three hops with the given egress of the first and latency of the second.
func path(egress, latency uint32) []hop {
	return []hop{{103, 0x10002, 5000}, {102, 0x10002, latency}, {101, 0x10000 | egress, 5000}}
}

func observe(hops []hop) *Observation {
	var b []byte
	for _, h := range hops {
		b = binary.BigEndian.AppendUint32(b, h.node)
		b = binary.BigEndian.AppendUint32(b, h.ports)
		b = binary.BigEndian.AppendUint32(b, h.latency)
	}
	layout := inthdr.LayoutOf(bitmap, inthdr.Format2)
	return &Observation{Frame: b, Layout: &layout, Info: &inthdr.Info{
		Type: inthdr.MD, Bitmap: bitmap, HopLen: 12, Hops: uint16(len(hops)), StackLen: uint16(len(b)),
	}}
}

func defaults(events ...Event) Policy {
	p := Policy{Thresholds: Thresholds{
		NewFlowRate: 20000, Paths: 4, PathMemory: 60 * second, PathRate: 10,
		Latency:      Deadband{Absolute: 10_000, Relative: 0.5, K: 2, N: 4, Interval: 100 * ms},
		RefreshEvery: 2 * second, RefreshJitter: 0.2,
	}}
	for _, e := range events {
		p.Events |= e.Set()
	}
	return p
}

// feed gives packets to one flow and compares the events of each.
type feed struct {
	t     *testing.T
	d     *Detector
	f     flows.Flow
	now   int64
	fresh bool
}

func start(t *testing.T, p Policy) *feed {
	return &feed{t: t, d: New([]Policy{p}, 42), now: second, fresh: true}
}

func (f *feed) packet(after int64, hops []hop, want Set) {
	f.t.Helper()
	f.observed(after, observe(hops), want)
}

func (f *feed) observed(after int64, o *Observation, want Set) {
	f.t.Helper()
	f.now += after
	if got := f.d.Packet(f.now, &f.f, f.fresh, 0, o); got != want {
		f.t.Errorf("at %d ms: events %b, want %b", f.now/ms, got, want)
	}
	f.fresh = false
}

func TestFirstPacketIsANewFlowOnly(t *testing.T) {
	f := start(t, defaults(NewFlow, PathChange, HopLatency, Refresh))
	f.packet(0, path(2, 90_000), NewFlow.Set())
	f.packet(ms, path(2, 90_000), 0)
}

func TestNewFlowsHaveARate(t *testing.T) {
	p := defaults(NewFlow)
	p.Thresholds.NewFlowRate = 2
	d := New([]Policy{p}, 1)
	got := 0
	for _, at := range []int64{0, 1, 2, 500 * ms} {
		var f flows.Flow
		if d.Packet(second+at, &f, true, 0, observe(path(2, 0))) != 0 {
			got++
		}
	}
	if got != 3 || d.Counters.Fired[NewFlow] != 4 || d.Counters.Suppressed[NewFlow][SuppressRate] != 1 {
		t.Errorf("%d reported, counters %+v; want 3 of 4", got, d.Counters)
	}
}

// TestFlowsAreNotNewAfterARestart: a sink that ran a moment ago reports no new flows for a while, and counts them; they are
// not reported later, those that come later are.
func TestFlowsAreNotNewAfterARestart(t *testing.T) {
	for warm, want := range map[bool]int{true: 1, false: 3} {
		p := defaults(NewFlow)
		p.Thresholds.NewFlowAfter = 10 * second
		s := NewShared(1)
		if warm {
			s.Warm(100 * second)
		}
		d := New([]Policy{p}, 1)
		d.Share(s)
		got := 0
		var f [3]flows.Flow
		for again := range 2 {
			for i, at := range []int64{100 * second, 110*second - 1, 110 * second} {
				if d.Packet(at, &f[i], again == 0, 0, observe(path(2, 0))).Has(NewFlow) {
					got++
				}
			}
		}
		if c := &d.Counters; got != want || c.Fired[NewFlow] != 3 || c.Suppressed[NewFlow][SuppressRestart] != uint64(3-want) {
			t.Errorf("warm %v: %d reported, counters %+v", warm, got, c)
		}
		s.Close()
	}
}

func TestPaths(t *testing.T) {
	f := start(t, defaults(PathChange))
	f.packet(0, path(2, 0), 0)
	f.packet(ms, path(3, 0), PathChange.Set())
	f.packet(ms, path(2, 0), 0) // known: a switch, counted only
	f.packet(ms, path(3, 0), 0)
	if n := f.d.Counters.Fired[PathSwitch]; n != 2 {
		t.Errorf("%d switches, want 2", n)
	}
	mtu := observe(path(9, 0))
	mtu.Info.MTUExceeded = true
	f.observed(ms, mtu, 0)
	odd := observe(path(9, 0))
	odd.Info.Reason = inthdr.ReasonStack
	f.observed(ms, odd, 0)
	f.packet(ms, []hop{{103, 0x10002, 0}, {102, unknown32, 0}}, 0)
	f.packet(ms, []hop{{unknown32, 0x10002, 0}}, 0)
	f.packet(61*second, path(2, 0), PathChange.Set()) // forgotten meanwhile
	f.packet(ms, path(2, 0)[1:], PathChange.Set())    // a hop less
}

func TestAWithheldPathIsNotLearned(t *testing.T) {
	p := defaults(PathChange)
	p.Thresholds.PathRate = 1
	f := start(t, p)
	f.packet(0, path(1, 0), 0)
	f.packet(ms, path(2, 0), PathChange.Set())
	f.packet(ms, path(3, 0), 0) // no token left
	f.packet(ms, path(3, 0), 0)
	f.packet(second, path(3, 0), PathChange.Set())
	f.packet(ms, path(3, 0), 0)
}

func TestHopLatencyKOfN(t *testing.T) {
	f := start(t, defaults(HopLatency))
	f.packet(0, path(2, 20_000), 0)
	for i := range uint32(50) { // jitter inside max(10 us, half of 20 us)
		f.packet(ms, path(2, 10_000+i%2*20_000), 0)
	}
	f.packet(ms, path(2, 31_000), 0)
	f.packet(ms, path(2, unknown32), 0) // takes no place among the n
	f.packet(ms, path(2, 32_000), HopLatency.Set())
	f.packet(200*ms, path(2, 33_000), 0) // 32 us is the reference now
	f.packet(ms, path(2, 60_000), 0)
	f.packet(ms, path(2, 33_000), 0)
	f.packet(ms, path(2, 33_000), 0)
	f.packet(ms, path(2, 33_000), 0)
	f.packet(ms, path(2, 60_000), 0) // one of the last four only
}

func TestHopLatencyStaysPendingInItsInterval(t *testing.T) {
	f := start(t, defaults(HopLatency))
	f.packet(0, path(2, 20_000), 0)
	f.packet(ms, path(2, 50_000), 0)
	f.packet(ms, path(2, 50_000), HopLatency.Set())
	for range 40 {
		f.packet(ms, path(2, 150_000), 0)
	}
	f.packet(70*ms, path(2, 160_000), HopLatency.Set())
	f.packet(ms, path(2, 160_000), 0)
}

func TestASlowDriftIsFound(t *testing.T) {
	f := start(t, defaults(HopLatency))
	f.packet(0, path(2, 100_000), 0)
	reported := 0
	for x := uint32(100_000); x < 160_000; x += 100 {
		f.now += ms
		if f.d.Packet(f.now, &f.f, false, 0, observe(path(2, x))) == HopLatency.Set() {
			reported++
			if x != 150_200 { // the second value more than half above 100 us
				t.Errorf("reported at %d ns, want 150200", x)
			}
		}
	}
	if reported != 1 {
		t.Errorf("%d reports of one drift, want 1", reported)
	}
}

func TestAHopIsItsNodeID(t *testing.T) {
	f := start(t, defaults(HopLatency))
	f.packet(0, []hop{{2, 1, 100_000}, {1, 1, 5000}}, 0)
	for range 5 {
		f.packet(ms, []hop{{1, 1, 5000}, {2, 1, 100_000}}, 0)
	}
}

func TestRefresh(t *testing.T) {
	f := start(t, defaults(Refresh))
	f.packet(0, path(2, 0), 0)
	f.packet(1599*ms, path(2, 0), 0)
	f.packet(801*ms, path(2, 0), Refresh.Set())
	f.packet(1599*ms, path(2, 0), 0)
	f.packet(802*ms, path(2, 0), Refresh.Set())
}

// TestRefreshesGetRarer: each refresh doubles the time to the next, up to most; any other report of the flow puts the next one off
// by as long. While another flow is reported for a change those of flows without news wait, up to most after their last report.
func TestRefreshesGetRarer(t *testing.T) {
	p := defaults(Refresh, HopLatency)
	p.Thresholds.RefreshJitter, p.Thresholds.RefreshMost = 0, 7*second
	f := start(t, p)
	f.packet(0, path(2, 5000), 0)
	for _, after := range []int64{2000, 4000, 7000, 7000} { // 5 ms late each, as are the times between
		f.packet((after-5)*ms, path(2, 5000), 0)
		f.packet(10*ms, path(2, 5000), Refresh.Set())
	}
	f.packet(ms, path(2, 90_000), 0)
	f.packet(ms, path(2, 90_000), HopLatency.Set())
	f.packet(7*second-10*ms, path(2, 90_000), 0)
	f.packet(20*ms, path(2, 90_000), Refresh.Set())

	f = start(t, p)
	f.packet(0, path(2, 5000), 0)
	f.packet(2*second, path(2, 5000), Refresh.Set())
	noisy := flows.Flow{}
	noisy.Key.SetIPv4(9, 9)
	refreshed := int64(0)
	for n := int64(0); n < 200 && refreshed == 0; n++ {
		f.now += 50 * ms
		latency := uint32(5000)
		if n/10%2 == 1 {
			latency = 90_000
		}
		f.d.Packet(f.now, &noisy, n == 0, 0, observe(path(3, latency)))
		if f.d.Packet(f.now, &f.f, false, 0, observe(path(2, 5000))).Has(Refresh) {
			refreshed = (n + 1) * 50
		}
	}
	if refreshed < 7000 || refreshed > 9000 {
		t.Errorf("while another flow is noisy, the refresh comes after %d ms", refreshed)
	}
}

// TestAWayBackIsNews: refreshes wait after a way back, too, where the way there was reported, and not where it was none.
func TestAWayBackIsNews(t *testing.T) {
	p := defaults(Refresh, PathChange)
	p.Thresholds.RefreshJitter, p.Thresholds.RefreshMost = 0, 60*second
	f, mover := start(t, p), flows.Flow{}
	mover.Key.SetIPv4(9, 9)
	move := func(to uint32, want Set) {
		t.Helper()
		if got := f.d.Packet(f.now, &mover, mover.NumPaths == 0, 0, observe(path(to, 5000))); got != want {
			t.Errorf("to %d: %b, want %b", to, got, want)
		}
	}
	move(2, 0)
	f.packet(0, path(2, 5000), 0)
	f.packet(2*second, path(2, 5000), Refresh.Set())
	move(3, PathChange.Set()|Refresh.Set())
	f.packet(1500*ms, path(2, 5000), 0)
	move(2, 0)
	f.packet(1990*ms, path(2, 5000), 0) // two seconds since the move are over, and so is the time of the refresh
	f.packet(10*ms, path(2, 5000), 0)
	f.packet(2500*ms, path(2, 5000), Refresh.Set())
	f.now += 10 * second
	f.d.Packet(f.now, &mover, false, 0, observe(path(2, 5000)))
	f.now += 10 * second
	if f.d.Packet(f.now, &mover, false, 0, observe(path(2, 5000))) != Refresh.Set() {
		t.Fatal("no refresh")
	}
	before := f.d.newsAt
	if move(3, 0); f.d.newsAt != before {
		t.Error("a known way is news though nobody was told of a change")
	}
}

// TestSamplesAreRandom: of two flows in turn both are sampled, as often as one packet in n says; n = 1 is every packet;
// the same seed gives the same samples, a second watch and another seed give others.
func TestSamplesAreRandom(t *testing.T) {
	const packets = 200_000
	take := func(n uint32, seed uint64, watch int) (of [2]float64, which []int) {
		d := New([]Policy{{Sample: n}, {Sample: n}}, seed)
		defer d.Close()
		for i := range packets {
			if d.view.Policies[watch].TakeSample(0) {
				of[i%2]++
				which = append(which, i)
			}
		}
		return of, which
	}
	for _, n := range []uint32{2, 3, 10, 1000} {
		of, which := take(n, 7, 0)
		mean := packets / float64(n) / 2 // of either flow; its deviation is below that of independent samples
		for _, x := range of {
			if math.Abs(x-mean) > 5*math.Sqrt(mean) {
				t.Errorf("sample = %d: %v of two flows in turn, want about %.0f of each", n, of, mean)
			}
		}
		for i := 1; i < len(which); i++ {
			if gap := which[i] - which[i-1]; gap > int(2*n-1) {
				t.Fatalf("sample = %d: a gap of %d", n, gap)
			}
		}
		if _, again := take(n, 7, 0); !slices.Equal(again, which) {
			t.Errorf("sample = %d: other samples with the same seed", n)
		}
		if _, second := take(n, 7, 1); slices.Equal(second, which) {
			t.Errorf("sample = %d: the same samples of two watches", n)
		}
		if _, other := take(n, 8, 0); slices.Equal(other, which) {
			t.Errorf("sample = %d: the same samples with another seed", n)
		}
	}
	if of, _ := take(1, 7, 0); of != [2]float64{packets / 2, packets / 2} {
		t.Errorf("sample = 1: %v", of)
	}
	for _, n := range []uint32{1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1} {
		l, sum := FastPolicy{SampleEvery: n, random: 7}, 0.0
		for range 10_000 {
			sum += float64(l.gap())
		}
		if mean := sum / 10_000; math.Abs(mean-float64(n)) > float64(n)/40 {
			t.Errorf("sample = %d: a mean of %.0f", n, mean)
		}
	}
}
