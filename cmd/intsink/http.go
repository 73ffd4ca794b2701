package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
)

// startHTTP serves /metrics, /healthz, /readyz, /api/v1 and /debug/pprof on addr and
// returns a function that stops it. An empty addr: no server.
func (a *appliance) startHTTP(addr string) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w; choose another address, or \"\" for none", err)
	}
	s := newServer(a.handler())
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			slog.Error("http server ended", "err", err)
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Shutdown(ctx)
	}, nil
}

// newServer bounds what a client that is silent or slow can hold. A write has no bound of
// its own: profiles take as long as they are asked to.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
}

func (a *appliance) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		a.writeMetrics(w)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, a.healthy()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, a.ready()) })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, endpoints) })
	flowapi.New(a.workers, a.clock).Register(mux)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// endpoints is what / answers.
var endpoints = "/metrics\n/healthz\n/readyz\n/api/v1/" + strings.Join(flowapi.Lists, "\n/api/v1/") + "\n/api/v1/flows/{id}\n/debug/pprof/\n"

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// healthy: every worker has ticked lately.
func (a *appliance) healthy() error {
	now := a.clock()
	for i, w := range a.workers {
		beat := w.Beat()
		if beat == 0 {
			return fmt.Errorf("worker w%d has not polled yet", i)
		}
		if late := time.Duration(now - beat); late > flowapi.StuckAfter {
			return fmt.Errorf("worker w%d has not polled for %v", i, late.Round(time.Millisecond))
		}
	}
	return nil
}

// ready: healthy, and every port's link is up.
func (a *appliance) ready() error {
	if a.stopping.Load() {
		return errors.New("stopping")
	}
	for _, p := range a.ports {
		if !p.eth.LinkUp() {
			return fmt.Errorf("port %q: link is down", p.name)
		}
	}
	return a.healthy()
}
