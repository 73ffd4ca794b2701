package network

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/flows"
)

// at is so many seconds after the beginning.
func at(second float64) time.Time { return time.Unix(100000, int64(second*1e9)) }

func path(nodes ...uint32) (p inspect.Path) {
	p.Hops = uint16(len(nodes))
	for i, n := range nodes {
		p.Way[i].Node = n
		p.ID = p.ID*1000 + uint64(n)
	}
	return p
}

func key(flow int) flows.Key {
	k, err := inspect.ParseFlowID(fmt.Sprintf("udp:%s:7-10.9.0.1:9", netip.AddrFrom4([4]byte{10, 0, byte(flow >> 8), byte(flow)})))
	if err != nil {
		panic(err)
	}
	return k
}

// moved is the notice of a flow that goes from one way to another.
func moved(second float64, flow int, was, is inspect.Path) *inspect.Notice {
	return &inspect.Notice{Time: at(second).UnixNano(), Events: event.PathChange.Set(), Tracked: true, Known: true, WasOn: true, Key: key(flow), Was: was, Path: is}
}

// tables are those of one worker, which has seen queues of these nodes just now.
func tables(second float64, ways []inspect.Path, nodes ...uint32) []*inspect.PendingQuery {
	q := &inspect.Query{Now: at(second).UnixNano()}
	for _, n := range nodes {
		q.Queues = append(q.Queues, inspect.Row[event.Queue]{Key: [2]uint64{uint64(n)<<32 | 2, 1}, Value: event.Queue{Seen: q.Now, Occupancy: unknown, Latency: unknown}})
	}
	for _, w := range ways {
		q.Ways = append(q.Ways, inspect.Row[inspect.Path]{Value: w, Seen: flows.Tick(q.Now)})
	}
	rules := watch.Watch{Policy: event.Policy{Thresholds: event.Thresholds{CongestionTimeout: 3600e9}}}
	return []*inspect.PendingQuery{{Query: q, Watches: []watch.Watch{rules}}}
}

// kinds are those of signs, with their places.
func kinds(signs []problem.Sign) (all []string) {
	for _, s := range signs {
		text := string(s.Kind)
		for _, p := range s.Place {
			text += " " + p.What + " " + p.ID
		}
		all = append(all, text)
	}
	return all
}

func want(t *testing.T, second float64, got []problem.Sign, want ...string) {
	t.Helper()
	if k := kinds(got); !slices.Equal(k, want) {
		t.Errorf("%v s: %q, want %q", second, k, want)
	}
}

var ways = []inspect.Path{path(101, 201, 301), path(101, 202, 301), path(101, 203, 301), path(101, 204, 301)}

// TestNodeDies: its flows leave it, which is told at once; 5 s later it is gone, which is told in place of that; and not
// any more when it is back, nor the node that they take back their way from.
func TestNodeDies(t *testing.T) {
	x := New()
	for s := range 20 {
		want(t, float64(s), x.Look(tables(float64(s), ways, 101, 201, 202, 203, 204, 301), &Known{}, at(float64(s))))
	}
	for flow := range 15 {
		x.Observe(moved(20+float64(flow)/20, flow, ways[2], ways[3]))
	}
	left := []uint32{101, 201, 202, 204, 301}
	for s := 21.0; s < 24; s++ {
		signs := x.Look(tables(s, ways, left...), &Known{}, at(s))
		want(t, s, signs, "path_changed node 203")
		if e := signs[0].Evidence; e.From != "101 > 203 > 301" || e.To != "101 > 204 > 301" || len(e.Flows) != maxFlows || *signs[0].Value != 15 {
			t.Errorf("%+v", signs[0])
		}
	}
	for s := 25.0; s < 30; s++ {
		signs := x.Look(tables(s, ways, left...), &Known{}, at(s))
		want(t, s, signs, "node_gone node 203")
		if *signs[0].Value != 15 || signs[0].Unit != "flows" {
			t.Errorf("%v %s left it, not 15 flows", *signs[0].Value, signs[0].Unit)
		}
		if !signs[0].Since.Equal(at(19)) {
			t.Errorf("gone since %v, not when it was last seen", signs[0].Since)
		}
	}
	for _, id := range []uint32{203, 204} {
		if n := x.nodes[id]; n.gone != (id == 203) {
			t.Errorf("node %d is gone: %v", id, n.gone)
		}
	}
	all := append(left, 203)
	want(t, 31, x.Look(tables(31, ways, all...), &Known{}, at(31)))
	for flow := range 15 { // they come back after the node does: nothing is wrong with the way around
		x.Observe(moved(31+float64(flow)/3, flow, ways[3], ways[2]))
		want(t, 31.5+float64(flow)/3, x.Look(tables(31.5+float64(flow)/3, ways, all...), &Known{}, at(31.5+float64(flow)/3)))
	}
}

