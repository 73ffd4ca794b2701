package event

import (
	"fmt"
	"sync"
	"testing"

	"intsink/flows"
)

// pair are the detectors of two workers, each with a flow of its own.
type pair struct {
	t   *testing.T
	d   [2]*Detector
	f   [2]flows.Flow
	now int64
}

func newPair(t *testing.T, p Policy) *pair {
	x, s := &pair{t: t, now: second}, NewShared(5)
	for w := range x.d {
		x.d[w] = New([]Policy{p}, uint64(w)+42)
		x.d[w].Share(s)
		x.d[w].Packet(x.now, &x.f[w], true, 0, told(values{node: 1, ports: 0x10002, queue: 1}))
	}
	t.Cleanup(func() {
		x.d[0].Close()
		x.d[1].Close()
		s.Close()
	})
	return x
}

// sharedStep is a packet that a worker gets, and whether it is reported.
type sharedStep struct {
	after  int64
	worker int
	packet *Observation
	want   bool
}

func (x *pair) steps(e Event, steps []sharedStep) {
	x.t.Helper()
	for i, s := range steps {
		x.now += s.after
		x.d[s.worker].Sync(x.now)
		if got := x.d[s.worker].Packet(x.now, &x.f[s.worker], false, 0, s.packet).Has(e); got != s.want {
			x.t.Errorf("step %d: %v is %v, want %v", i, e, got, s.want)
		}
	}
}

func (x *pair) fired(e Event) uint64 { return x.d[0].Counters.Fired[e] + x.d[1].Counters.Fired[e] }

func TestEpisodesHoldOverAllWorkers(t *testing.T) {
	calm, high := told(one(0)), told(one(9000))
	tx := func(percent uint32) *Observation { return told(with(one(0), func(v *values) { v.tx = percent })) }
	for name, c := range map[string]struct {
		event  Event
		change func(*Thresholds)
		fired  uint64
		steps  []sharedStep
	}{
		"one onset, one quota, one end, which another worker sees": {Congestion, nil, 1, []sharedStep{
			{ms, 0, high, true}, {ms, 1, high, true}, {ms, 1, high, false}, {ms, 0, high, true}, {ms, 1, high, false}, {ms, 1, calm, true}, {ms, 0, calm, false},
		}},
		"a worker that had no packet of the queue yet ends it": {Congestion, nil, 1, []sharedStep{
			{ms, 0, high, true}, {ms, 1, calm, true}, {ms, 1, calm, false}, {ms, 0, calm, false},
		}},
		"nor for many timeouts": {Congestion, func(t *Thresholds) { t.CongestionTimeout = 100 * ms }, 1, []sharedStep{
			{ms, 0, high, true}, {90 * ms, 0, high, true}, {90 * ms, 0, high, false}, {90 * ms, 0, high, true}, {90 * ms, 0, high, false}, {90 * ms, 0, high, false},
			{50 * ms, 1, calm, true},
		}},
		"samples of either keep it": {Congestion, nil, 1, []sharedStep{
			{ms, 0, high, true}, {900 * ms, 1, told(one(5000)), false}, {900 * ms, 1, told(one(5000)), false}, {900 * ms, 0, high, true},
		}},
		"without any it is over": {Congestion, nil, 2, []sharedStep{
			{ms, 0, high, true}, {second, 1, calm, false}, {ms, 0, calm, false}, {ms, 1, high, true}, {ms, 0, calm, true},
		}},
		"a busy interface is reported once": {TxUtilization, nil, 1, []sharedStep{
			{ms, 0, tx(95), true}, {ms, 1, tx(95), false}, {2 * second, 1, tx(95), false}, {ms, 0, tx(95), false},
		}},
		"what one sees above holds it for both": {TxUtilization, nil, 1, []sharedStep{
			{ms, 0, tx(95), true}, {ms, 1, tx(10), false}, {4 * second, 0, tx(80), false}, {second, 1, tx(10), false}, {4 * second, 1, tx(10), false}, {ms, 0, tx(95), false},
		}},
		"and whoever sees it below ends it": {TxUtilization, nil, 2, []sharedStep{
			{ms, 0, tx(95), true}, {ms, 1, tx(10), false}, {5 * second, 1, tx(10), false}, {ms, 0, tx(95), true}, {ms, 1, tx(95), false},
		}},
		"one interface and second": {TxUtilization, func(t *Thresholds) { t.TxHold = 0 }, 2, []sharedStep{
			{ms, 0, tx(95), true}, {ms, 1, tx(10), false}, {ms, 1, tx(95), false}, {second, 0, tx(95), true},
		}},
		"one reference of a link, one report a second": {LinkLatency, func(t *Thresholds) { t.LinkLatency.K = 1 }, 3, []sharedStep{
			{ms, 0, linked(5_000), false}, {ms, 1, linked(6_000), false}, {ms, 0, linked(60_000), true}, {ms, 1, linked(61_000), false},
			{ms, 1, linked(5_000), false}, {second, 1, linked(5_000), true}, {ms, 0, linked(5_000), false},
		}},
		"a worker that did not see the link change": {LinkLatency, nil, 1, []sharedStep{
			{ms, 0, linked(5_000), false}, {ms, 1, linked(5_000), false}, {ms, 1, linked(60_000), false}, {ms, 0, linked(60_000), false}, {ms, 0, linked(60_000), true},
			{2 * second, 1, linked(60_000), false}, {ms, 1, linked(60_000), false}, {ms, 1, linked(60_000), false},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := watching(c.event)
			if c.change != nil {
				c.change(&p.Thresholds)
			}
			x := newPair(t, p)
			x.steps(c.event, c.steps)
			if n := x.fired(c.event); n != c.fired {
				t.Errorf("entered %d times, want %d", n, c.fired)
			}
		})
	}
}

