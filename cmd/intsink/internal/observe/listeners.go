// Servers: opens the addresses that the endpoint listens on, changes them while it serves,
// tries again what cannot be opened, closes them.

package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/webguard"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
)

// Servers are what serves a source: /metrics, /healthz, /readyz, /api/v1 and /ui on
// http.listen and on its unix socket, and profiles on http.pprof.
type Servers struct {
	source *Source

	all     http.Handler // of http.listen and http.socket
	retrier *degraded.Retrier

	mu     sync.Mutex
	wanted []place
	open   []*serving
}

// socketName is the name of the place that is no address.
const socketName = "http.socket"

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
	cancel   context.CancelFunc      // of event streams
	socket   *control.SocketListener // nil: it is an address
}

// placesOf returns the addresses and sockets of h that are not off.
func placesOf(h *conf.HTTP) []place {
	listen := place{name: "http.listen", address: h.Listen}
	if h.TLS != nil {
		listen.tls = *h.TLS
	}
	var all []place
	for _, p := range []place{listen, {name: socketName, address: h.SocketPath(os.Getenv)}, {name: "http.pprof", address: h.Pprof}} {
		if p.address != "" {
			all = append(all, p)
		}
	}
	return all
}

// Endpoint is the endpoint as a part of a sink: it serves all others.
type Endpoint struct{ *Servers }

// Start implements part.Part.
func (x *Endpoint) Start(e *part.Env) (stop func(), err error) {
	x.Servers = Serve(e.Config().HTTP, &Source{Config: e.Config, Control: e.Control, Degraded: e.Degraded, Parts: e.Parts}, degraded.Tick())
	return x.Stop, nil
}

// Serve opens what h asks for, as far as that can be opened, and goes on trying the rest at each tick.
func Serve(h conf.HTTP, source *Source, tick <-chan time.Time) *Servers {
	if source.Degraded == nil {
		source.Degraded = degraded.New(time.Now, slog.Default)
	}
	s := &Servers{source: source, all: source.handler()}
	s.retrier = degraded.Retry(tick, s.tryAgain)
	s.Change(h, func() {})
	return s
}

// Change makes what is open that of h. What is as it was goes on; what cannot be opened, for its address is taken or not
// there, or a file of TLS cannot be read, is degraded, and tried again. Requests under way are answered. adopt puts h into force for the
// source, before anything that was opened answers: its tokens guard it from the first request on.
func (s *Servers) Change(h conf.HTTP, adopt func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = placesOf(&h)
	var kept, opened []*serving
	for _, o := range s.open {
		if slices.Contains(s.wanted, o.place) && !o.lost() {
			kept = append(kept, o)
		} else {
			o.close()
		}
	}
	s.open = kept
	for _, p := range s.missing() {
		if p.hasName() {
			s.degraded(p, errors.New("its host name is being looked up"))
			s.retrier.Soon()
		} else if o, err := s.start(p); err != nil {
			s.degraded(p, err)
		} else {
			s.degraded(p, nil)
			opened = append(opened, o)
		}
	}
	s.forget()
	adopt()
	s.recheck()
	for _, o := range opened { // once all are open: who gets an answer at one place finds the others
		o.serve()
	}
	s.open = append(s.open, opened...)
}

// forget ends the degraded state of places that are asked for no more.
func (s *Servers) forget() {
	var names []string
	for _, p := range s.wanted {
		names = append(names, p.short())
	}
	s.source.Degraded.Keep("http", names)
	for _, o := range s.open {
		s.degraded(o.place, nil)
	}
}

func (s *Servers) degraded(p place, err error) {
	s.source.Degraded.Set("http", p.short(), err)
}

// missing are the places that are wanted and not open. The caller holds s.mu.
func (s *Servers) missing() (all []place) {
	for _, p := range s.wanted {
		if !slices.ContainsFunc(s.open, func(o *serving) bool { return o.place == p }) {
			all = append(all, p)
		}
	}
	return all
}

// recheck ends the connections of those whose right is gone: by a reload, or a file of TLS that changed.
func (s *Servers) recheck() {
	if s.source.Control != nil {
		s.source.Control.Recheck()
	}
}

// tryAgain ends what is not to be open any more, and opens what is missing. The lock is free meanwhile: a name server that is silent holds nothing up.
func (s *Servers) tryAgain() {
	s.recheck()
	s.mu.Lock()
	s.open = slices.DeleteFunc(s.open, func(o *serving) bool {
		if o.lost() {
			o.close()
		}
		return o.lost()
	})
	missing := s.missing()
	s.mu.Unlock()
	for _, p := range missing {
		o, err := s.start(p)
		s.mu.Lock()
		switch {
		case !slices.Contains(s.missing(), p): // a reload or the end came meanwhile
			if o != nil {
				o.close()
			}
		case err != nil:
			s.degraded(p, err)
		default:
			s.degraded(p, nil)
			o.serve()
			s.open = append(s.open, o)
		}
		s.mu.Unlock()
	}
}

func (p *place) short() string { return strings.TrimPrefix(p.name, "http.") }

// hasName tells whether p's address has to be looked up.
func (p *place) hasName() bool {
	host, _, err := net.SplitHostPort(p.address)
	if p.name == socketName || err != nil || host == "" {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err != nil
}

func (p *place) failed(err error) error {
	return fmt.Errorf("%s = %q: %w; choose another address, or \"\" for none", p.name, p.address, err)
}

// start opens p; who connects waits until it is served.
func (s *Servers) start(p place) (*serving, error) {
	open, handler, write := listenTCP, s.all, writePatience
	var socket *control.SocketListener
	switch p.name {
	case socketName:
		open = func(path string) (_ net.Listener, err error) {
			socket, err = control.Listen(path)
			return socket, err
		}
	case "http.pprof":
		handler, write = profiles(), 0
		if s.source.Control != nil {
			handler = s.source.Control.GuardProfiles(handler)
		}
	}
	handler = webguard.Wrap(handler, func() []string { return s.source.Config().HTTP.Hosts }, "/aggAttack", "/debug/pprof/symbol")
	c, err := tlsOf(&p.tls)
	if err != nil {
		return nil, p.failed(err)
	}
	l, err := listen(open, p.address, c)
	if err != nil {
		return nil, p.failed(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := &serving{p, l, newServer(handler, write), cancel, socket}
	if s.source.Control != nil {
		s.source.Control.Follow(o.server)
	}
	o.server.BaseContext = func(net.Listener) context.Context { return ctx }
	return o, nil
}

// lost tells whether o is a socket that nobody finds any more: a cleaner of /run, or a hand, has removed it.
func (o *serving) lost() bool { return o.socket != nil && o.socket.Lost() }

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
	s.retrier.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = nil
	for _, o := range s.open {
		o.cancel() // event streams end
		o.shutdown(time.Second)
	}
	s.open = nil
}
