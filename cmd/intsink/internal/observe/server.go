// Serve: HTTP server of metrics, health, API, page and pprof; connection limits.

package observe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/ui"
	"intsink/conf"
)

// Limits of what clients can hold.
const (
	maxConnections = 512              // at once; others wait to be accepted
	writePatience  = 30 * time.Second // for one answer to a client that does not read
)

// Serve serves /metrics, /healthz, /readyz, /api/v1 and /ui on h.Listen and on its unix
// socket, and profiles on h.Pprof, and returns a function that stops it. An empty address: no server.
func Serve(h conf.HTTP, source *Source) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var servers []*http.Server
	stop = func() {
		cancel() // event streams end
		ctx, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		for _, s := range servers {
			s.Shutdown(ctx)
		}
	}
	for _, part := range []struct {
		name, address string
		handler       func() http.Handler
		listen        func(address string) (net.Listener, error)
		files         *conf.TLS // nil: no TLS
	}{
		{"http.listen", h.Listen, source.handler, listenTCP, h.TLS},
		{"http.socket", h.SocketPath(os.Getenv), source.handler, control.Listen, nil},
		{"http.pprof", h.Pprof, profiles, listenTCP, nil},
	} {
		if part.address == "" {
			continue
		}
		l, err := listen(part.listen, part.address, part.files)
		if err != nil {
			stop()
			return nil, fmt.Errorf("%s: %w; choose another address, or \"\" for none", part.name, err)
		}
		s := newServer(part.handler())
		s.BaseContext = func(net.Listener) context.Context { return ctx }
		servers = append(servers, s)
		go func() {
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				slog.Error("http server ended", "err", err)
			}
		}()
	}
	return stop, nil
}

// listen limits the connections of a listener. TLS is the outermost: http.Server has to
// see it.
func listen(listen func(string) (net.Listener, error), address string, files *conf.TLS) (net.Listener, error) {
	var c *tls.Config
	if files != nil {
		var err error
		if c, err = control.TLS(files); err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
	}
	l, err := listen(address)
	if err != nil {
		return nil, err
	}
	l = netutil.LimitListener(l, maxConnections)
	if c != nil {
		l = tls.NewListener(l, c)
	}
	return l, nil
}

func listenTCP(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// newServer bounds what a client that is silent or slow can hold. Each handler bounds
// its own writes: a profile and an event stream take as long as they are asked to.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ConnContext: control.ConnContext, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
}

func (s *Source) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writePatience))
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		if err := s.writeMetrics(w); err != nil {
			slog.Error("metrics", "err", err)
		}
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.healthy()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("verbose") {
			s.verbose(w)
			return
		}
		answer(w, s.ready())
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, endpoints) })
	flowapi.New(s.Workers, s.Clock).Register(mux)
	mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.status()) })
	mux.HandleFunc("GET /api/v1/events", (&live{workers: s.Workers}).events)
	mux.Handle("GET /ui/", ui.Handler("/ui/"))
	if s.Control == nil {
		return mux
	}
	s.Control.Register(mux)
	if s.Mitigation != nil {
		s.Mitigation.Register(mux)
	}
	return s.Control.Guard(mux)
}

// profiles are Go's, apart from all else: they tell of the process what no client of the
// rest has to know, and cost time.
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
var endpoints = "/ui/\n/metrics\n/healthz\n/readyz\n/readyz?verbose\n/api/v1/status\n/api/v1/events\n/api/v1/" + strings.Join(control.Endpoints, "\n/api/v1/") + "\n/api/v1/" + strings.Join(flowapi.Lists, "\n/api/v1/") + "\n/api/v1/flows/{id}\n/api/v1/mitigations\n/api/v1/mitigations/{id}\n"

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