// TestOthersKnowOfAnEpisode: a worker that has no packet of a queue or an interface passes
// none of its packets over while there is an episode, and all of them when it is over.
func TestOthersKnowOfAnEpisode(t *testing.T) {
	p := watching(Congestion, TxUtilization)
	p.Thresholds.TxHold = 0
	x := newPair(t, p)
	busy := told(with(one(9000), func(v *values) { v.tx = 95 }))
	x.d[0].Packet(x.now, &x.f[0], false, 0, busy)
	for range 30 {
		x.now += 400 * ms
		x.d[0].Packet(x.now, &x.f[0], false, 0, busy)
		x.now += 400 * ms
		x.d[1].Sync(x.now)
		if v := x.d[1].view; !v.Queues.Has(v.bitOfKey([2]uint64{7<<32 | 2, 1})) || !v.Interfaces.Has(v.bitOfKey([2]uint64{7<<32 | 2})) {
			t.Fatal("another worker does not know of the episode")
		}
	}
	q := x.d[1].fabric.Queues.Find([2]uint64{7<<32 | 2, 1})
	i := x.d[1].fabric.Interfaces.Find([2]uint64{7<<32 | 2})
	if q == nil || !q.Congested || q.Occupancy != 9000 || q.Episodes != 1 || x.now-q.Seen > second || i == nil || !i.Busy || i.Utilization != 95 {
		t.Errorf("it knows %+v, %+v", q, i)
	}
	x.d[0].Packet(x.now, &x.f[0], false, 0, told(with(one(0), func(v *values) { v.tx = 1 })))
	if x.d[1].Sync(x.now); q.Congested || i.Busy {
		t.Errorf("of the end it knows %+v, %+v", q, i)
	}
}

// TestSyncIsLate: a detector that missed more changes than are kept gets an episode again as long
// as it lasts.
func TestSyncIsLate(t *testing.T) {
	x := newPair(t, watching(Congestion))
	high := told(one(9000))
	x.d[0].Packet(x.now, &x.f[0], false, 0, high)
	for n := range uint32(2 * maxChanges) {
		x.d[0].Packet(x.now, &x.f[0], false, 0, told(with(one(9000), func(v *values) { v.node = 100 + n })))
	}
	x.steps(Congestion, []sharedStep{{300 * ms, 0, high, true}, {ms, 1, told(one(0)), true}})
}

// TestSharedIsSafe: two workers at once, for the race detector; every onset is reported.
func TestSharedIsSafe(t *testing.T) {
	p := watching(Congestion, TxUtilization, LinkLatency)
	p.Thresholds.CongestionQuota, p.Thresholds.LinkLatency.K = 1<<30, 1
	x := newPair(t, p)
	var wg sync.WaitGroup
	var reports [2]int
	for w := range x.d {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range int64(5000) {
				now := x.now + n*ms
				x.d[w].Sync(now)
				v := with(one(uint32(n/500%2*9000)), func(v *values) { v.tx = uint32(n / 500 % 2 * 95) })
				if x.d[w].Packet(now, &x.f[w], false, 0, told(v)).Has(Congestion) {
					reports[w]++
				}
				x.d[w].Packet(now, &x.f[w], false, 0, linked(uint64(1+n/500%2*90_000)))
			}
		}()
	}
	wg.Wait()
	if n := x.fired(Congestion); n < 5 || reports[0]+reports[1] < int(n) {
		t.Errorf("%d episodes, %v reports", n, reports)
	}
}

