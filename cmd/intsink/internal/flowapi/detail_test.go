package flowapi

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/flows"
)

// knownFlow returns a worker's answer about a flow, with every field filled in.
func knownFlow(t *testing.T) *FlowDetail {
	const now = 1_700_000_000_123_456_789
	key, err := inspect.ParseFlowID("udp:10.0.0.1:1024-10.1.0.1:8000")
	if err != nil {
		t.Fatal(err)
	}
	policy := apiPolicy()
	policy.Events |= event.Loss.Set() | event.Drop.Set() | event.HopLimit.Set() | event.MTUExceeded.Set() | event.TxUtilization.Set()
	x := &policy.Thresholds
	x.CongestionLatency, x.LossTimeout, x.LossInterval, x.DropInterval, x.HopLimitRearm, x.MTURearm = 50_000, 200e6, 1e9, 1e9, 10e9, 10e9
	q := &inspect.PendingQuery{Query: inspect.New(inspect.OneFlow|inspect.Ways|inspect.Queues, 0), Watches: []watch.Watch{{Name: "web", Policy: policy}}}
	q.Now = now
	q.Flow = &inspect.Flow{
		Key: key, Matched: true, Seen: now - 12e6, Packets: 123456, Bytes: 98765432,
		NumHops: 3, EndKnown: true, EndRef: 45_000, EndWindow: 5,
		NumPaths: 2, RefreshDue: now + 1.25e9, LastReport: now - 750e6, LastEvents: event.HopLatency.Set() | event.PathChange.Set(),
		Suppressed: 4, Shed: 2, Drops: 1, Sequence: true, Lost: 3, Reordered: 2, Restarts: 1,
	}
	for i, id := range []uint32{101, 102, 112} {
		q.Flow.Hops[i] = flows.Hop{Node: id << 24, Ref: 5_000 + 10_000*uint32(i)}
	}
	q.Flow.Windows[1] = 1
	c := &q.Limits.Cold
	c.HopSent[1], c.EndSent, c.Change, c.ChangeAt = now-40e6, now-2e9, uint32(event.Congestion.Set()), now-1.5e9
	q.Flow.Paths[0], q.Flow.Paths[1] = flows.LeftPath(1, (now-12e6)>>20, 0), flows.LeftPath(2, (now-59e9)>>20, 0)
	way := &inspect.Path{ID: 0xabc, Hops: 2, Bitmap: 0xfd00}
	way.Way[0], way.Way[1] = inspect.PathHop{Node: 101, Ingress: 1, Egress: 2}, inspect.PathHop{Node: 102, Ingress: 1, Egress: 0xffff}
	d := newFlowDetail(0, q, ways{{1: way}})
	q.Queues = append(q.Queues, inspect.Row[event.Queue]{Key: [2]uint64{101<<32 | 2, 5}, Value: event.Queue{Congested: true, Ends: 1 << 62, Reports: 10, Since: now - 9e9, Seen: now}})
	d.addWaits(q, []*inspect.PendingQuery{q})
	return d
}

// TestFlowDetail: testdata/flow.json is the answer of GET /api/v1/flows/{id} with every field
// filled in; intsink why is tested with it. INTSINK_UPDATE=1 rewrites it.
func TestFlowDetail(t *testing.T) {
	text, err := json.MarshalIndent(knownFlow(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	const path = "testdata/flow.json"
	if os.Getenv("INTSINK_UPDATE") != "" {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(text, want) {
		t.Errorf("%s: %v; want\n%s\ngot\n%s", path, err, want, text)
	}
}

// TestWhatAFlowLacks: values that the INT of its path does not carry, with the events that need them; nothing is said of
// a path that is not kept.
func TestWhatAFlowLacks(t *testing.T) {
	policy := apiPolicy()
	policy.Events = event.HopLatency.Set() | event.EndToEnd.Set() | event.PathChange.Set() | event.LinkLatency.Set()
	got := lacksOf(&policy, false, &inspect.Path{Bitmap: 0xc000})
	want := []LackItem{{"hop_latency", []string{"hop_latency", "end_to_end"}}, {"timestamps", []string{"link_latency"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := lacksOf(&policy, false, nil); got == nil || len(got) != 0 {
		t.Errorf("of no path: %#v", got)
	}
	policy.Events, policy.Thresholds.TxAuto = event.TxUtilization.Set(), true
	for _, known := range []bool{false, true} { // the unit is what a model of the node says, no value of INT
		if got := lacksOf(&policy, known, &inspect.Path{Bitmap: 0xc100}); (len(got) == 0) != known {
			t.Errorf("the unit of loads is known: %v; lacks %+v", known, got)
		}
	}
}
