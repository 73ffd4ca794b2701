package client

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/burst"
	"intsink/engine/enginetest"
	"intsink/engine/enginetest/workertest"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// played is a worker whose time the test tells, and the API that why asks.
type played struct {
	t       *testing.T
	now     atomic.Int64 // read by the server, too
	worker  *engine.Worker
	network *enginetest.Port
	server  *httptest.Server
}

const playStart = 1_700_000_000e9

func newPlayed(t *testing.T, change func(*event.Thresholds)) *played {
	pool, err := mbuf.NewArena(512, 2304)
	if err != nil {
		t.Fatal(err)
	}
	policy := event.Policy{Thresholds: event.Thresholds{
		NewFlowRate: 1000, Paths: 4, PathMemory: 60e9, PathRate: 2, Latency: event.Deadband{Absolute: 10_000, Relative: 0.5, K: 1, N: 4, Interval: 100e6},
		EndToEnd: event.Deadband{Absolute: 50_000, Relative: 0.5, K: 1, N: 4, Interval: 200e6}, CongestionRaise: 1000, CongestionClear: 500, CongestionQuota: 3, CongestionTimeout: 3600e9,
		TxRaise: 90, TxClear: 75, TxHold: 5e9, HopLimitRearm: 10e9, RefreshEvery: 3600e9,
	}}
	if change != nil {
		change(&policy.Thresholds)
	}
	for _, e := range []event.Event{event.PathChange, event.HopLatency, event.EndToEnd, event.Congestion, event.TxUtilization, event.HopLimit} {
		policy.Events |= e.Set()
	}
	p := &played{t: t, network: enginetest.NewPort(pool)}
	port := uint16(5000)
	p.now.Store(playStart)
	p.worker = workertest.New(t, func(c *engine.WorkerConfig) {
		c.Links = []burst.Link{{Name: "edge", Network: p.network, Host: enginetest.NewPort(pool)}}
		c.PacketPool, c.Clock = pool, p.now.Load
		c.Flows = flows.Config{Capacity: 1024, IdleTimeout: 3600e9}
		c.Rules = &engine.Rules{INT: inthdr.Config{UDPPort: &port, Version2: true}, Watches: []watch.Watch{{Name: "all", Policy: policy, Collectors: 1}}}
		c.Rules.Collectors = []reporting.Collector{{Address: netip.MustParseAddrPort("192.0.2.10:8555"), MaxPayload: 1358}}
		c.Rules.Report = reporting.Rules{Fragment: 128, MaxDelay: 1e6}
		c.Outlets, c.ReportPool = []reporting.Outlet{{Ring: ring.New(256)}}, pool
	})
	p.worker.Tick(playStart - 1e6)
	in := flowapi.New([]*engine.Worker{p.worker}, p.now.Load)
	mux := http.NewServeMux()
	in.RegisterShared(mux)
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

// play is one packet, at a time after the start.
type play struct {
	ms        int64
	node      uint32 // 0: 102, the second of three
	latency   uint32 // of it; 0: 10 us
	occupancy uint32
	busy      uint32 // percent
	exceeded  bool   // the E flag
}

// send passes the packet, and returns which events were reported of it.
func (p *played) send(x play) event.Set {
	p.t.Helper()
	p.now.Store(playStart + x.ms*1e6)
	f := intgen.Flow{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000}
	hops := make([]intgen.Hop, 3)
	for i := range hops { // newest first
		hops[i] = intgen.Hop{NodeID: uint32(103 - i), Ingress: 1, Egress: 2, LatencyNs: 10_000, TxUtilization: 10}
	}
	h := &hops[1]
	if h.QueueID, h.QueueOccupancy, h.TxUtilization = 5, x.occupancy, x.busy; x.node != 0 {
		h.NodeID = x.node
	}
	if x.latency != 0 {
		h.LatencyNs = x.latency
	}
	frame, err := (&intgen.Source{UDPPort: 5000, Bitmap: 0xf100, MaxHops: 8, HopExceeded: x.exceeded}).Insert(f.Frame(20, 1), hops)
	if err != nil {
		p.t.Fatal(err)
	}
	before := p.worker.Snapshot().Reported
	p.network.RX = append(p.network.RX, frame)
	for p.worker.Poll() > 0 {
	}
	p.worker.Tick(p.now.Load())
	var set event.Set
	for e, n := range p.worker.Snapshot().Reported {
		if n > before[e] {
			set |= event.Event(e).Set()
		}
	}
	return set
}

// why is what the command says some milliseconds after the last packet.
func (p *played) why() (string, *flowapi.FlowDetail) {
	p.t.Helper()
	var d flowapi.FlowDetail
	answered := make(chan error)
	go func() {
		answer, err := http.Get(p.server.URL + "/api/v1/flows/udp:10.0.0.1:1024-10.1.0.1:8000")
		if err == nil {
			err = json.NewDecoder(answer.Body).Decode(&d)
			answer.Body.Close()
		}
		answered <- err
	}()
	for {
		select {
		case err := <-answered:
			if err != nil {
				p.t.Fatal(err)
			}
			return whyText(&d, nil), &d
		case <-time.After(5 * time.Millisecond):
			p.now.Add(1e6) // a question is taken up at a tick
			p.worker.Tick(p.now.Load())
			p.worker.Tick(p.now.Load())
		}
	}
}

// TestWhatComesNextIsTrue: what why says of an event's next report is played: nothing is reported before, and the packet
// that it names is.
func TestWhatComesNextIsTrue(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []play
		says   string
		silent []play // report nothing of the event
		next   play   // is reported
		event  event.Event
	}{
		{"an episode that has used its reports", []play{{ms: 0}, {ms: 1, occupancy: 2000}, {ms: 2, occupancy: 2000}, {ms: 3, occupancy: 4000}},
			`queue 102:2:5: its episode of 22:13:20 has used its 3 reports: the next ones are of its end \(an occupancy of 500 or less\), and of a new episode`,
			[]play{{ms: 1000, occupancy: 9000}, {ms: 1001, occupancy: 501}}, play{ms: 1002, occupancy: 500}, event.Congestion},
		{"an episode that has not", []play{{ms: 0}, {ms: 1, occupancy: 2000}, {ms: 2, occupancy: 2000}},
			`queue 102:2:5: its episode of 22:13:20 has used 2 of its 3 reports: the next ones are of a packet twice as bad as the last that was reported, of the 2nd, 4th, 8th and so on over the threshold, and of its end \(an occupancy of 500 or less\)`,
			[]play{{ms: 1000, occupancy: 999}, {ms: 1001, occupancy: 1000}}, play{ms: 1002, occupancy: 1000}, event.Congestion},
		{"a hop reported lately", []play{{ms: 0}, {ms: 1, latency: 40_000}, {ms: 31, latency: 40_000}},
			`node 102: reported lately: not again for [0-9.]+ ms`,
			[]play{{ms: 100, latency: 10_000}}, play{ms: 101, latency: 10_000}, event.HopLatency},
		{"the whole way reported lately", []play{{ms: 0}, {ms: 1, latency: 90_000}},
			`reported lately: not again for [0-9.]+ ms`,
			[]play{{ms: 200, latency: 10_000}}, play{ms: 201, latency: 10_000}, event.EndToEnd},
		{"paths beyond the rate", []play{{ms: 0}, {ms: 1, node: 111}, {ms: 2, node: 112}},
			`its reports of this second are used up: the next one in [0-9.]+ ms`,
			[]play{{ms: 500, node: 113}}, play{ms: 501, node: 113}, event.PathChange},
		{"a busy interface", []play{{ms: 0, busy: 10}, {ms: 1, busy: 95}},
			`interface 102:2: busy, and reported: not again before it has been at 75 or less for 5 s`,
			[]play{{ms: 2000, busy: 99}, {ms: 3000, busy: 75}, {ms: 7999, busy: 95}, {ms: 8000, busy: 75}, {ms: 13000, busy: 75}}, play{ms: 13001, busy: 95}, event.TxUtilization},
		{"the E flag", []play{{ms: 0}, {ms: 1, exceeded: true}},
			`seen lately: not reported again unless packets come without it for [0-9.]+ s`,
			[]play{{ms: 10000, exceeded: true}, {ms: 10001}}, play{ms: 20000, exceeded: true}, event.HopLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlayed(t, nil)
			for _, x := range c.before {
				p.send(x)
			}
			text, d := p.why()
			if !regexp.MustCompile(`(?m)^      ` + c.says + `$`).MatchString(text) {
				t.Errorf("why lacks %s\n%s", c.says, text)
			}
			at := slices.IndexFunc(d.Waits, func(w flowapi.WaitItem) bool { return w.Event == c.event.String() })
			if w := d.Waits[at]; w.Why != "flag" && w.Until != nil && w.Until.UnixNano() != playStart+c.next.ms*1e6 {
				t.Errorf("until %v, and the next one that is reported at %d ms", w.Until, c.next.ms)
			}
			for _, x := range c.silent {
				if p.send(x).Has(c.event) {
					t.Errorf("%+v is reported", x)
				}
			}
			if !p.send(c.next).Has(c.event) {
				t.Errorf("%+v is not reported", c.next)
			}
		})
	}
	p := newPlayed(t, nil)
	p.send(play{})
	if text, _ := p.why(); slices.ContainsFunc(strings.Split(text, "\n"), func(l string) bool { return strings.HasPrefix(l, "      ") }) {
		t.Errorf("nothing waits\n%s", text)
	}
}