// TestSyncTakesALinkOver: a reference that another worker has reported replaces that of a link, and empties its window;
// where it is the same, values that are pending stay.
func TestSyncTakesALinkOver(t *testing.T) {
	key := [2]uint64{1<<32 | 2, 2<<32 | 1<<16}
	for _, c := range []struct {
		name   string
		ref    uint32 // of the second worker
		window uint8
	}{{"another reference", 5000, 0}, {"the same", 60_000, 5}} {
		t.Run(c.name, func(t *testing.T) {
			p := watching(LinkLatency)
			p.Thresholds.LinkLatency.K = 1
			x := newPair(t, p)
			x.steps(LinkLatency, []sharedStep{{ms, 0, linked(5000), false}, {ms, 1, linked(5000), false}, {ms, 0, linked(60_000), true}})
			k := x.d[1].fabric.Links.Find(key)
			if k == nil || k.Ref != 5000 {
				t.Fatalf("before Sync the link is %+v", k)
			}
			k.Ref, k.Window = c.ref, 5
			if x.d[1].Sync(x.now); c.window == 0 && (k.least != 50_000 || k.span != 20_000) {
				t.Errorf("from %d to %d ns above it need no test, want from 50000 to 20000 above", k.least, k.span)
			}
			if k.Ref != 60_000 || k.Window != c.window || k.Last != 5000 {
				t.Errorf("the link is %+v, want reference 60000, window %d", *k, c.window)
			}
		})
	}
}

// TestALinkThatSharedHasForgotten: the reference of the worker that still knows the link counts.
func TestALinkThatSharedHasForgotten(t *testing.T) {
	p := watching(LinkLatency)
	p.Thresholds.LinkLatency.K = 1
	x := newPair(t, p)
	x.steps(LinkLatency, []sharedStep{{ms, 0, linked(5000), false}})
	fresh := NewShared(6)
	defer fresh.Close()
	x.d[0].Share(fresh)
	x.steps(LinkLatency, []sharedStep{{ms, 0, linked(60_000), true}})
	if want := (Trigger{NodeID: 1, Reference: 5000, Value: 60_000}); x.d[0].Trigger != want {
		t.Errorf("trigger %+v, want %+v", x.d[0].Trigger, want)
	}
}

// TestNewerValuesStay: a worker that takes over an episode keeps the values of queue and interface that it has seen after
// the packet that the change is of; else it takes those of that packet.
func TestNewerValuesStay(t *testing.T) {
	at := [2]uint64{7<<32 | 2, 1}
	packet := func(occupancy, latency, tx uint32) *Observation {
		return told(with(one(occupancy), func(v *values) { v.latency, v.tx = latency, tx }))
	}
	for _, c := range []struct {
		name string
		late int64 // the second worker's packet after the first one's
		q    Queue // but for Seen and Since
		i    Interface
	}{
		{"newer", ms, Queue{Occupancy: 100, Latency: 2}, Interface{Utilization: 10}},
		{"older", -ms, Queue{Occupancy: 9000, Latency: 3}, Interface{Utilization: 95}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newPair(t, watching(Congestion, TxUtilization))
			x.now += second
			x.d[1].Packet(x.now+c.late, &x.f[1], false, 0, packet(100, 2, 10))
			x.d[0].Packet(x.now, &x.f[0], false, 0, packet(9000, 3, 95))
			x.d[1].Sync(x.now + ms)
			c.q.Seen, c.q.Since, c.q.Congested, c.q.Reports, c.q.Episodes = x.now+max(c.late, 0), x.now, true, 1, 1
			c.q.Rest, c.q.Ends = nothingElse, x.now+second
			c.i.Since, c.i.Highest = x.now, 95
			c.i.Seen, c.i.Sent, c.i.Busy, c.i.Reported = x.now+max(c.late, 0), x.now, true, true
			if q := x.d[1].fabric.Queues.Find(at); q == nil || *q != c.q {
				t.Errorf("the queue is %+v, want %+v", q, c.q)
			}
			if i := x.d[1].fabric.Interfaces.Find([2]uint64{at[0]}); i == nil || *i != c.i {
				t.Errorf("the interface is %+v, want %+v", i, c.i)
			}
		})
	}
}

