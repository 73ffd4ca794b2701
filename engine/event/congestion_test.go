package event

import (
	"testing"

	"intsink/flows"
)

// unnumbered is the queue of packets that tell none.
const unnumbered = 0xff << 24

// queued is a packet of queue 255 of node 7: occupancy and latency may be unknown.
func queued(occupancy, latency uint32) *Observation {
	if occupancy != unknown32 {
		occupancy |= unnumbered
	}
	return told(values{node: 7, ports: 0x10002, queue: occupancy, latency: latency, tx: unknown32})
}

// TestQueueInTheTable: what the table says of a queue before, in and after episodes. A value that no packet tells is
// shown for the timeout.
func TestQueueInTheTable(t *testing.T) {
	byLatency := func(t *Thresholds) { t.CongestionRaise, t.CongestionLatency = 0, 500_000 }
	byBoth := func(t *Thresholds) { t.CongestionLatency = 500_000 }
	type step struct {
		after              int64
		occupancy, latency uint32
		want               Queue // but for Seen, which is the packet's time; Since is the number of a step
	}
	for _, c := range []struct {
		name   string
		change func(*Thresholds)
		steps  []step
	}{
		{"by both", byBoth, []step{
			{ms, 100, 200, Queue{Occupancy: 100, Latency: 200}},
			{ms, unknown32, 300, Queue{Occupancy: 100, Latency: 300}},
			{second - 1, unknown32, 400, Queue{Occupancy: 100, Latency: 400}},
			{second, unknown32, 500, Queue{Occupancy: unknown32, Latency: 500}},
			{ms, 9000, unknown32, Queue{Occupancy: 9000, Latency: 500, Reports: 1, Congested: true, Since: 5, Episodes: 1}},
			{ms, 9000, 600, Queue{Occupancy: 9000, Latency: 600, Reports: 2, Congested: true, Since: 5, Episodes: 1}},
			{ms, 100, 600, Queue{Occupancy: 100, Latency: 600, Reports: 2, Since: 7, Episodes: 1}},
			{ms, 8000, 700, Queue{Occupancy: 8000, Latency: 700, Reports: 1, Congested: true, Since: 8, Episodes: 2}},
			{second, 7000, 700, Queue{Occupancy: 7000, Latency: 700, Reports: 1, Since: 8, Episodes: 2}},
		}},
		{"by latency", byLatency, []step{
			{ms, 9000, 200, Queue{Occupancy: 9000, Latency: 200}},
			{ms, 7000, 500_000, Queue{Occupancy: 7000, Latency: 500_000, Reports: 1, Congested: true, Since: 2, Episodes: 1}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := watching(Congestion)
			c.change(&p.Thresholds)
			f := begun(t, p)
			defer f.d.Close()
			times := []int64{0}
			for n, s := range c.steps {
				f.look(s.after, queued(s.occupancy, s.latency))
				times = append(times, f.now)
				s.want.Seen, s.want.Since, s.want.Rest = f.now, times[s.want.Since], nothingElse
				if s.want.Congested {
					s.want.Ends = f.now + second
				}
				if q := f.d.fabric.Queues.Find([2]uint64{7<<32 | 2, 0xff}); q == nil || *q != s.want {
					t.Errorf("after packet %d: %+v, want %+v", n+1, q, s.want)
				}
			}
		})
	}
}

// crossing are flows of several watches whose packets cross one queue.
type crossing struct {
	t   *testing.T
	d   *Detector
	f   []flows.Flow
	now int64
}

// crossed is one of their packets, whether it is reported, and how many episodes have begun.
type crossed struct {
	after              int64
	watch              int
	occupancy, latency uint32
	want               bool
	episodes           uint64
}

func (x *crossing) packets(all []crossed) {
	x.t.Helper()
	for n, c := range all {
		x.now += c.after
		x.f[c.watch].Watch = uint8(c.watch)
		got := x.d.Packet(x.now, &x.f[c.watch], false, c.watch, queued(c.occupancy, c.latency)).Has(Congestion)
		if fired := x.d.Counters.Fired[Congestion]; got != c.want || fired != c.episodes {
			x.t.Errorf("packet %d: reported %v, %d episodes; want %v, %d", n, got, fired, c.want, c.episodes)
		}
	}
}

// TestWhoseThresholdsEndAnEpisode: the lowest values and the longest timeout of the watches that were over their
// thresholds in it; not those of others, nor of the episode before.
func TestWhoseThresholdsEndAnEpisode(t *testing.T) {
	const low, high, slow, slower = 0, 1, 2, 3
	policies := make([]Policy, 4)
	for i := range policies {
		policies[i] = watching(Congestion)
		policies[i].Thresholds.CongestionQuota = 1000
	}
	of := func(i int) *Thresholds { return &policies[i].Thresholds }
	of(high).CongestionRaise, of(high).CongestionClear, of(high).CongestionTimeout = 80_000, 40_000, 10*second
	of(slow).CongestionRaise, of(slow).CongestionLatency = 0, 500_001
	of(slower).CongestionRaise, of(slower).CongestionLatency = 0, 2_000_000
	for _, c := range []struct {
		name    string
		packets []crossed
	}{
		{"one behind the other", []crossed{
			{ms, low, 9000, 0, true, 1}, {ms, low, 4001, 0, false, 1}, {ms, low, 4000, 0, true, 1},
			{ms, high, 90_000, 0, true, 2}, {ms, low, 5000, 0, true, 2}, // it is under the high one's clear
		}},
		{"both at once", []crossed{
			{ms, low, 9000, 0, true, 1}, {ms, high, 90_000, 0, true, 1}, {ms, high, 39_000, 0, false, 1}, {ms, high, 4000, 0, true, 1},
		}},
		{"the longer timeout", []crossed{
			{ms, low, 9000, 0, true, 1}, {ms, high, 90_000, 0, true, 1}, {ms, low, 9000, 0, false, 1}, {10*second - 1, low, 9000, 0, true, 1}, {10 * second, low, 9000, 0, true, 2},
		}},
		{"the longer timeout of the episode before", []crossed{
			{ms, high, 90_000, 0, true, 1}, {ms, high, 0, 0, true, 1}, {ms, low, 9000, 0, true, 2}, {second - 1, low, 9000, 0, true, 2}, {second, low, 9000, 0, true, 3},
		}},
		{"by occupancy, latencies that do not count", []crossed{
			{ms, low, 9000, 600_000, true, 1}, {ms, low, 4000, 600_000, true, 1},
		}},
		{"by latency, occupancies that do not count", []crossed{
			{ms, slow, 9000, 500_001, true, 1}, {ms, slow, 9000, 250_001, false, 1}, {ms, slow, 9000, 250_000, true, 1},
		}},
		{"the lower latency", []crossed{
			{ms, slow, 0, 2_000_000, true, 1}, {ms, slower, 0, 2_000_000, true, 1}, {ms, slower, 0, 999_999, false, 1}, {ms, slower, 0, 250_000, true, 1},
		}},
		{"the lower latency, told last", []crossed{
			{ms, slower, 0, 2_000_000, true, 1}, {ms, slow, 0, 2_000_000, true, 1}, {ms, slower, 0, 999_999, false, 1}, {ms, slower, 0, 250_000, true, 1},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(policies, 42)
			defer d.Close()
			(&crossing{t, d, make([]flows.Flow, len(policies)), second}).packets(c.packets)
		})
	}
}

// TestEndsOf: only watches with the event count.
func TestEndsOf(t *testing.T) {
	a, b, without := watching(Congestion), watching(Congestion), watching(HopLatency)
	a.Thresholds.CongestionLatency = 500_000
	b.Thresholds.CongestionClear, b.Thresholds.CongestionTimeout = 3000, 2*second
	without.Thresholds.CongestionClear, without.Thresholds.CongestionLatency, without.Thresholds.CongestionTimeout = 1, 1, 9*second
	for _, c := range []struct {
		policies []Policy
		want     episodeEnd
	}{
		{nil, episodeEnd{clear: never}},
		{[]Policy{without}, episodeEnd{clear: never}},
		{[]Policy{a, without, b}, episodeEnd{clear: 3000, latency: 500_000, timeout: 2 * second}},
	} {
		if got := endsOf(c.policies); got != c.want {
			t.Errorf("%d watches: %+v, want %+v", len(c.policies), got, c.want)
		}
	}
}

// TestCongestionWhoseOccupancyIsNotTold is TestCongestionWhoseValueIsNotTold for the other value; and a value that was
// told before an episode does not hold it.
func TestCongestionWhoseOccupancyIsNotTold(t *testing.T) {
	p := watching(Congestion)
	p.Thresholds.CongestionLatency = 500_000
	for _, c := range []struct {
		name  string
		steps []crossed
	}{
		{"in the episode", []crossed{
			{ms, 0, 9000, 1000, true, 1}, {second / 2, 0, unknown32, 1000, false, 1}, {second/2 - 1, 0, unknown32, 1000, false, 1}, {1, 0, unknown32, 1000, true, 1},
		}},
		{"before it", []crossed{
			{ms, 0, 9000, 1000, true, 1}, {ms, 0, 100, 1000, true, 1}, {ms, 0, 5000, 1000, false, 1}, {ms, 0, unknown32, 600_000, true, 2}, {ms, 0, unknown32, 1000, true, 2},
		}},
		{"a latency before it", []crossed{
			{ms, 0, 100, 600_000, true, 1}, {ms, 0, 100, 1000, true, 1}, {ms, 0, 100, 300_000, false, 1}, {ms, 0, 9000, unknown32, true, 2}, {ms, 0, 100, unknown32, true, 2},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New([]Policy{p}, 42)
			defer d.Close()
			(&crossing{t, d, make([]flows.Flow, 1), second}).packets(c.steps)
		})
	}
}

// TestWhatCongestionIsComparedWith: the occupancy where it is watched and known, else the latency.
func TestWhatCongestionIsComparedWith(t *testing.T) {
	for _, c := range []struct {
		raise, occupancy, latency uint32
		want                      Trigger
	}{
		{8000, 9000, 600_000, Trigger{7, 8000, 9000}},
		{8000, unknown32, 600_000, Trigger{7, 500_000, 600_000}},
		{0, 9000, 600_000, Trigger{7, 500_000, 600_000}},
	} {
		p := watching(Congestion)
		p.Thresholds.CongestionRaise, p.Thresholds.CongestionLatency = c.raise, 500_000
		f := begun(t, p)
		f.observed(ms, queued(c.occupancy, c.latency), Congestion.Set())
		if f.d.Trigger != c.want {
			t.Errorf("raise %d, occupancy %d: %+v, want %+v", c.raise, c.occupancy, f.d.Trigger, c.want)
		}
		f.d.Close()
	}
}
