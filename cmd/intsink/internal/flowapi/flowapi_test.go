package flowapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"intsink/dpdk/mbuf"
	"intsink/engine"
	"intsink/engine/burst"
	"intsink/engine/enginetest"
	"intsink/engine/enginetest/workertest"
	"intsink/engine/event"
	"intsink/engine/usual"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// apiBed is the API over two workers, which poll.
type apiBed struct {
	t       *testing.T
	server  *httptest.Server
	in      *API
	workers []*engine.Worker
}

// apiFrame is an INT packet of flow n through three nodes: 101 > 102 or 112 > 103.
func apiFrame(t *testing.T, n int, latency uint32) []byte {
	f := intgen.Flow{
		Src: netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1}),
		Proto: intgen.UDP, SrcPort: 1024, DstPort: uint16(8000 + n%2),
	}
	if n%10 == 9 {
		f.Src, f.Dst = netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", n)), netip.MustParseAddr("2001:db8:1::1")
	}
	s := &intgen.Source{UDPPort: 5000, Bitmap: 0xfd00, MaxHops: 8} // all but level-2 interfaces, and tx utilization
	hops := make([]intgen.Hop, 3)
	for i := range hops { // newest first
		hops[i] = intgen.Hop{
			NodeID: uint32(103 - i), Ingress: 1, Egress: 2, LatencyNs: latency, QueueID: 1, QueueOccupancy: uint32(100 * (n % 5)),
			IngressTimestamp: uint64(1e18 + 2000*(3-i)), EgressTimestamp: uint64(1e18 + 2000*(3-i) + 500), TxUtilization: 40,
		}
	}
	if n%5 == 4 {
		hops[1].NodeID = 112
	}
	frame, err := s.Insert(f.Frame(20, uint32(n)), hops)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

func apiPolicy() event.Policy {
	deadband := event.Deadband{Absolute: 10_000, Relative: 0.5, K: 2, N: 4, Interval: 100e6}
	p := event.Policy{Sample: 1000, Thresholds: event.Thresholds{
		NewFlowRate: 20000, Paths: 4, PathMemory: 60e9, PathRate: 10, Latency: deadband, EndToEnd: deadband, LinkLatency: deadband,
		CongestionRaise: 300, CongestionClear: 100, CongestionQuota: 10, CongestionTimeout: 3600e9,
		TxRaise: 90, TxClear: 75, TxHold: 5e9, RefreshEvery: 2e9, RefreshJitter: 0.2,
	}}
	for _, e := range []event.Event{
		event.NewFlow, event.PathChange, event.HopLatency, event.EndToEnd, event.LinkLatency, event.Congestion, event.Refresh, event.FlowEnd,
	} {
		p.Events |= e.Set()
	}
	return p
}

func newAPIBed(t *testing.T, flowsOf ...[]int) *apiBed {
	port := uint16(5000)
	b := &apiBed{t: t}
	for w, mine := range flowsOf {
		pool, err := mbuf.NewArena(512, 2304)
		if err != nil {
			t.Fatal(err)
		}
		network := enginetest.NewPort(pool)
		for _, n := range mine {
			for i := range n + 1 { // flow n has n+1 packets, the last ones slower
				network.RX = append(network.RX, apiFrame(t, n, 10_000+uint32(i/3)*15_000))
			}
		}
		worker := workertest.New(t, func(c *engine.WorkerConfig) {
			c.Links = []burst.Link{{Name: "edge", Network: network, Host: enginetest.NewPort(pool)}}
			c.PacketPool, c.Seed = pool, uint64(w+1)
			c.Flows = flows.Config{Capacity: 4096, Seed: uint64(w + 1), IdleTimeout: 3600e9}
			c.Rules = &engine.Rules{
				INT:     inthdr.Config{UDPPort: &port, Version2: true},
				Watches: []watch.Watch{{Name: "web", Match: watch.Match{DestinationPort: []watch.PortRange{{First: 8000, Last: 8000}}}, Policy: apiPolicy()}, {Name: "all", Policy: apiPolicy()}},
			}
		})
		for worker.Poll() > 0 {
		}
		b.run(worker)
	}
	b.in = New(b.workers, func() int64 { return workertest.Now(b.workers...) })
	mux := http.NewServeMux()
	b.in.RegisterShared(mux)
	b.server = httptest.NewServer(mux)
	t.Cleanup(b.server.Close)
	return b
}

func (b *apiBed) run(w *engine.Worker) {
	b.workers = append(b.workers, w)
	workertest.Poll(b.t, w)
}

