package observe

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"intsink/cmd/intsink/internal/mitigation"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/enginetest/workertest"
)

// TestRootNamesTheEndpoints, and each of them but those with a parameter answers.
func TestRootNamesTheEndpoints(t *testing.T) {
	s := source(polling(t))
	s.Control = controlled(t)
	none := func() int64 { return 0 }
	s.Modes = modes()
	s.Modes.Control = s.Control
	s.Mitigation = &mitigation.Server{Store: mitigation.NewStore(s.Workers, nil, none, none), Control: s.Control}
	h := s.handler()
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	for _, path := range strings.Fields(get("/").Body.String()) {
		if strings.Contains(path, "{") || strings.HasSuffix(path, "/events") { // of one flow; without an end
			continue
		}
		if w := get(path); w.Code != 200 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if get("/").Code != 200 || get("/nowhere").Code != 404 {
		t.Errorf("/ %d, /nowhere %d", get("/").Code, get("/nowhere").Code)
	}
}

// TestIdleClientsAreLeft: the server closes connections without a request.
func TestIdleClientsAreLeft(t *testing.T) {
	s := newServer(http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.IdleTimeout <= 0 {
		t.Errorf("header timeout %v, idle timeout %v", s.ReadHeaderTimeout, s.IdleTimeout)
	}
}

// source is an appliance of these workers, without links, collectors and ports.
func source(workers ...*engine.Worker) *Source {
	config := &conf.Config{Node: conf.Node{ID: 3}, DPDK: conf.DPDK{Lcores: []int{1}}, Flows: conf.Flows{Capacity: 1024}}
	return &Source{
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
