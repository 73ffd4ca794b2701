// Serves metrics, health, readiness and schema files by HTTP for a running collect.

package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

	"intsink/cmd/internal/webguard"
	files "intsink/deploy/collect"
)

// Limits on connections and time that clients can hold.
const (
	maxConnections = 128
	writePatience  = 30 * time.Second
)

// serve serves metrics, health and the schema on an address; "": nothing. Clients may ask by the names of hosts.
func (d *daemon) serve(address string, hosts []string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w; choose another address, or \"\" for none", err)
	}
	s := &http.Server{
		Handler: webguard.Wrap(d.handler(), func() []string { return hosts }), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: writePatience,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	go func() {
		if err := s.Serve(netutil.LimitListener(webguard.Shares(l, maxConnections), maxConnections)); !errors.Is(err, http.ErrServerClosed) {
			d.log.Error("http server ended", "err", err)
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Shutdown(ctx)
	}, nil
}

func (d *daemon) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		d.writeMetrics(w)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, d.ready()) })
	mux.HandleFunc("GET /api/v1/schema", func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range schemaFiles() {
			fmt.Fprintln(w, "/api/v1/schema/"+name)
		}
	})
	mux.HandleFunc("GET /api/v1/schema/{name}", schemaFile)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "/metrics\n/healthz\n/readyz\n/api/v1/schema\n")
	})
	return mux
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// schemaFiles returns the names of the files that describe records.
func schemaFiles() (names []string) {
	for _, pattern := range []string{"*.proto", "*.sql"} {
		found, err := fs.Glob(files.Files, pattern)
		if err != nil { // of a pattern
			panic(err)
		}
		names = append(names, found...)
	}
	return names
}

func schemaFile(w http.ResponseWriter, r *http.Request) {
	for _, name := range schemaFiles() {
		if name == r.PathValue("name") {
			b, err := files.Files.ReadFile(name)
			if err != nil {
				answer(w, err)
				return
			}
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Write(b)
			return
		}
	}
	http.NotFound(w, r)
}
