// Makes the HTTP server of metrics, health, API, page and profiles: routes, limits of
// connections, TLS.

package observe

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"intsink/cmd/internal/webguard"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/sharing"
	"intsink/conf"
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

// routes are all of handler's, with nobody before them.
func (s *Source) routes() *router {
	mux, questions := newRouter(), newRouter()
	questions.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		if err := s.writeMetrics(w); err != nil {
			slog.Error("metrics", "err", err)
		}
	})
	for _, p := range s.Parts {
		if p, ok := p.(part.Shared); ok {
			p.RegisterShared(questions)
		}
		if p, ok := p.(part.Routes); ok {
			p.Register(mux)
		}
	}
	mux.patterns = append(mux.patterns, questions.patterns...)
	shared := sharing.New(questions, func(r *http.Request) string { // those on the socket come before all others, and wait for none
		if control.From(r) == "" {
			return "socket "
		}
		return ""
	})
	mux.Handle("GET /metrics", shared)
	mux.Handle("/api/v1/", shared)
	mux.HandleFunc("GET /api/v1/{$}", func(w http.ResponseWriter, _ *http.Request) {
		control.Answer(w, http.StatusOK, map[string][]string{"endpoints": s.index()})
	})
	mux.HandleFunc("/api/", noVersion)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, strings.Join(s.index(), "\n"))
	})
	return mux
}

// index is what can be read.
func (s *Source) index() []string {
	all := []string{"/metrics"}
	for _, p := range s.Parts {
		if p, ok := p.(part.Paths); ok {
			all = append(all, p.Paths()...)
		}
	}
	return all
}

// writeMetrics writes the metrics of all parts, and of the process.
func (s *Source) writeMetrics(w io.Writer) error {
	x := newExposition()
	for _, p := range s.Parts {
		if p, ok := p.(part.Metrics); ok {
			x.add(p.Metrics())
		}
	}
	if err := x.writeTo(w); err != nil {
		return err
	}
	return s.process.write(w, time.Now(), readProcess)
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

// noVersion answers below /api what is not of a version that there is.
func noVersion(w http.ResponseWriter, _ *http.Request) {
	control.Answer(w, http.StatusNotFound, map[string]string{"error": "there is version 1 only; GET /api/v1/ lists what there is"})
}
