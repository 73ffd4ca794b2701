package network

import (
	"slices"
	"testing"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/usual"
)

func slowHopAt(second float64, node uint32, ingress, egress uint16) usual.Slow {
	return usual.Slow{Place: usual.Place{Kind: usual.Hop, Key: usual.HopKey(node, ingress, egress)}, Latency: 300_000, Usual: usual.Stat{Known: true, Median: 3000, P99: 4000}, Since: at(second).UnixNano(), Last: at(second).UnixNano()}
}

func slowSegmentAt(second float64, from, to uint32) usual.Slow {
	return usual.Slow{Place: usual.Place{Kind: usual.Segment, Key: [2]uint64{uint64(from)<<32 | 1, uint64(to)<<32 | 1<<16}}, Latency: 900_000, Usual: usual.Stat{Known: true, Median: 900, P99: 1000}, Since: at(second).UnixNano()}
}

// hopsOf are hops that were passed just now.
func hopsOf(all ...usual.Slow) (seen []usual.Sight) {
	for _, s := range all {
		seen = append(seen, usual.Sight{Place: s.Place, At: s.Since})
	}
	return seen
}

// TestSlowNode: all slow ways through a node are one problem, whose place names the interface that they have in common where
// others are as usual, and does not shrink while they get well; flows that take longer through it are its evidence.
func TestSlowNode(t *testing.T) {
	x := New()
	a, b, c := slowHopAt(10, 202, 1, 2), slowHopAt(10, 202, 3, 2), slowHopAt(10, 202, 1, 1)
	used := hopsOf(a, b, c)
	used[2].At = at(10.9).UnixNano() // a packet by the other interface took as long as usual
	x.Observe(&inspect.Notice{Time: at(10).UnixNano(), Events: event.HopLatency.Set(), Tracked: true, Known: true, Key: key(1), Path: ways[1]})
	x.Observe(&inspect.Notice{Time: at(10).UnixNano(), Events: event.HopLatency.Set(), Tracked: true, Known: true, Key: key(2), Path: ways[2]})
	want(t, 10.2, x.Look(nil, &Known{Slow: []usual.Slow{a}, Hops: used}, at(10.2)))                                    // not yet
	want(t, 10.8, x.Look(nil, &Known{Slow: []usual.Slow{a, b}, Hops: hopsOf(a, b, c)}, at(10.8)), "slow_hop node 202") // of the other interface nobody knows yet
	signs := x.Look(nil, &Known{Slow: []usual.Slow{a, b}, Hops: used}, at(11))
	want(t, 11, signs, "slow_hop node 202 egress 2")
	if s := signs[0]; *s.Value != 300_000 || *s.Usual != 3000 || !s.Since.Equal(at(10)) || len(s.Evidence.Flows) != 1 {
		t.Errorf("%+v", s)
	}
	for flow := range 2 * maxSightings { // by another node: no room for who was first
		x.Observe(&inspect.Notice{Time: at(11.5).UnixNano(), Events: event.HopLatency.Set(), Tracked: true, Known: true, Key: key(flow), Path: ways[0]})
	}
	if s := x.Look(nil, &Known{Slow: []usual.Slow{a, b}, Hops: used}, at(11.6)); !slices.Equal(s[0].Evidence.Flows, signs[0].Evidence.Flows) {
		t.Errorf("its flows were %q, and are %q while it is slow", signs[0].Evidence.Flows, s[0].Evidence.Flows)
	}
	want(t, 12, x.Look(nil, &Known{Slow: []usual.Slow{a, b, c}, Hops: used}, at(12)), "slow_hop node 202")
	want(t, 13, x.Look(nil, &Known{Slow: []usual.Slow{a}, Hops: used}, at(13)), "slow_hop node 202")
	want(t, 14, x.Look(nil, &Known{Hops: used}, at(14)))
}

// congestedNow is a queue in an episode.
func congestedNow(node uint32, egress uint16, queue uint8, latency, occupancy uint32) inspect.Row[event.Queue] {
	return inspect.Row[event.Queue]{Key: [2]uint64{uint64(node)<<32 | uint64(egress), uint64(queue)}, Value: event.Queue{Congested: true, Ends: 1 << 62, Since: at(10).UnixNano(), Latency: latency, Occupancy: occupancy, Seen: at(11).UnixNano()}}
}