// TestTheValueBeforeAnEpisode: other workers show what was last told of a queue, where the packet that begins an episode
// does not tell it.
func TestTheValueBeforeAnEpisode(t *testing.T) {
	p := watching(Congestion)
	p.Thresholds.CongestionLatency = 500_000
	x := newPair(t, p)
	x.steps(Congestion, []sharedStep{{ms, 0, queued(5000, 1000), false}, {ms, 0, queued(unknown32, 600_000), true}})
	x.d[1].Sync(x.now)
	want := Queue{Rest: nothingElse, Occupancy: 5000, Latency: 600_000, Congested: true, Reports: 1, Episodes: 1, Seen: x.now, Since: x.now, Ends: x.now + second}
	if q := x.d[1].fabric.Queues.Find([2]uint64{7<<32 | 2, 0xff}); q == nil || *q != want {
		t.Errorf("%+v, want %+v", q, want)
	}
}

// TestWorkersWithOtherTimes: an episode has ended a timeout after its latest packet, whichever worker looked last.
func TestWorkersWithOtherTimes(t *testing.T) {
	x := newPair(t, watching(Congestion))
	x.steps(Congestion, []sharedStep{
		{10 * ms, 0, told(one(9000)), true}, {-5 * ms, 1, told(one(9000)), true}, {second + 5*ms - 1, 0, told(one(0)), true},
	})
}

// TestAnnouncements: an episode is announced at its onset, four times in its timeout, and at its end; the worker that
// announces it has nothing to take over, unless it has missed another's change.
func TestAnnouncements(t *testing.T) {
	for name, c := range map[string]struct {
		packet, calm *Observation
		every        int64
		event        Event
	}{
		"queue":     {told(one(9000)), told(one(0)), second / 4, Congestion},
		"interface": {told(with(one(0), func(v *values) { v.tx = 95 })), told(with(one(0), func(v *values) { v.tx = 10 })), 150 * second, TxUtilization},
	} {
		t.Run(name, func(t *testing.T) {
			p := watching(c.event)
			p.Thresholds.TxHold = 0
			x := newPair(t, p)
			announced := x.d[0].Announced()
			for n, s := range []struct {
				after  int64
				packet *Observation
				want   uint64
			}{
				{ms, c.calm, 0}, {ms, c.packet, 1}, {ms, c.packet, 1}, {c.every - ms - 1, c.packet, 1}, {1, c.packet, 2}, {c.every - 1, c.packet, 2}, {ms, c.calm, 3}, {ms, c.calm, 3},
			} {
				x.now += s.after
				if x.d[0].Packet(x.now, &x.f[0], false, 0, s.packet); announced.Load() != s.want || x.d[0].Synced() != s.want || x.d[1].Synced() != 0 {
					t.Errorf("packet %d: %d announced, %d and %d taken over; want %d, 0", n, announced.Load(), x.d[0].Synced(), x.d[1].Synced(), s.want)
				}
			}
		})
	}
	x := newPair(t, watching(Congestion))
	x.d[1].Packet(x.now, &x.f[1], false, 0, told(with(one(9000), func(v *values) { v.node = 8 })))
	x.d[0].Packet(x.now, &x.f[0], false, 0, told(one(9000)))
	x.d[0].Sync(x.now)
	if q := x.d[0].fabric.Queues.Find([2]uint64{8<<32 | 2, 1}); q == nil || !q.Congested {
		t.Errorf("of an episode that was announced before its own it knows %+v", q)
	}
}

// TestFullTablesKeepEpisodes: queues and interfaces whose episode is over make room for others, those in one do not.
func TestFullTablesKeepEpisodes(t *testing.T) {
	for name, c := range map[string]struct {
		event        Event
		begins, ends values
		every        int64
	}{
		"queues":     {Congestion, one(9000), one(0), ms},
		"interfaces": {TxUtilization, with(one(0), func(v *values) { v.tx = 95 }), with(one(0), func(v *values) { v.tx = 10 }), 2 * second},
	} {
		for over, want := range map[bool]uint64{false: 21, true: 22} {
			t.Run(fmt.Sprint(name, ", over ", over), func(t *testing.T) {
				p := watching(c.event)
				p.Thresholds.TxHold = 0
				d := newDetector([]Policy{p}, 42, capacities{4, 4, 4}) // a bucket each
				defer d.Close()
				var f flows.Flow
				now := second
				packet := func(hop values, node uint32) {
					hop.node = node
					d.Packet(now, &f, false, 0, told(hop))
				}
				packet(c.begins, 7)
				for other := range uint32(20) {
					now += c.every
					packet(c.begins, 100+other)
					packet(c.ends, 100+other)
				}
				if over {
					packet(c.ends, 7)
				}
				packet(c.begins, 7)
				if n := d.Counters.Fired[c.event]; n != want {
					t.Errorf("%d episodes began, want %d", n, want)
				}
			})
		}
	}
}