// TestWhatIsNoProblem: flows that change between ways of equal cost come and go alike, a node without traffic is not gone,
// nor one that is seen rarely, nor one whose neighbours are silent, too.
func TestWhatIsNoProblem(t *testing.T) {
	x := New()
	now := 0.0
	for i := range 3000 { // 50 minutes, a flow each second
		now = float64(i)
		from := (i * 7) % 4
		x.Observe(moved(now, i%60, ways[from], ways[(from+1+i%3)%4]))
		want(t, now, x.Look(tables(now, ways, 101, 201, 202, 203, 204, 301), &Known{}, at(now)))
	}
	for s := now + 60; s < now+120; s++ { // 203 is idle: nobody left it
		want(t, s, x.Look(tables(s, ways, 101, 201, 301), &Known{}, at(s)))
	}
	x = New()
	for s := 0.0; s < 100; s += 5 { // seen every 5 s only
		x.Look(tables(s, ways, 101, 203, 301), &Known{}, at(s))
	}
	x.Observe(moved(96, 1, ways[2], ways[3]))
	want(t, 104, x.Look(tables(104, ways, 101, 301), &Known{}, at(104)))
	want(t, 111, x.Look(tables(104, ways, 101, 301), &Known{}, at(111)))                       // all are silent
	want(t, 112, x.Look(tables(112, ways, 101, 301), &Known{}, at(112)), "node_gone node 203") // three gaps
}

// TestOtherKinds: a loop, congested queues, losses with what their ways share, hop limits.
func TestOtherKinds(t *testing.T) {
	x := New()
	q := tables(10, []inspect.Path{path(101, 202, 203, 202, 301)}, 101, 202)
	q[0].Queues[1].Value = event.Queue{Congested: true, Ends: 1 << 62, Since: at(4).UnixNano(), Occupancy: 9300, Latency: 1784000, Seen: at(10).UnixNano()}
	for flow, w := range ways[:2] {
		x.Observe(&inspect.Notice{Time: at(9).UnixNano(), Events: event.Loss.Set(), Tracked: true, Known: true, Key: key(flow), Path: w, Lost: 7, LostNow: 2})
	}
	x.Observe(&inspect.Notice{Time: at(9).UnixNano(), Events: event.HopLimit.Set()})
	signs := x.Look(q, &Known{}, at(10))
	want(t, 10, signs, "loop node 202", "queue_congested node 202 egress 2 queue 1", "loss_between from 101 to 301", "too_many_hops")
	if s := signs[1]; *s.Value != 1784000 || s.Unit != "ns" || !s.Since.Equal(at(4)) {
		t.Errorf("%+v", s)
	}
	if s := signs[2]; *s.Value != 4 || len(s.Evidence.Flows) != 2 {
		t.Errorf("%+v", s)
	}
	want(t, 80, x.Look(tables(80, nil), &Known{}, at(80)))
}

// TestLostBeforeTheMove: what flows lose as their node dies is lost on the ways that they leave, though it is told when they come by
// others; what they lose from two seconds later on is lost there.
func TestLostBeforeTheMove(t *testing.T) {
	x := New()
	lose := func(second float64) {
		for flow, leaf := range []uint32{101, 102, 103} {
			now := path(leaf, 204, 302)
			if second < 11 {
				x.Observe(moved(second, flow, path(leaf, 203, 302), now))
			}
			x.Observe(&inspect.Notice{Time: at(second + 0.2).UnixNano(), Events: event.Loss.Set(), Tracked: true, Known: true, Key: key(flow), Path: now, LostNow: 9})
		}
	}
	lose(10)
	want(t, 11, x.happened(at(11)), "loss_between from 203 to 302")
	lose(60)
	want(t, 61, x.happened(at(61)), "loss_between from 204 to 302")
}