// TestQueueOrNode: a queue that is not fuller than usual is a slow node, one that is fuller is congested, and its hops are
// then no problem of their own, nor shortly after; queues of one interface are one problem. Where nobody tells how full
// queues are, it is the queue's trouble if one interface has it, and the node's if several have it. Thresholds that somebody
// wrote count as they are.
func TestQueueOrNode(t *testing.T) {
	known := func(hops ...usual.Slow) *Known {
		return &Known{Slow: hops, Hops: hopsOf(hops...), Usual: func(p usual.Place) (usual.Value, bool) {
			if p.Key[0]>>32 == 205 {
				return usual.Value{}, false
			}
			return usual.Value{Latency: usual.Stat{Known: true, Median: 3000, P99: 4000}, Occupancy: usual.Stat{Known: true, Median: 40, P99: 80}}, true
		}}
	}
	for name, c := range map[string]struct {
		queues []inspect.Row[event.Queue]
		known  *Known
		wrote  bool
		want   []string
	}{
		"full":                   {queues: []inspect.Row[event.Queue]{congestedNow(302, 15, 2, 1_700_000, 9000)}, known: known(slowHopAt(10, 302, 1, 15)), want: []string{"queue_congested node 302 egress 15 queue 2"}},
		"two of an interface":    {queues: []inspect.Row[event.Queue]{congestedNow(302, 15, 2, 1_700_000, 9000), congestedNow(302, 15, 3, 1_700_000, 9000)}, known: known(), want: []string{"queue_congested node 302 egress 15 queue 2"}},
		"as full as usual":       {queues: []inspect.Row[event.Queue]{congestedNow(202, 1, 0, 300_000, 50), congestedNow(202, 2, 0, 300_000, 60)}, known: known(slowHopAt(10, 202, 1, 1)), want: []string{"slow_hop node 202"}},
		"no hop is known":        {queues: []inspect.Row[event.Queue]{congestedNow(202, 1, 0, 300_000, 50)}, known: known(), want: []string{"slow_hop node 202"}},
		"unknown is not full":    {queues: []inspect.Row[event.Queue]{congestedNow(205, 1, 0, 300_000, 50)}, known: known(slowHopAt(10, 205, 1, 1)), want: []string{"slow_hop node 205"}},
		"nobody tells, one":      {queues: []inspect.Row[event.Queue]{congestedNow(202, 1, 0, 300_000, unknown)}, known: known(slowHopAt(10, 202, 1, 1)), want: []string{"queue_congested node 202 egress 1 queue 0"}},
		"nobody tells, two":      {queues: []inspect.Row[event.Queue]{congestedNow(202, 1, 0, 300_000, unknown), congestedNow(202, 2, 0, 300_000, unknown)}, known: known(slowHopAt(10, 202, 1, 1)), want: []string{"slow_hop node 202"}},
		"somebody wrote numbers": {queues: []inspect.Row[event.Queue]{congestedNow(202, 1, 0, 300_000, 50)}, known: known(slowHopAt(10, 202, 1, 1)), wrote: true, want: []string{"queue_congested node 202 egress 1 queue 0"}},
		"without interfaces":     {queues: []inspect.Row[event.Queue]{congestedNow(302, noInterface, 2, unknown, 9000)}, known: known(), want: []string{"queue_congested node 302 queue 2"}},
	} {
		x, q := New(), tables(11, nil)
		if q[0].Queues = c.queues; !c.wrote {
			q[0].Watches[0].Policy.Thresholds.CongestionFactor = 8
		}
		if got := kinds(x.Look(q, c.known, at(11))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if c.want[0][0] == 'q' {
			want(t, 14, x.Look(nil, &Known{Slow: c.known.Slow}, at(14))) // the hop gets well a little later
		}
	}
}

// TestSlowSinceItsQueueWasFull: a way that few packets take is slow no longer than its queue was full, as far as anybody knows, until one
// takes long after that.
func TestSlowSinceItsQueueWasFull(t *testing.T) {
	x, q := New(), tables(11, nil)
	q[0].Queues, q[0].Watches[0].Policy.Thresholds.CongestionFactor = []inspect.Row[event.Queue]{congestedNow(302, 15, 2, 1_700_000, 9000)}, 8
	slow := slowHopAt(10, 302, 1, 15)
	slow.Last = at(11).UnixNano()
	k := &Known{Slow: []usual.Slow{slow}, Hops: hopsOf(slow), Usual: func(usual.Place) (usual.Value, bool) {
		return usual.Value{Latency: usual.Stat{Known: true, Median: 3000, P99: 4000}, Occupancy: usual.Stat{Known: true, Median: 40, P99: 80}}, true
	}}
	want(t, 11, x.Look(q, k, at(11)), "queue_congested node 302 egress 15 queue 2")
	for second := 12.0; second < 200; second++ {
		want(t, second, x.Look(nil, k, at(second)))
	}
	k.Slow[0].Last = at(201).UnixNano()
	want(t, 202, x.Look(nil, k, at(202)), "slow_hop node 302")
}

// TestWhoFillsIt: culprits, victims and the episode stand in the problem, and what is usual.
func TestWhoFillsIt(t *testing.T) {
	b := episode.New()
	row := congestedNow(302, 15, 2, 1_700_000, 9000)
	id := b.Begin(at(10).UnixNano(), row.Key, 3000, 40)
	for n := range 100 {
		k, small := key(1), key(2+n%10)
		b.Count(at(10.5).UnixNano(), id, &episode.Packet{Flow: &k, Values: episode.Values{Bytes: 1400, Latency: 1_700_000, Occupancy: 9000, ECN: 3}})
		b.Count(at(10.5).UnixNano(), id, &episode.Packet{Flow: &small, Values: episode.Values{Bytes: 100, Latency: 1_700_000, Occupancy: 9000}})
	}
	q := tables(11, nil)
	q[0].Queues, q[0].Watches[0].Policy.Thresholds.CongestionFactor = []inspect.Row[event.Queue]{row}, 8
	k := &Known{Episodes: b.Open, Usual: func(usual.Place) (usual.Value, bool) {
		return usual.Value{Latency: usual.Stat{Known: true, Median: 1700}, Occupancy: usual.Stat{Known: true, Median: 40, P99: 50}}, true
	}}
	l := problem.New(nil, func(_ string, p *problem.Problem) {
		e := &p.Evidence
		if p.Amount() != "1.7ms, 1000 x its usual 1.7us" || e.Episode != id || len(e.Culprits) != 5 || e.Culprits[0].Share < 0.9 || e.Culprits[0].Flow != inspect.FlowID(new(key(1))) || len(e.Victims) != 5 || e.Why != "100 of 200 packets carry the mark of a queue (ECN: CE)" {
			t.Errorf("%s: %+v", p.Amount(), e)
		}
	})
	signs := New().Look(q, k, at(11))
	signs[0].Told = true
	if l.Look("network", signs, at(11)); l.Now()[problem.QueueCongested] != 1 {
		t.Errorf("%v", l.Now())
	}
}

// TestFlowsComeBack: flows that go back to a node that they left end that problem, and are none for the node that they were
// on meanwhile.
func TestFlowsComeBack(t *testing.T) {
	x := New()
	for s := range 20 {
		x.Look(tables(float64(s), ways, 101, 201, 202, 203, 204, 301), &Known{}, at(float64(s)))
	}
	for flow := range 15 {
		x.Observe(moved(20+float64(flow)/20, flow, ways[2], ways[3]))
	}
	want(t, 21, x.Look(tables(21, ways, 101, 201, 202, 204, 301), &Known{}, at(21)), "path_changed node 203")
	for flow := range 15 {
		x.Observe(moved(40+float64(flow)/20, flow, ways[3], ways[2]))
	}
	want(t, 41, x.Look(tables(41, ways, 101, 201, 202, 203, 204, 301), &Known{}, at(41)))
}

// TestBurstsBetweenLooks: an episode that began and ended between two looks is a problem, with its culprit; one of many bursts
// says how many, and its value is the worst of the last seconds, not what a packet of an empty queue told last.
func TestBurstsBetweenLooks(t *testing.T) {
	b, x, l := episode.New(), New(), problem.New(nil, nil)
	k := &Known{Ended: b.Ended, Usual: func(usual.Place) (usual.Value, bool) {
		return usual.Value{Latency: usual.Stat{Known: true, Median: 3000, P99: 4000}, Occupancy: usual.Stat{Known: true, Median: 40, P99: 80}}, true
	}}
	queue := [2]uint64{302<<32 | 15, 2}
	burst := func(id uint32, second float64) {
		for n := range 20 {
			flow := key(1 + n%5/4)
			b.Count(at(second+float64(n)/10_000).UnixNano(), id, &episode.Packet{Flow: &flow, Values: episode.Values{Bytes: 1400, Latency: 1_700_000, Occupancy: 9000}})
		}
	}
	look := func(second float64) []problem.Sign {
		k.Episodes = b.Open
		signs := x.Look(tables(second, nil), k, at(second))
		for i := range signs {
			signs[i].Told = true
		}
		l.Look("network", signs, at(second))
		return signs
	}
	id := b.Begin(at(10.1).UnixNano(), queue, 3000, 40)
	burst(id, 10.1)
	b.End(at(10.2).UnixNano(), id, episode.Cleared)
	signs := look(11)
	want(t, 11, signs, "queue_congested node 302 egress 15 queue 2")
	if s := signs[0]; len(s.Evidence.Culprits) != 2 || s.Times != 1 || s.Seen.Before(at(10.1)) || s.Seen.After(at(10.11)) || *s.Value != 1_700_000 {
		t.Errorf("%+v", s)
	}
	want(t, 12, look(12))
	id = b.Begin(at(12.1).UnixNano(), queue, 3000, 40)
	for n := range 20 {
		if n > 0 {
			b.Resume(at(12.1+float64(n)).UnixNano(), id, true)
		}
		burst(id, 12.1+float64(n))
		b.Rest(at(12.1+float64(n)).UnixNano(), id, 5e9)
		look(12.5 + float64(n))
	}
	all := l.Answer().Items
	if len(all) != 1 || all[0].Times != 21 || all[0].Until != nil {
		t.Errorf("%+v", all)
	}
}

// TestUsualChanged: what is usual at a node's ways and queues is one problem with the largest change, a queue alone is named, a
// segment is one of its own, unless its clocks are not believed; made-up places hide no known node's.
func TestUsualChanged(t *testing.T) {
	x := New()
	change := func(p usual.Place, was, is uint32) usual.Change {
		return usual.Change{Place: p, Occupancy: p.Kind == usual.Queue, Was: was, Is: is, Since: at(5).UnixNano()}
	}
	hopAt := func(node uint32, egress uint16) usual.Place {
		return usual.Place{Kind: usual.Hop, Key: usual.HopKey(node, 1, egress)}
	}
	queue := usual.Place{Kind: usual.Queue, Key: [2]uint64{302<<32 | 15, 2}}
	k := &Known{Changed: []usual.Change{change(queue, 100, 400), change(hopAt(202, 1), 30_000, 120_000), change(hopAt(202, 2), 30_000, 240_000), change(slowSegmentAt(5, 101, 202).Place, 1000, 5000)}}
	signs := x.Look(nil, k, at(6))
	want(t, 6, signs, "usual_changed node 302 egress 15 queue 2", "usual_changed node 202", "usual_changed from 101 to 202")
	if s := signs[1]; *s.Value != 240_000 || *s.Usual != 30_000 || s.Evidence.Why != "of 2 ways through it and 0 queues" || !s.Since.Equal(at(5)) {
		t.Errorf("%+v", s)
	}
	p := problem.Problem{Kind: problem.UsualChanged, Value: signs[1].Value, Usual: signs[1].Usual, Unit: signs[1].Unit}
	if p.Amount() != "240us, 8.0 x the 30us of before" {
		t.Error(p.Amount())
	}
	k.Believes = func(from, to uint32) bool { return false }
	want(t, 7, x.Look(nil, k, at(7)), "usual_changed node 302 egress 15 queue 2", "usual_changed node 202")
	var made []usual.Change
	for n := range uint32(6400) {
		made = append(made, change(hopAt(n, 1), 1, 1_000_000))
	}
	for second := range 90 {
		x.Look(nil, &Known{Hops: hopsOf(slowHopAt(float64(second+10), 9000, 1, 1))}, at(float64(second+10)))
	}
	signs = x.Look(nil, &Known{Changed: append(made, change(hopAt(9000, 1), 30_000, 120_000))}, at(101))
	if !slices.ContainsFunc(signs, func(s problem.Sign) bool { return s.Key == "usual at 9000-9000" && s.Known }) || len(signs) > maxOfKind+1 {
		t.Errorf("%d signs, the known node's is none of them", len(signs))
	}
}

// TestBeginsWhileTablesAreAsked: an episode that begins between the question for Known and the answer of the tables is one of a full
// queue, though the last packet of the queue met an empty one.
func TestBeginsWhileTablesAreAsked(t *testing.T) {
	b, row := episode.New(), congestedNow(302, 15, 2, 3000, 40)
	k := &Known{Episodes: b.Open, Usual: func(usual.Place) (usual.Value, bool) {
		return usual.Value{Latency: usual.Stat{Known: true, Median: 3000, P99: 4000}, Occupancy: usual.Stat{Known: true, Median: 40, P99: 80}}, true
	}}
	id := b.Begin(at(10).UnixNano(), row.Key, 3000, 40)
	for flow := range 20 {
		b.Count(at(10).UnixNano(), id, &episode.Packet{Flow: new(key(flow)), Values: episode.Values{Bytes: 1400, Latency: 1_700_000, Occupancy: 9000}})
	}
	q := tables(11, nil)
	q[0].Queues, q[0].Watches[0].Policy.Thresholds.CongestionFactor = []inspect.Row[event.Queue]{row}, 8
	want(t, 11, New().Look(q, k, at(11)), "queue_congested node 302 egress 15 queue 2")
}

// TestAllNodesAreSlow: where nearly all nodes are slow there is one problem, from the first look that says anything until none is;
// where four of nine are, or all four of four, each is one.
func TestAllNodesAreSlow(t *testing.T) {
	nodes := []uint32{101, 102, 103, 201, 202, 203, 204, 301, 302}
	slow := func(since float64, ids ...uint32) (all []usual.Slow) {
		for _, id := range ids {
			all = append(all, slowHopAt(since, id, 1, 1))
		}
		return all
	}
	x, used := New(), hopsOf(slow(10, nodes...)...)
	look := func(second float64, slow []usual.Slow) []problem.Sign {
		return x.Look(nil, &Known{Slow: slow, Hops: used}, at(second))
	}
	want(t, 11, look(11, slow(10, nodes[:5]...))) // there may be more
	for second := 12.0; second < 40; second++ {
		signs := look(second, slow(10, nodes...))
		if want(t, second, signs, "slow_hop"); len(signs) == 1 && (signs[0].Evidence.Why != "9 of the 9 nodes that packets pass are slow" || !signs[0].Since.Equal(at(10))) {
			t.Errorf("%+v", signs[0])
		}
	}
	want(t, 45, look(45, slow(10, nodes[:2]...)), "slow_hop") // they get well one after the other
	want(t, 50, look(50, nil))
	want(t, 70, look(70, slow(69.2, nodes[:4]...)))
	want(t, 71.5, look(71.5, slow(69.2, nodes[:4]...)), "slow_hop node 101", "slow_hop node 102", "slow_hop node 103", "slow_hop node 201")
	x, used = New(), hopsOf(slow(10, nodes[:4]...)...)
	if signs := look(13, slow(10, nodes[:4]...)); len(signs) != 4 {
		t.Errorf("%q", kinds(signs))
	}
}

// TestAllQueuesAreFull: where nearly all nodes have a congested queue there is one problem, which ends as one; queues that become
// full one after the other wait for each other, but one that is told already stays, and none waits for long.
func TestAllQueuesAreFull(t *testing.T) {
	var all []usual.Slow
	for id := uint32(201); id <= 210; id++ {
		all = append(all, slowHopAt(10, id, 1, 1))
	}
	const everywhere = "queue_congested"
	look := func(x *Network, second float64, nodes ...uint32) []problem.Sign {
		q := tables(second, nil)
		q[0].Watches[0].Policy.Thresholds.CongestionFactor = 8
		for _, id := range nodes {
			q[0].Queues = append(q[0].Queues, congestedNow(id, 1, 0, 300_000, 9000))
		}
		return x.Look(q, &Known{Hops: hopsOf(all...), Usual: func(usual.Place) (usual.Value, bool) {
			return usual.Value{Latency: usual.Stat{Known: true, Median: 2000, P99: 3000}, Occupancy: usual.Stat{Known: true, Median: 40, P99: 50}, State: usual.Known}, true
		}}, at(second))
	}
	known := func() *Network {
		x := New()
		for id := uint32(201); id <= 210; id++ {
			x.nodes[id] = &node{first: at(-1000), seen: at(10), sights: 1000}
		}
		return x
	}
	x := known()
	want(t, 11, look(x, 11, 201), "queue_congested node 201 egress 1 queue 0")
	want(t, 11.5, look(x, 11.5, 201, 202, 203, 204, 205), "queue_congested node 201 egress 1 queue 0")
	signs := look(x, 11.9, 201, 202, 203, 204, 205, 206, 207, 208)
	want(t, 11.9, signs, everywhere)
	if s := signs[0]; s.Since != at(10) || *s.Value != 300_000 || s.Evidence.Why != "8 of the 10 known nodes that packets pass have a congested queue" {
		t.Errorf("%+v", s)
	}
	want(t, 20, look(x, 20, 201), everywhere)
	want(t, 50, look(x, 50, 201), "queue_congested node 201 egress 1 queue 0")
	want(t, 51, look(x, 51))
	if signs := look(New(), 11, 201, 202, 203, 204, 205, 206, 207, 208); len(signs) != 8 {
		t.Errorf("made-up nodes are not as one: %q", kinds(signs))
	}
	x = known()
	want(t, 11, look(x, 11, 201, 202, 203, 204))
	want(t, 13, look(x, 13, 201, 202, 203, 204), "queue_congested node 201 egress 1 queue 0", "queue_congested node 202 egress 1 queue 0", "queue_congested node 203 egress 1 queue 0", "queue_congested node 204 egress 1 queue 0")
}

// TestWellByMostWays: a node is well once most of its slow ways are and nothing takes long through it, though nobody has told of its
// rare ways since; one of these that is slow still makes it slow again, and then it is slow until that is well.
func TestWellByMostWays(t *testing.T) {
	x, used := New(), hopsOf(slowHopAt(10, 7, 1, 1), slowHopAt(10, 8, 1, 1), slowHopAt(10, 9, 1, 1))
	look := func(second, last float64, odd, calm int) []problem.Sign {
		k := &Known{Hops: used}
		for i := range odd + calm {
			s := slowHopAt(10, 201, uint16(i), 1)
			s.Last, s.Calm = at(last).UnixNano(), i >= odd
			k.Slow = append(k.Slow, s)
		}
		return x.Look(nil, k, at(second))
	}
	want(t, 20, look(20, 19.9, 6, 0), "slow_hop node 201")
	want(t, 21, look(21, 20.2, 2, 4), "slow_hop node 201") // the last packet that took long was just now
	want(t, 22, look(22, 20.2, 2, 0))                      // four are well, of two nobody has told since
	want(t, 23, look(23, 22.5, 1, 0), "slow_hop node 201")
	for second := 24.0; second < 30; second++ {
		want(t, second, look(second, 22.5, 1, 0), "slow_hop node 201")
	}
	want(t, 31, look(31, 22.5, 0, 0))
	x = New()
	look(20, 19.9, 4, 0)
	want(t, 22, look(22, 20.2, 2, 2), "slow_hop node 201") // two are too few
}
