// Servers: opens the addresses that the endpoint listens on, changes them while it serves,
// closes them.

package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/conf"
)

// Servers are what serves a source: /metrics, /healthz, /readyz, /api/v1 and /ui on
// http.listen and on its unix socket, and profiles on http.pprof.
type Servers struct {
	source *Source

	mu   sync.Mutex
	all  http.Handler // of http.listen and http.socket; nil: not made yet
	open []*serving
}

// place is one address to listen on.
type place struct {
	name, address string
	tls           conf.TLS // zero: none
}

// serving is a place that is open.
type serving struct {
	place
	listener net.Listener
	server   *http.Server
	cancel   context.CancelFunc // of event streams
}

// placesOf returns the addresses and sockets of h that are not off.
func placesOf(h *conf.HTTP) []place {
	listen := place{name: "http.listen", address: h.Listen}
	if h.TLS != nil {
		listen.tls = *h.TLS
	}
	var all []place
	for _, p := range []place{listen, {name: "http.socket", address: h.SocketPath(os.Getenv)}, {name: "http.pprof", address: h.Pprof}} {
		if p.address != "" {
			all = append(all, p)
		}
	}
	return all
}

// Serve opens what h asks for.
func Serve(h conf.HTTP, source *Source) (*Servers, error) {
	s := &Servers{source: source}
	if err := s.Change(h, func() {}); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Change makes what is open that of h. What is as it was goes on; where something cannot be
// opened, all is as before and the error says why. Requests under way are answered. adopt puts h into force for the
// source, before anything that was opened answers: its tokens guard it from the first request on.
func (s *Servers) Change(h conf.HTTP, adopt func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := turnover{left: append([]*serving{}, s.open...)}
	for _, p := range placesOf(&h) {
		if err := s.turn(&t, p); err != nil {
			s.open = s.undo(&t)
			return err
		}
	}
	for _, o := range t.left {
		o.close()
	}
	adopt()
	for _, o := range t.opened { // once all are open: who gets an answer at one place finds the others
		o.serve()
	}
	s.open = append(t.kept, t.opened...)
	return nil
}

// turnover is a change on its way.
type turnover struct {
	left   []*serving // open, and nobody has asked for them yet
	kept   []*serving // open before and after
	opened []*serving
	closed []*serving // because their address is needed
}

// take takes the first out of left that is of the kind.
func (t *turnover) take(kind func(*serving) bool) *serving {
	for i, o := range t.left {
		if kind(o) {
			t.left = append(t.left[:i], t.left[i+1:]...)
			return o
		}
	}
	return nil
}

// turn opens p, or keeps it.
func (s *Servers) turn(t *turnover, p place) error {
	if o := t.take(func(o *serving) bool { return o.place == p }); o != nil {
		t.kept = append(t.kept, o)
		return nil
	}
	if _, err := tlsOf(&p.tls); err != nil {
		return p.failed(err)
	}
	o, err := s.start(p)
	for errors.Is(err, syscall.EADDRINUSE) {
		inTheWay := t.take(p.needs)
		if inTheWay == nil {
			break
		}
		inTheWay.close()
		t.closed = append(t.closed, inTheWay)
		o, err = s.start(p)
	}
	if err == nil {
		t.opened = append(t.opened, o)
	}
	return err
}

// needs reports whether o has to be closed for p to be opened: it has p's address, where only the TLS changes, or the same
// port where one of them is for all addresses.
func (p *place) needs(o *serving) bool {
	if o.address == p.address {
		return true
	}
	host, port, err := net.SplitHostPort(p.address)
	otherHost, otherPort, otherErr := net.SplitHostPort(o.address)
	return err == nil && otherErr == nil && port == otherPort && (isWildcard(host) || isWildcard(otherHost))
}

func isWildcard(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// undo makes all as it was, and returns what is open then.
func (s *Servers) undo(t *turnover) []*serving {
	for _, o := range t.opened {
		o.close()
	}
	open := append(t.kept, t.left...)
	for _, o := range t.closed {
		again, err := s.start(o.place)
		if err != nil {
			slog.Error("http: it cannot be opened again as it was", "what", o.name, "address", o.address, "err", err)
			continue
		}
		again.serve()
		open = append(open, again)
	}
	return open
}

func (p *place) failed(err error) error {
	return fmt.Errorf("%s = %q: %w; choose another address, or \"\" for none", p.name, p.address, err)
}

// start opens p; who connects waits until it is served.
func (s *Servers) start(p place) (*serving, error) {
	if s.all == nil {
		s.all = s.source.handler()
	}
	open, handler, write := listenTCP, s.all, writePatience
	switch p.name {
	case "http.socket":
		open = control.Listen
	case "http.pprof":
		handler, write = profiles(), 0
	}
	c, err := tlsOf(&p.tls)
	if err != nil {
		return nil, p.failed(err)
	}
	l, err := listen(open, p.address, c)
	if err != nil {
		return nil, p.failed(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := &serving{p, l, newServer(handler, write), cancel}
	o.server.BaseContext = func(net.Listener) context.Context { return ctx }
	return o, nil
}

// serve answers requests until close.
func (o *serving) serve() {
	go func() {
		if err := o.server.Serve(o.listener); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			slog.Error("http server ended", "err", err)
		}
	}()
}

// farewell is how long requests under way may take where the place that they came to is
// closed by a reload.
const farewell = 10 * time.Second

// close frees the address at once; the rest ends by itself.
func (o *serving) close() {
	o.listener.Close()
	o.cancel()
	go o.shutdown(farewell)
}

func (o *serving) shutdown(patience time.Duration) {
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	if o.server.Shutdown(ctx) != nil {
		o.server.Close()
	}
}

// Stop closes all.
func (s *Servers) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		o.cancel() // event streams end
		o.shutdown(time.Second)
	}
	s.open = nil
}