// TestPacketsLost: a loss counts packets since it began, also those whose report never got here, not those before; it has the share
// of the flows' packets, and was seen last when the last report came.
func TestPacketsLost(t *testing.T) {
	x := New()
	lose := func(second float64, flow int, lost, now, came uint64) {
		x.Observe(&inspect.Notice{Time: at(second).UnixNano(), Events: event.Loss.Set(), Tracked: true, Known: true, Key: key(flow), Path: ways[0], Lost: lost, LostNow: uint32(now), Packets: came})
	}
	lose(10, 1, 1005, 5, 9000)
	if s := x.Look(nil, &Known{}, at(10))[0]; *s.Value != 5 || s.Evidence.Why != "" {
		t.Errorf("at first: %v, %q", *s.Value, s.Evidence.Why)
	}
	lose(11, 1, 1205, 3, 9800)
	lose(11, 2, 20, 20, 50)
	for _, second := range []float64{11, 35} {
		s := x.Look(nil, &Known{}, at(second))[0]
		if *s.Value != 225 || s.Unit != "packets" || s.Evidence.Why != "20 % of the packets of the flows that lost some: 2" || !s.Seen.Equal(at(11)) {
			t.Errorf("%v %s, %q, last at %v", *s.Value, s.Unit, s.Evidence.Why, s.Seen)
		}
	}
	lose(100, 1, 1300, 3, 9900)
	if s := x.Look(nil, &Known{}, at(100))[0]; *s.Value != 3 {
		t.Errorf("another loss: %v", *s.Value)
	}
}

// TestLossOfTheSink: packets that the sink itself missed are no loss of the network, whichever is seen first; others are.
func TestLossOfTheSink(t *testing.T) {
	lost := func(second float64) *inspect.Notice {
		return &inspect.Notice{Time: at(second).UnixNano(), Events: event.Loss.Set(), Tracked: true, Known: true, Key: key(1), Path: ways[0], LostNow: fewLost}
	}
	x := New()
	x.Missed(at(9), 0)
	x.Observe(lost(10))
	x.Missed(at(11), 5)
	want(t, 11, x.Look(nil, &Known{}, at(11)))
	x.Observe(lost(12.5))
	x.Missed(at(12), 5)
	want(t, 13, x.Look(nil, &Known{}, at(13)))
	x.Observe(lost(20))
	x.Missed(at(20), 5)
	want(t, 20, x.Look(nil, &Known{}, at(20))) // the next count of what was missed may have it
	x.Missed(at(21), 5)
	want(t, 21, x.Look(nil, &Known{}, at(21)), "loss_between from 101 to 301")
	x.Observe(lost(100))
	x.Missed(at(100.2), 5)
	want(t, 100.3, x.Look(nil, &Known{}, at(100.3)))
	x.Missed(at(101.2), 9)
	want(t, 101.3, x.Look(nil, &Known{}, at(101.3)))
}

// TestBounds: who writes metadata makes nodes and paths; so many are kept, and the rest is counted.
func TestBounds(t *testing.T) {
	x := New()
	var many []uint32
	for i := range uint32(maxNodes + 100) {
		many = append(many, i)
	}
	x.Look(tables(1, nil, many...), &Known{}, at(1))
	for i := range 3 * ringSize {
		x.Observe(moved(2+2*float64(i), i, path(1, uint32(i), 9), path(1, uint32(i+1), 9)))
	}
	if len(x.nodes) != maxNodes || x.left < 100 || x.changes.n != ringSize || len(x.moves) > maxMoves {
		t.Errorf("%d nodes, %d left out, %d changes, %d moves", len(x.nodes), x.left, x.changes.n, len(x.moves))
	}
	if x.Look(nil, &Known{}, at(1).Add(48*time.Hour)); x.Nodes() > maxNodes/2 {
		t.Errorf("%d nodes after two days", x.Nodes())
	}
}

