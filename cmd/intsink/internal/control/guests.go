// guests: the connections over TCP with the right that each showed last; Recheck ends those whose right is gone.

package control

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"intsink/internal/plainfile"
)

// guestKey is the key under which a request's context has the guest that sent it.
type guestKey struct{}

// guests are the connections over TCP.
type guests struct {
	mu   sync.Mutex
	open map[net.Conn]*guest
}

// guest is one connection. HTTP/1 has one request at a time on it.
type guest struct {
	mu     sync.Mutex
	last   *http.Request // that was let in last; nil: none
	writes bool          // last is one that writes
}

// Follow has h tell s of its connections, so that Recheck can end them.
func (s *Server) Follow(h *http.Server) {
	h.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		ctx = ConnContext(ctx, c)
		if _, socket := c.RemoteAddr().(peer); socket {
			return ctx
		}
		g := &guest{}
		s.guests.mu.Lock()
		defer s.guests.mu.Unlock()
		if s.guests.open == nil {
			s.guests.open = map[net.Conn]*guest{}
		}
		s.guests.open[c] = g
		return context.WithValue(ctx, guestKey{}, g)
	}
	h.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			s.guests.mu.Lock()
			defer s.guests.mu.Unlock()
			delete(s.guests.open, c)
		}
	}
}

// letIn notes that r was let in.
func letIn(r *http.Request, writes bool) {
	if g, ok := r.Context().Value(guestKey{}).(*guest); ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.last, g.writes = r, writes
	}
}

// Recheck ends the connections, with their streams and captures, whose last request would not be let in any more: for
// its token went or lost its role, or the authority or the certificate of the client is not valid now.
func (s *Server) Recheck() {
	s.guests.mu.Lock()
	defer s.guests.mu.Unlock()
	for c, g := range s.guests.open {
		g.mu.Lock()
		last, writes := g.last, g.writes
		g.mu.Unlock()
		if last == nil || s.stillIn(last, writes) {
			continue
		}
		s.Writes.audit("api: a right is gone, and its connection with it", "who", "tcp "+last.RemoteAddr, "what", last.Method+" "+last.URL.Path)
		delete(s.guests.open, c)
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn() // whose Close never waits
		}
		c.Close()
	}
}

func (s *Server) stillIn(r *http.Request, writes bool) bool {
	if writes {
		_, err := s.authority(r)
		return err == nil
	}
	_, may := s.mayRead(r)
	return may
}

// authorities are the certificates of http.tls.client_ca as they are now.
type authorities struct {
	mu   sync.Mutex
	path string
	at   time.Time // of the file
	pool *x509.CertPool
}

// of returns the certificates in the file at path, those of before where it cannot be used; nil: there are none.
func (a *authorities) of(path string) *x509.CertPool {
	a.mu.Lock()
	defer a.mu.Unlock()
	var at time.Time
	if info, err := os.Stat(path); err == nil {
		at = info.ModTime()
	}
	if a.path == path && a.at.Equal(at) {
		return a.pool
	}
	if a.path != path {
		a.pool = nil
	}
	a.path, a.at = path, at
	if pool, err := plainfile.CertPool(path); err == nil {
		a.pool = pool
	}
	return a.pool
}

// certified tells whether the client of r has a certificate that http.tls.client_ca stands for now. TLS asked when the
// connection began, which may be long ago.
func (s *Server) certified(r *http.Request) bool {
	t := s.Sink.Config().HTTP.TLS
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || t == nil || t.ClientCA == "" {
		return false
	}
	o := x509.VerifyOptions{Roots: s.authorities.of(t.ClientCA), Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if o.Roots == nil {
		return false
	}
	for _, c := range r.TLS.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := r.TLS.PeerCertificates[0].Verify(o)
	return err == nil
}
