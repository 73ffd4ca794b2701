// Makes the HTTP server of metrics, health, API, page and profiles: routes, limits of
// connections, TLS.

package observe

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/ui"
	"intsink/cmd/internal/webguard"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/incident"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/openapi"
	"intsink/cmd/intsink/internal/sharing"
	"intsink/conf"
	"intsink/engine/series"
)

// Limits on connections and time that clients can hold.
const (
	maxConnections = 512              // at once; others wait to be accepted
	writePatience  = 30 * time.Second // for one answer to a client that does not read
)

// listen limits the connections of a listener. TLS is the outermost: http.Server has to
// see it.
func listen(open func(string) (net.Listener, error), address string, c *tls.Config) (net.Listener, error) {
	l, err := open(address)
	if err != nil {
		return nil, err
	}
	l = netutil.LimitListener(webguard.Shares(l, maxConnections), maxConnections)
	if c != nil {
		l = tls.NewListener(l, c)
	}
	return l, nil
}

// tlsOf is TLS by these files; nil: there are none.
func tlsOf(files *conf.TLS) (*tls.Config, error) {
	if *files == (conf.TLS{}) {
		return nil, nil
	}
	c, err := webguard.TLS(files)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return c, nil
}

// lookupPatience is how long a host name to listen on may take.
const lookupPatience = 2 * time.Second

func listenTCP(address string) (net.Listener, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookupPatience)
	defer cancel()
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", address)
}

// newServer bounds what a client that is silent or slow can hold: with so many of them as there may be
// connections, nobody else would be served. A handler that takes longer than write has a deadline
// of its own, as event streams have; 0 is no bound, for profiles, which take as long as they
// are asked to.
func newServer(h http.Handler, write time.Duration) *http.Server {
	return &http.Server{
		Handler: h, ConnContext: control.ConnContext, MaxHeaderBytes: 64 << 10, ErrorLog: newErrorLog(),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: write, IdleTimeout: time.Minute,
	}
}

// router is a mux that knows its routes.
type router struct {
	*http.ServeMux
	patterns []string
}

func newRouter() *router { return &router{ServeMux: http.NewServeMux()} }

// Handle implements control.Mux.
func (m *router) Handle(pattern string, h http.Handler) {
	m.patterns = append(m.patterns, pattern)
	m.ServeMux.Handle(pattern, h)
}

// HandleFunc implements control.Mux.
func (m *router) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, http.HandlerFunc(h))
}

// handler is what listen and the socket answer.
func (s *Source) handler() http.Handler {
	mux := s.routes()
	if s.Control == nil {
		return mux
	}
	return s.Control.Guard(mux)
}

// incident is an incident for people, with the names that are in force.
func (s *Source) incident(x *flowapi.Incident, format string) string {
	return incident.Page(x, format, names.Of(&s.Config().Names))
}

// makeAPI makes what answers with what the workers know.
func (s *Source) makeAPI() {
	if s.Counts == nil {
		s.Counts = series.NewCounts()
	}
	s.api = flowapi.New(s.Workers, s.Clock)
	s.api.Wall, s.api.Counts, s.api.Page = s.WallClock, s.Counts, s.incident
	s.api.Problems, s.api.Seen, s.api.Changes, s.api.Silent = s.Problems.All, s.Network.Seen, s.Network.EachChange, s.Network.EachSilent
	if s.Capture != nil {
		s.api.Recorded = s.Capture.Recorded
	}
}

// routes are all of handler's, with nobody before them.
func (s *Source) routes() *router {
	if s.Live == nil {
		s.Live = NewLive(s.Workers)
	}
	if s.Problems == nil {
		s.Problems = problem.New(slog.Default, nil)
	}
	if s.Network == nil {
		s.Network = network.New()
	}
	s.makeAPI()
	mux, questions := newRouter(), s.questions()
	mux.patterns = questions.patterns
	shared := sharing.New(questions, func(r *http.Request) string { // those on the socket come before all others, and wait for none
		if control.From(r) == "" {
			return "socket "
		}
		return ""
	})
	mux.Handle("GET /metrics", shared)
	mux.Handle("/api/v1/", shared)
	mux.HandleFunc("GET /api/v1/{$}", index)
	mux.HandleFunc("GET /api/v1/openapi.json", openapi.ServeHTTP)
	mux.HandleFunc("/api/v1/openapi.json", control.Only("GET", "GET, HEAD"))
	mux.HandleFunc("/api/", noVersion)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.healthy()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("verbose") {
			s.verbose(w)
			return
		}
		answer(w, s.ready())
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, endpoints) })
	mux.HandleFunc("GET /api/v1/events", s.events)
	mux.HandleFunc("HEAD /api/v1/events", control.Only("GET", "GET")) // which would hold a stream that says nothing
	mux.Handle("GET /ui/", ui.Handler("/ui/"))
	mux.Handle("GET /api/v1/problems", s.Problems)
	mux.HandleFunc("/api/v1/problems", control.Only("GET", "GET, HEAD"))
	s.Network.Register(mux)
	if s.Control == nil {
		return mux
	}
	s.Control.Register(mux)
	if s.History == nil {
		s.History = &confighistory.Server{History: confighistory.Open("", slog.Default), Control: s.Control}
	}
	s.History.Register(mux)
	if s.Mitigation != nil {
		s.Mitigation.Register(mux)
	}
	if s.Modes != nil {
		s.Modes.Register(mux)
	}
	if s.Capture != nil {
		s.Capture.Register(mux)
	}
	return mux
}

// questions answers what clients ask again and again.
func (s *Source) questions() *router {
	mux := newRouter()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		if err := s.writeMetrics(w); err != nil {
			slog.Error("metrics", "err", err)
		}
	})
	s.api.Register(mux)
	names.Register(mux, s.Config)
	mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.status()) })
	return mux
}

// profiles serves Go's profiles on a listener of their own: they cost time, and show insides of
// the process that other clients need not know.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// endpoints is what / answers.
var endpoints = "/ui/\n/metrics\n/healthz\n/readyz\n/readyz?verbose\n/api/v1/status\n/api/v1/events\n/api/v1/problems\n/api/v1/names\n/api/v1/incident\n/api/v1/openapi.json\n/api/v1/nodes\n/api/v1/nodes/{id}\n/api/v1/changes\n/api/v1/" + strings.Join(control.Endpoints, "\n/api/v1/") + "\n/api/v1/" + strings.Join(flowapi.Lists, "\n/api/v1/") + "\n/api/v1/" + strings.Join(flowapi.Details, "\n/api/v1/") + "\n/api/v1/history/" + strings.Join(flowapi.Histories, "\n/api/v1/history/") + "\n/api/v1/mitigations\n/api/v1/mitigations/{id}\n/api/v1/mode\n"

// index is GET /api/v1/.
func index(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string][]string{"endpoints": strings.Fields(endpoints)})
}

// noVersion answers below /api what is not of a version that there is.
func noVersion(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusNotFound, map[string]string{"error": "there is version 1 only; GET /api/v1/ lists what there is"})
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
