package vitals

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"intsink/conf"
	"intsink/engine"
	"intsink/engine/burst"
	"intsink/engine/enginetest/workertest"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/exporters"
)

// sent is an exporter that sent so many packets and had one refused.
type sent uint64

func (n sent) Counters() (c exporters.Counters) {
	c.Packets, c.Dropped[exporters.DropRefused] = uint64(n), 1
	return c
}

// up is a port with link.
type up struct{}

func (up) LinkDown() string                { return "" }
func (up) LinkChanges() uint64             { return 1 }
func (up) Counters() (PortCounters, error) { return PortCounters{RxPackets: 9, RxMissed: 2}, nil }

func TestStatusHasTheCounters(t *testing.T) {
	s := source(polling(t))
	s.Links = []string{"edge", "span"}
	s.Collectors = func() []Collector { return []Collector{{Name: "primary", Exporter: sent(5)}} }
	s.Ports = []Port{{Name: "network", Device: up{}}}
	c := *s.Config()
	c.Links = []conf.Link{{Name: "edge"}}
	c.Ports = []conf.Port{{Name: "network", Device: "net_null0"}}
	c.Collectors = []conf.Collector{{Name: "primary", Budget: conf.Budget{Packets: 100}}}
	s.Config = func() *conf.Config { return &c }

	links := make([]engine.LinkCounters, 2)
	links[0].Direction[burst.ToHost] = burst.DirectionCounters{Received: 10, Forwarded: 8}
	links[0].Direction[burst.ToHost].Dropped[burst.DropTxFull] = 2
	links[0].ToNetwork.Leaked = 1
	snapshot := engine.Counters{Links: links, Counters: reporting.Counters{Collectors: []reporting.CollectorCounters{{Name: "primary", Reports: 20, Packets: 6}}}}
	snapshot.Detector.Fired[event.PathChange] = 4

	j := s.statusOf([]engine.Counters{snapshot}, s.exported())
	if l := j.Links[0]; l.Kind != "link" || len(l.Directions) != 2 || l.Leaked != 1 || l.Directions[0].Received != l.Directions[0].Forwarded+l.Directions[0].Dropped["tx_full"] {
		t.Errorf("link: %+v", l)
	}
	if l := j.Links[1]; l.Kind != "tap" || len(l.Directions) != 1 {
		t.Errorf("tap: %+v", l)
	}
	if c := j.Collectors[0]; c.Reports != 20 || c.PacketsSent != 5 || c.Dropped["refused"] != 1 || c.BudgetPackets != 100 || c.GatewayKnown != nil {
		t.Errorf("collector: %+v", c)
	}
	if p := j.Ports[0]; !p.LinkUp || p.Device != "net_null0" || p.RxPackets != 9 || p.RxMissed != 2 {
		t.Errorf("port: %+v", p)
	}
	if w := j.Workers[0]; w.Name != "w0" || w.Lcore != 1 || w.FlowCapacity != 1024 {
		t.Errorf("worker: %+v", w)
	}
	if j.Node != 3 || j.Ready != "ok" || j.Events["path_change"] != 4 || j.Mbufs != 100 || j.MbufsInUse != 7 {
		t.Errorf("%+v", j)
	}
}

func TestStatusIsJSON(t *testing.T) {
	w := httptest.NewRecorder()
	mux := http.NewServeMux()
	source(polling(t)).RegisterShared(mux)
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/status", nil))
	var j map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &j); err != nil || w.Code != 200 || j["ready"] != "ok" || j["version"] != "test" {
		t.Errorf("%d %v: %s", w.Code, err, w.Body)
	}
	for _, list := range []string{"links", "collectors", "workers", "ports"} {
		if _, ok := j[list].([]any); !ok {
			t.Errorf("%s is %v, want a list", list, j[list])
		}
	}
}

// source is an appliance of these workers, without links, collectors and ports.
func source(workers ...*engine.Worker) *Server {
	config := &conf.Config{Node: conf.Node{ID: 3}, DPDK: conf.DPDK{Lcores: []int{1}}, Flows: conf.Flows{Capacity: 1024}}
	return &Server{
		Version: "test", Config: func() *conf.Config { return config }, Clock: func() int64 { return workertest.Now(workers...) },
		Stopping: func() bool { return false }, Workers: workers, Mbufs: mbufs{},
		Collectors: func() []Collector { return nil },
	}
}

// mbufs is a pool of packets with 7 of 100 mbufs in use.
type mbufs struct{}

func (mbufs) InUse() int { return 7 }
func (mbufs) Size() int  { return 100 }

// polling is a worker without links that answers questions until the test ends.
func polling(t *testing.T) *engine.Worker {
	w := workertest.New(t, nil)
	workertest.Poll(t, w)
	return w
}
