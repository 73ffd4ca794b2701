// Serves metrics, health, readiness and schema files by HTTP for a running collect.

package collect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"intsink/cmd/internal/allsinks"
	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/ui"
	"intsink/cmd/internal/webguard"
	files "intsink/deploy/collect"
)

// Limits on connections and time that clients can hold.
const (
	maxConnections = 128
	writePatience  = 30 * time.Second
)

// openHTTP serves metrics, health and the schema on http.listen, unless that is done already, or it is "". Clients may ask by the
// names of http.hosts.
func (d *daemon) openHTTP() {
	d.http.Lock()
	defer d.http.Unlock()
	if d.http.server != nil || d.stopping.Load() || d.began.HTTP.Listen == "" {
		return
	}
	l, err := d.listenHTTP()
	d.parts.Set("http", "listen", err)
	if err != nil {
		return
	}
	hosts := d.began.HTTP.Hosts
	s := &http.Server{
		Handler: webguard.Wrap(d.guard(d.handler()), func() []string { return hosts }), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: writePatience,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	d.http.server = s
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			d.log.Error("http server ended", "err", err)
		}
	}()
}

// listenHTTP opens http.listen, with TLS where the configuration has its files.
func (d *daemon) listenHTTP() (net.Listener, error) {
	var c *tls.Config
	if files := d.began.HTTP.TLS; files != nil {
		var err error
		if c, err = webguard.TLS(files); err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
	}
	l, err := net.Listen("tcp", d.began.HTTP.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address, or \"\" for none", err)
	}
	l = netutil.LimitListener(webguard.Shares(l, maxConnections), maxConnections)
	if c != nil {
		l = tls.NewListener(l, c)
	}
	return l, nil
}

// stopHTTP ends the server.
func (d *daemon) stopHTTP() {
	d.http.Lock()
	defer d.http.Unlock()
	if d.http.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	d.http.server.Shutdown(ctx)
}

func (d *daemon) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		d.writeMetrics(w)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("verbose") {
			d.verbose(w)
			return
		}
		answer(w, d.ready())
	})
	mux.HandleFunc("GET /api/v1/schema", func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range schemaFiles() {
			fmt.Fprintln(w, "/api/v1/schema/"+name)
		}
	})
	mux.HandleFunc("GET /api/v1/schema/{name}", schemaFile)
	endpoints := "/metrics\n/healthz\n/readyz\n/api/v1/schema\n/api/v1/names\n"
	mux.HandleFunc("GET /api/v1/names", d.writeNames)
	if d.sinks != nil {
		d.sinks.Register(mux)
		mux.Handle("GET /ui/", ui.Handler("/ui/"))
		mux.HandleFunc("GET /ui", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ui/", http.StatusMovedPermanently) })
		endpoints += "/ui/\n" + strings.Join(allsinks.Paths(), "\n") + "\n"
	}
	mux.HandleFunc("POST "+seenPath, d.answerPeer)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, endpoints)
	})
	return mux
}

// noInterface stands in place of an interface for the node itself.
const noInterface = 1<<32 - 1

// writeNames answers lines of node, interface and name with tabs between them, as ClickHouse reads a dictionary. A request
// with Accept: application/json, as the page and intsink send it, gets the names over all sinks.
func (d *daemon) writeNames(w http.ResponseWriter, r *http.Request) {
	if d.sinks != nil && strings.Contains(r.Header.Get("Accept"), "application/json") {
		d.sinks.WriteNames(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/tab-separated-values; charset=utf-8")
	for _, n := range d.names.Load().All() {
		fmt.Fprintf(w, "%d\t%d\t%s\n", n.ID, uint32(noInterface), n.Name)
		for _, i := range n.Interfaces {
			fmt.Fprintf(w, "%d\t%d\t%s\n", n.ID, i.Number, i.Text)
		}
	}
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, cli.PrintableText(err.Error()), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// verbose answers a line for each address, output and the spool, and what is degraded.
func (d *daemon) verbose(w http.ResponseWriter) {
	err := d.ready()
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	line := func(what string, fault error) {
		text := "ok"
		if fault != nil {
			text = cli.PrintableText(strings.ReplaceAll(fault.Error(), "\n", "; ")) // a server's own words may be in it
		}
		fmt.Fprintf(w, "%s: %s\n", what, text)
	}
	s := d.collector.Snapshot()
	for i := range s.Listens {
		line("listen "+s.Listens[i].Name, s.Listens[i].Why)
	}
	for i := range s.Outputs {
		line(s.Outputs[i].Name, d.world.fault(&s.Outputs[i]))
	}
	if d.spool != nil {
		line("spool", d.spool.Failing())
	}
	for _, state := range d.parts.List() {
		line("degraded", errors.New(state.String()))
	}
	line("ready", err)
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