// TestAPI: changes, the newest first, flows together that went the same way; nodes.
func TestAPI(t *testing.T) {
	x := New()
	x.Look(tables(1, nil, 101, 203), &Known{}, at(1))
	for flow := range 3 {
		x.Observe(moved(10+float64(flow)/10, flow, ways[2], ways[3]))
	}
	x.Observe(moved(20, 1, ways[3], ways[0]))
	mux := http.NewServeMux()
	x.Register(mux)
	get := func(url string, status int) (a struct {
		Items []struct {
			Node  uint32
			Count int
			From  struct{ Nodes []struct{ Node uint32 } }
			Flows []string
			Time  time.Time
		}
		Totals map[string]int
		Error  string
	}) {
		t.Helper()
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", url, nil))
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != status {
			t.Fatalf("%s: %d %v %s", url, w.Code, err, w.Body)
		}
		return a
	}
	a := get("/api/v1/changes", 200)
	if len(a.Items) != 2 || a.Totals["changes"] != 2 || a.Items[0].Count != 1 || a.Items[1].Count != 3 || a.Items[1].From.Nodes[1].Node != 203 || len(a.Items[1].Flows) != 3 || !a.Items[1].Time.Equal(at(10)) {
		t.Errorf("%+v", a)
	}
	if a := get("/api/v1/changes?limit=1&since="+at(20).UTC().Format(time.RFC3339), 200); len(a.Items) != 1 {
		t.Errorf("%+v", a)
	}
	for _, wrong := range []string{"limit=0", "limit=x", "since=now", "x=1"} {
		if a := get("/api/v1/changes?"+wrong, 400); a.Error == "" {
			t.Errorf("%s: %+v", wrong, a)
		}
	}
	if a := get("/api/v1/nodes", 200); len(a.Items) != 3 || a.Items[0].Node != 101 { // 203 twice, and 204 or 201 by their flows
		t.Logf("%+v", a)
	}
}

// TestChangesOutliveARestart: the last changes are told as before, the newest first; those of tomorrow are not, and what
// cannot be read is an error, which leaves all as it was.
func TestChangesOutliveARestart(t *testing.T) {
	before, after := New(), New()
	for i := range ringSize + 10 {
		before.changes.add(at(float64(2*i)), strangers, fmt.Sprint("flow ", i), new(path(1, uint32(i))), new(path(1, uint32(i+1))))
	}
	told := func(x *Network) string {
		w := httptest.NewRecorder()
		x.serveChanges(w, httptest.NewRequest("GET", "/api/v1/changes?limit=1000", nil))
		return w.Body.String()
	}
	text := before.EncodeChanges()
	if err := after.DecodeChanges(text, at(1e6)); err != nil || told(after) != told(before) || after.changes.n != ringSize {
		t.Errorf("%v: %.300s", err, told(after))
	}
	for _, x := range []*Network{before, after} {
		x.changes.add(at(1e6), strangers, "one more", new(path(7, 8)), new(path(7, 9)))
	}
	if told(after) != told(before) {
		t.Errorf("one more: %.300s", told(after))
	}
	if err := after.DecodeChanges(text[:len(text)/2], at(1e6)); err == nil || told(after) != told(before) {
		t.Errorf("torn: %v", err)
	}
	if err := after.DecodeChanges(text, at(0)); err != nil || after.changes.n != 0 {
		t.Errorf("from tomorrow: %v, %d changes", err, after.changes.n)
	}
}

// forgedPath is a path through nodes that nobody has.
func forgedPath(n int) inspect.Path {
	return path(uint32(1<<20+3*n), uint32(1<<20+3*n+1), uint32(1<<20+3*n+2))
}

