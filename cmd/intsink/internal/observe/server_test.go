package observe

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/ui"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/events"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/livecapture"
	"intsink/cmd/intsink/internal/mitigation"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/openapi"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/aside/mitigate"
	"intsink/engine/enginetest/workertest"
)

// TestRootNamesTheEndpoints, and each of them but those with a parameter answers.
func TestRootNamesTheEndpoints(t *testing.T) {
	s := source(polling(t))
	s.control(t, controlled(t))
	h := s.handler()
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	for _, path := range strings.Fields(get("/").Body.String()) {
		if strings.Contains(path, "{") || strings.HasSuffix(path, "/events") || strings.HasSuffix(path, "/incident") { // of one flow; without an end; about something
			continue
		}
		if w := get(path); w.Code != 200 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := get("/api/v1/"); w.Code != 200 || !strings.Contains(w.Body.String(), `"/api/v1/mitigations"`) || !strings.Contains(w.Body.String(), `"/api/v1/mode"`) {
		t.Errorf("/api/v1/: %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/api/", "/api/v2/flows", "/api/v1/hops"} {
		if w := get(path); w.Code != 404 || !strings.Contains(w.Body.String(), `"error"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if get("/").Code != 200 || get("/nowhere").Code != 404 {
		t.Errorf("/ %d, /nowhere %d", get("/").Code, get("/nowhere").Code)
	}
}

// TestIdleClientsAreLeft: the server closes connections without a request, and of clients that do
// not read; profiles take as long as they are asked to.
func TestIdleClientsAreLeft(t *testing.T) {
	s := &Servers{source: source().Source}
	for name, write := range map[string]time.Duration{"http.listen": 30 * time.Second, "http.pprof": 0} {
		o, err := s.start(place{name: name, address: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		o.listener.Close()
		if h := o.server; h.ReadHeaderTimeout <= 0 || h.IdleTimeout <= 0 || h.WriteTimeout != write {
			t.Errorf("%s: header timeout %v, idle timeout %v, write timeout %v, want %v", name, h.ReadHeaderTimeout, h.IdleTimeout, h.WriteTimeout, write)
		}
	}
}

// TestNobodyHoldsAnAnswer: the server closes the connection of a client that sends requests and does not read
// the answers, on every path; no handler lifts the server's write deadline.
func TestNobodyHoldsAnAnswer(t *testing.T) {
	for _, path := range []string{"/", "/healthz", "/readyz", "/readyz?verbose", "/ui/", "/nowhere", "/metrics?" + strings.Repeat("x", 2000)} {
		t.Run(path[:min(len(path), 20)], func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s := newServer(source(polling(t)).handler(), 100*time.Millisecond)
			go s.Serve(l)
			defer s.Close()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(3 * time.Minute))
			for err == nil {
				_, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: sink\r\n\r\n", path)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("its answers are still held")
			}
		})
	}
}

// TestConnectionsAreBounded: beyond as many as there may be, the next waits for one to end.
func TestConnectionsAreBounded(t *testing.T) {
	l, err := listen(listenTCP, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	var open []net.Conn
	for range maxConnections {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open = append(open, <-accepted)
	}
	c, err := net.Dial("tcp", l.Addr().String()) // the kernel connects it
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	select {
	case <-accepted:
		t.Error("one more is served")
	case <-time.After(50 * time.Millisecond):
	}
	open[0].Close()
	(<-accepted).Close()
	for _, c := range open[1:] {
		c.Close()
	}
}

// TestProfilesAreApart: the endpoint of metrics and API has none.
func TestProfilesAreApart(t *testing.T) {
	for name, c := range map[string]struct {
		h    http.Handler
		want int
	}{"endpoint": {source().handler(), 404}, "profiles": {profiles(), 200}} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			c.h.ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/cmdline", nil))
			if w.Code != c.want {
				t.Errorf("%s: %d, want %d", name, w.Code, c.want)
			}
		})
	}
}

// sink is what the tests serve.
type sink struct {
	*Source
	vitals *vitals.Server
}

// source serves these workers, without links, collectors and ports: vitals, events and what the workers answer.
func source(workers ...*engine.Worker) *sink {
	config := &conf.Config{Node: conf.Node{ID: 3}, DPDK: conf.DPDK{Lcores: []int{1}}, Flows: conf.Flows{Capacity: 1024}}
	clock := func() int64 { return workertest.Now(workers...) }
	s := &sink{vitals: &vitals.Server{
		Version: "test", Config: func() *conf.Config { return config }, Clock: clock,
		Stopping: func() bool { return false }, Workers: workers, Mbufs: pool{},
		Collectors: func() []vitals.Collector { return nil },
	}}
	s.Source = &Source{Config: func() *conf.Config { return config }, Parts: []any{
		part.Page{Pattern: "GET /ui/", Path: "/ui/", Handler: ui.Handler("/ui/")},
		s.vitals, &events.Server{Live: events.NewLive(workers)}, &vitals.Problems{List: problem.New(slog.Default, nil)},
		&names.Server{Config: func() *conf.Config { return config }}, flowapi.New(workers, clock), openapi.Server{}, network.New(),
	}}
	return s
}

// control lets c decide who may what, and adds the parts that change something.
func (s *sink) control(t *testing.T, c *control.Server) {
	t.Helper()
	none := func() int64 { return 0 }
	m := modes()
	m.Control = c
	s.Control, s.vitals.Fills = c, []part.Status{c, m}
	s.Parts = append(s.Parts, c,
		&confighistory.Server{History: confighistory.Open("", slog.Default), Control: c},
		&mitigation.Server{Store: mitigation.NewStore([]*mitigate.Aside{engine.AsideOf[*mitigate.Aside](s.vitals.Workers[0])}, nil, none, none), Control: c},
		m,
		&livecapture.Server{Config: c.Sink.Config, Clock: none, Control: c})
}

// polling is a worker without links that answers questions until the test ends.
func polling(t *testing.T) *engine.Worker {
	w := workertest.New(t, nil)
	workertest.Poll(t, w)
	return w
}
