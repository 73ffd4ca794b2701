// Decides who may read and write: by token, client certificate or unix socket.

package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"intsink/cmd/internal/webguard"
	"intsink/conf"
)

// whoKey is the key under which a request's context has the peer of its connection.
type whoKey struct{}

// ConnContext puts the peer of a connection into the context of its requests, for http.Server.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, whoKey{}, c.RemoteAddr())
}

// authority returns the client that sent r, as text for the log, and an error if that client may
// not write.
func (s *Server) authority(r *http.Request) (who string, err error) {
	if p, ok := r.Context().Value(whoKey{}).(peer); ok {
		if p.uid != 0 && p.uid != os.Geteuid() {
			err = fmt.Errorf("uid %d may not write: root may, and the user that the sink runs as", p.uid)
		}
		return p.String(), err
	}
	who, role := s.role(r)
	switch {
	case role == conf.WriteRole:
		return who, nil
	case role == conf.ReadRole:
		return who, errors.New(`this token may read alone: it needs role = "write"`)
	}
	return who, errors.New("this takes a right: root has it on the sink's unix socket, " + s.howOnSocket(r) + `; over TCP, a token of http { token } with role = "write" (--token-file), or a client certificate (http { tls { client_ca } }); see docs/api.md, "What changes something"`)
}

// howOnSocket says how the unix socket is named, which those on this machine are told, or how there would be one.
func (s *Server) howOnSocket(r *http.Request) string {
	path := s.Sink.Config().HTTP.SocketPath(os.Getenv)
	switch {
	case path == "":
		return `which it does not have: http { socket = "/run/intsink.sock" } and a restart make one`
	case !s.local(r):
		path = "PATH"
	}
	return "--socket " + path
}

// role returns the client that sent r over TCP, as text, and what it may do. It goes by the
// client certificate, which TLS has verified, or else by the token. An empty role allows nothing.
func (s *Server) role(r *http.Request) (who string, role conf.TokenRole) {
	who = "tcp " + r.RemoteAddr
	if s.certified(r) {
		return fmt.Sprintf("%s certificate %q", who, r.TLS.PeerCertificates[0].Subject.CommonName), conf.WriteRole
	}
	if t := webguard.TokenOf(s.Sink.Config().HTTP.Tokens, r); t != nil {
		return fmt.Sprintf("%s token %q", who, t.Name), t.Role
	}
	return who, ""
}

// Guard passes requests to next if they may read: those on the unix socket and, unless http { local_reads = false }, from
// this machine, those with a token or client certificate, and all if the configuration has neither.
// Everybody may ask for health, but not why.
func (s *Server) Guard(next http.Handler) http.Handler {
	return s.guard(next, false)
}

// GuardProfiles passes requests from where Guard asks for no token, and from other machines those that may write:
// profiles show the insides of the process, and cost time.
func (s *Server) GuardProfiles(next http.Handler) http.Handler {
	return s.guard(next, true)
}

// guard has these rules, the first that fits decides:
//
//   - health from another machine is answered, and its connection ended: it has shown no right;
//   - whoever guesses at tokens waits;
//   - profiles from another machine take the right to write;
//   - all else takes the right to read, as mayRead says.
func (s *Server) guard(next http.Handler, profiles bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		health, writes := !profiles && isHealth(r), profiles && !s.local(r)
		if health && !s.local(r) {
			w.Header().Set("Connection", "close")
		}
		if !onSocket(r) && !health && s.guesses.Refuse(r, s.Writes.now(), func() bool { return webguard.TokenOf(s.Sink.Config().HTTP.Tokens, r) != nil }) {
			s.Writes.unauthorized("tcp "+r.RemoteAddr, r)
			w.Header().Set("Retry-After", "60")
			turnAway(w, http.StatusTooManyRequests, webguard.GuessRefused)
			return
		}
		who, may := s.mayRead(r)
		if writes {
			var err error
			who, err = s.authority(r)
			may = err == nil
		}
		if !may {
			s.Writes.unauthorized(who, r)
			w.Header().Set("WWW-Authenticate", "Bearer")
			turnAway(w, http.StatusUnauthorized, "a token of http { token } is needed, as Authorization: Bearer TOKEN, or a client certificate")
			return
		}
		letIn(r, writes)
		next.ServeHTTP(w, r)
	})
}

// turnAway answers who has shown no right, and ends the connection.
func turnAway(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Connection", "close")
	Answer(w, status, failure{Error: text})
}

// isHealth tells whether r asks how the sink is, and not why: that names files, and who reloaded.
func isHealth(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" && !r.URL.Query().Has("verbose")
}

// mayRead tells whether r may read, and who sent it.
func (s *Server) mayRead(r *http.Request) (who string, may bool) {
	h := &s.Sink.Config().HTTP
	guarded := len(h.Tokens) > 0 || h.TLS != nil && h.TLS.ClientCA != "" || !h.LocalReads
	if !guarded || isHealth(r) || s.local(r) {
		return "", true
	}
	who, role := s.role(r)
	return who, role != ""
}

// local tells whether a request comes from where no token is needed to read.
func (s *Server) local(r *http.Request) bool {
	if onSocket(r) {
		return true
	}
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.Addr().Unmap().IsLoopback() && s.Sink.Config().HTTP.LocalReads
}

func onSocket(r *http.Request) bool {
	_, ok := r.Context().Value(whoKey{}).(peer)
	return ok
}

// From returns the address that r came from, of IPv6 its /64, "" for the unix socket.
func From(r *http.Request) string {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	switch {
	case onSocket(r):
		return ""
	case err != nil:
		return "unknown"
	}
	return webguard.ShareOf(a.Addr()).String()
}

// Guests returns what r counts as where each address and each token has a share: none of them on the unix socket.
func (s *Server) Guests(r *http.Request) []string {
	from := From(r)
	if from == "" {
		return nil
	}
	if who, role := s.role(r); role != "" {
		_, shown, _ := strings.Cut(who, r.RemoteAddr+" ")
		return []string{from, shown}
	}
	return []string{from}
}