// TestMadeUpPlacesHideNothing: a hundred times as many made-up queues, loops, nodes, moves and losses as there is room for, with lower
// ids than all real ones, for a minute: each real fault at a known node is told at the second look at the latest, with its place and
// flows, its change is kept, a node that comes in the flood is known, and what had no room is one problem.
func TestMadeUpPlacesHideNothing(t *testing.T) {
	x, second := New(), 0.0
	real := []uint32{90101, 90201, 90202, 90203, 90301}
	calm := path(90101, 90203, 90301)
	for ; second < 90; second++ {
		x.Look(tables(second, nil, real...), &Known{}, at(second))
	}
	n := 0
	for ; second < 120; second++ {
		forged := []uint32{}
		for range maxNodes { // each second others, the first of them for longer
			n++
			forged = append(forged, uint32(n), uint32(n%100))
		}
		nodes := append(forged, real...)
		if second >= 100 {
			nodes = append(nodes, 90777) // comes in the flood
		}
		q := tables(second, nil, nodes...)
		for i := range q[0].Queues {
			if k := &q[0].Queues[i]; k.Key[0]>>32 < 90000 || second >= 110 && k.Key[0]>>32 == 90202 {
				k.Value.Congested, k.Value.Since, k.Value.Ends, k.Value.Latency = true, q[0].Now, 1<<62, 4e9
			}
		}
		for i := range 2000 {
			q[0].Ways = append(q[0].Ways, inspect.Row[inspect.Path]{Value: path(uint32(i), 5, uint32(i)), Seen: flows.Tick(q[0].Now)})
			x.Observe(moved(second, n+i, forgedPath(i), forgedPath(i+1)))
			x.Observe(&inspect.Notice{Time: at(second).UnixNano(), Events: event.Loss.Set(), Tracked: true, Known: true, Key: key(n + i), Path: forgedPath(i), LostNow: 1})
		}
		if second >= 110 {
			q[0].Ways = append(q[0].Ways, inspect.Row[inspect.Path]{Value: path(90101, 90202, 90201, 90202, 90301), Seen: flows.Tick(q[0].Now)})
			x.Observe(&inspect.Notice{Time: at(second).UnixNano(), Events: event.Loss.Set(), Tracked: true, Known: true, Key: key(7), Path: calm, LostNow: 1})
		}
		if second == 110 {
			for flow := range 20 {
				x.Observe(moved(second, flow, calm, path(90101, 90201, 90301)))
			}
		}
		signs := x.Look(q, &Known{}, at(second))
		got := kinds(signs)
		if len(got) > 7*maxOfKind {
			t.Fatalf("%v s: %d signs", second, len(got))
		}
		if _, known := x.Seen(90777); second >= 103 && !known {
			t.Errorf("%v s: the node that came is not known", second)
		}
		if second < 112 {
			continue
		}
		for _, want := range []string{"queue_congested node 90202 egress 2 queue 1", "loop node 90202", "path_changed node 90203", "loss_between from 90101 to 90301", "more_problems signs network"} {
			if !slices.Contains(got, want) {
				t.Errorf("%v s: no %q among %d signs", second, want, len(got))
			}
		}
	}
	if len(x.nodes) > maxNodes {
		t.Errorf("%d nodes", len(x.nodes))
	}
	if !slices.ContainsFunc(x.changes.all(), func(c *change) bool { return c.From.ID == calm.ID }) || x.changes.n > ringSize {
		t.Errorf("the real change is gone, %d changes", x.changes.n)
	}
}

// TestSprayedFlowsHaveNotMoved: what a flow did before it counts as sprayed was no change of its way: its entries go, those of others that went
// the same way stay, however many they are, and what it did long before.
func TestSprayedFlowsHaveNotMoved(t *testing.T) {
	const others = 12 // more than are named
	x := New()
	x.Observe(moved(1, 1, ways[3], ways[0]))
	for flow := range others {
		x.Observe(moved(200, 2+flow, ways[0], ways[1]))
	}
	for i := range 3 {
		x.Observe(moved(200+float64(i)/10, 1, ways[i%2], ways[i%2+1]))
		x.Observe(moved(200+float64(i)/10, 1, ways[i%2], ways[i%2+1]))
	}
	count := func() map[string]int {
		all := map[string]int{}
		for _, c := range x.changes.all() {
			all[fmt.Sprint(nodesOf(&c.From), nodesOf(&c.To))] += c.Count
		}
		return all
	}
	gone, stay := fmt.Sprint(nodesOf(&ways[1]), nodesOf(&ways[2])), fmt.Sprint(nodesOf(&ways[0]), nodesOf(&ways[1]))
	if all := count(); all[gone] != 1 || all[stay] != others+1 {
		t.Errorf("before: %v", all)
	}
	n := moved(201, 1, ways[2], ways[1])
	n.Events |= event.PathSwitch.Set()
	x.Observe(n)
	if all := count(); all[gone] != 0 || all[stay] != others || len(all) != 2 || x.changes.n != 2 {
		t.Errorf("after: %v, %d entries", all, x.changes.n)
	}
	if slices.ContainsFunc(x.moves, func(m move) bool { return m.flow == inspect.FlowID(new(key(1))) }) {
		t.Error("its moves are counted")
	}
}