// get decodes the answer into body and returns the status.
func (b *apiBed) get(path string, body any) int {
	b.t.Helper()
	answer, err := http.Get(b.server.URL + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	d := json.NewDecoder(answer.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(body); err != nil || answer.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		b.t.Fatalf("%s: %v, %v", path, answer.Header, err)
	}
	return answer.StatusCode
}

// all are the items of every page of a list, and its totals that are numbers.
func all[T any](b *apiBed, path string) (items []T, totals map[string]float64) {
	b.t.Helper()
	for next := ""; ; {
		var p page[T]
		said := map[string]any{}
		p.Totals, totals = &said, map[string]float64{}
		if status := b.get(path+next, &p); status != http.StatusOK {
			b.t.Fatalf("%s: status %d", path+next, status)
		}
		for name, x := range said {
			if n, ok := x.(float64); ok {
				totals[name] = n
			}
		}
		items = append(items, p.Items...)
		if p.Next == "" {
			return items, totals
		}
		next = "&cursor=" + p.Next
	}
}

var twoWorkers = [][]int{{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}, {1, 3, 5, 7, 9, 11, 13, 15, 17, 19}}

func TestFlowsOfAllWorkersInOrder(t *testing.T) {
	b := newAPIBed(t, twoWorkers...)
	for _, limit := range []int{1, 3, 20, 1000} {
		items, totals := all[FlowItem](b, fmt.Sprintf("/api/v1/flows?sort=packets&limit=%d", limit))
		if len(items) != 20 || totals["flows"] != 20 || totals["packets"] != 210 || totals["flows_in_table"] != 20 {
			t.Fatalf("limit %d: %d items, %v", limit, len(items), totals)
		}
		for i, x := range items {
			if x.Packets != uint64(20-i) || x.Worker != fmt.Sprintf("w%d", (19-i)%2) || x.Path == nil || len(x.Nodes) != 3 {
				t.Errorf("limit %d, item %d: %+v", limit, i, x)
			}
		}
	}
}

func TestFlowFilters(t *testing.T) {
	b := newAPIBed(t, twoWorkers...)
	for query, want := range map[string]int{
		"watch=web": 10, "watch=all": 10,
		"source=10.0.0.0/29": 8, "source=10.0.0.7": 1, "source=2001:db8::/32": 2, "destination=10.1.0.1": 18, "source=0.0.0.0/0": 18,
		"protocol=udp": 20, "protocol=6": 0, "port=1024": 20, "port=8001": 10, "source_port=8001": 0, "destination_port=8000": 10,
		"node=112": 4, "node=102": 16, "node=101": 20, "node=7": 0, "link=101-112": 4, "link=112-101": 0, "link=101-102": 16,
		"node=112&watch=web": 2, "congested=true": 20, "congested=false": 0,
		"min_hop_latency_ns=10001": 16, "min_latency_ns=30001": 16, "min_latency_ns=4000000000": 0,
		"path=0123456789abcdef": 0, "path=w1-0123456789abcdef": 0,
	} {
		t.Run(query, func(t *testing.T) {
			items, totals := all[FlowItem](b, "/api/v1/flows?limit=7&sort=last_seen&"+query)
			if len(items) != want || totals["flows"] != float64(want) {
				t.Errorf("%s: %d flows, total %v; want %d", query, len(items), totals["flows"], want)
			}
		})
	}
	items, _ := all[FlowItem](b, "/api/v1/flows?node=112")
	if some, _ := all[FlowItem](b, "/api/v1/flows?path="+*items[0].Path); len(some) != 4 {
		t.Errorf("%d flows on the path of %s, want 4", len(some), items[0].ID)
	}
}

func TestPathsOfAllWorkers(t *testing.T) {
	b := newAPIBed(t, twoWorkers...)
	items, totals := all[pathTotalItem](b, "/api/v1/paths?limit=1")
	if len(items) != 2 || totals["paths"] != 2 || totals["flows"] != 20 || items[0].Flows != 16 || items[1].Flows != 4 || items[1].Packets != 50 {
		t.Fatalf("%+v %v", items, totals)
	}
	if n := items[1].Nodes; len(n) != 3 || n[0].Node != 101 || n[1].Node != 112 || *n[2].Egress != 2 || !items[1].Congested {
		t.Errorf("%+v", items[1])
	}
	for query, want := range map[string]int{
		"node=112": 1, "link=102-103": 1, "congested=true": 2, "congested=false": 0, "id=" + items[0].ID: 1, "min_latency_ns=4000000000": 0,
	} {
		t.Run(query, func(t *testing.T) {
			if some, _ := all[pathTotalItem](b, "/api/v1/paths?"+query); len(some) != want {
				t.Errorf("%s: %d paths, want %d", query, len(some), want)
			}
		})
	}
	var one pathTotalItem
	if status := b.get("/api/v1/paths/"+items[1].ID, &one); status != 200 || one.ID != items[1].ID || one.Packets != 50 || len(one.Nodes) != 3 {
		t.Errorf("one path: %d %+v", status, one)
	}
}

func TestQueuesLinksAndInterfaces(t *testing.T) {
	b := newAPIBed(t, twoWorkers...)
	queues, totals := all[queueItem](b, "/api/v1/queues?limit=3")
	if len(queues) != 4 || totals["rows"] != 4 || totals["congested"] == 0 {
		t.Fatalf("%+v %v", queues, totals)
	}
	for _, q := range queues {
		if q.Queue != 1 || *q.Egress != 2 || q.TxUtilization == nil || *q.TxUtilization != 40 || q.Episodes == 0 || q.Since == nil {
			t.Errorf("%+v", q)
		}
	}
	if _, calm := all[queueItem](b, "/api/v1/queues?congested=false"); fmt.Sprint(calm["congested"]) != "0" {
		t.Errorf("totals without a congested queue: %v", calm)
	}
	if some, _ := all[queueItem](b, "/api/v1/queues?node=112&congested=true"); len(some) != 1 || some[0].Node != 112 || *some[0].Occupancy != 400 {
		t.Errorf("%+v", some)
	}
	var one queueItem
	if status := b.get("/api/v1/queues/112:2:1", &one); status != 200 || one.Node != 112 || *one.Occupancy != 400 || *one.TxUtilization != 40 {
		t.Errorf("one queue: %d %+v", status, one)
	}
	if x := (&queueItem{Node: 7, Queue: 3}); x.queueID() != "7:-:3" {
		t.Errorf("of an interface that is not known: %s", x.queueID())
	}
	links, _ := all[linkItem](b, "/api/v1/links?limit=1")
	if len(links) != 4 || *links[0].LatencyNs != 1500 || *links[0].ReferenceNs != 1500 || links[0].TxUtilization == nil {
		t.Errorf("%+v", links)
	}
	if some, _ := all[linkItem](b, "/api/v1/links?link=112-103"); len(some) != 1 || some[0].From != 112 || *some[0].ToIngress != 1 {
		t.Errorf("%+v", some)
	}
	interfaces, _ := all[interfaceItem](b, "/api/v1/interfaces?min_tx_utilization=40&busy=false")
	if len(interfaces) != 4 || interfaces[0].TxUtilization != 40 {
		t.Errorf("%+v", interfaces)
	}
}

func TestOneFlow(t *testing.T) {
	b := newAPIBed(t, twoWorkers...)
	for _, id := range []string{"udp:10.0.0.4:1024-10.1.0.1:8000", "udp:[2001:db8::13]:1024-[2001:db8:1::1]:8001", "17:10.0.0.4:1024-10.1.0.1:8000"} {
		var d FlowDetail
		if status := b.get("/api/v1/flows/"+url.PathEscape(id), &d); status != http.StatusOK {
			t.Fatalf("%s: status %d", id, status)
		}
		if d.Thresholds == nil || len(d.Hops) != 3 || d.EndToEnd == nil || len(d.Paths) != 1 || d.RefreshDue == nil || *d.Hops[0].OnPath != true {
			t.Errorf("%s: %+v", id, d)
		}
	}
	var d FlowDetail // 5 packets: 3 of 10 us, 2 of 25 us a hop: the second is reported
	b.get("/api/v1/flows/udp:10.0.0.4:1024-10.1.0.1:8000", &d)
	h := d.Hops[0]
	if h.ReferenceNs != 25_000 || h.AboveNs != 37_500 || h.BelowNs == nil || *h.BelowNs != 12_500 || h.Need != 2 || h.Of != 4 || h.Deviating != 0 {
		t.Errorf("reference %+v", h)
	}
	if d.LastReport == nil || !strings.Contains(strings.Join(d.LastEvents, " "), "hop_latency") || d.Watch == nil || *d.Watch != "web" {
		t.Errorf("last report %v %v, watch %v", d.LastReport, d.LastEvents, d.Watch)
	}
}

// TestHistoryOfPaths: a path has what it did, by the id of the list of paths.
func TestHistoryOfPaths(t *testing.T) {
	b := newAPIBed(t, []int{1, 40}, []int{3, 60})
	var a struct {
		Begin  time.Time
		StepNs int64 `json:"step_ns"`
		Steps  int
		Items  []historyItem
		Next   string
		Totals historyTotals
	}
	paths, _ := all[pathTotalItem](b, "/api/v1/paths")
	b.workers[0].Series().Add(time.Now().Add(-3*time.Second).UnixNano(), []usual.Reading{{Place: pathPlace(paths[0].Nodes), Latency: 12_000, Occupancy: 1<<32 - 1}})
	b.get("/api/v1/history/paths?since=1m", &a)
	if len(a.Items) != 1 || a.Items[0].Path == nil || a.Items[0].LatencyNs == nil || a.Items[0].Occupancy != nil || a.Steps != 60 || a.Totals.Rows != 1 {
		t.Fatalf("%+v", a)
	}
	id := paths[0].ID
	if code := b.get("/api/v1/history/paths?since=1m&id="+id, &a); code != 200 || len(a.Items) != 1 || a.Items[0].Path.ID != id {
		t.Errorf("%d: %+v", code, a)
	}
}
