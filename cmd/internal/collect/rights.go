// Decides who may read what the collector's HTTP server has: this machine, and who bears a token or has a certificate.

package collect

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"time"

	"intsink/cmd/internal/webguard"
)

// guard passes requests to next that may read: all where the configuration has neither tokens nor an authority for clients, else those of this
// machine, and those with either. Everybody may ask for health, but not why; other collectors ask what came here (peers).
func (d *daemon) guard(next http.Handler) http.Handler {
	h := &d.began.HTTP
	if len(h.Tokens) == 0 && (h.TLS == nil || h.TLS.ClientCA == "") {
		return next
	}
	var guesses webguard.Guesses
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bears := func() bool { return webguard.TokenOf(h.Tokens, r) != nil }
		health := r.URL.Path == "/healthz" || r.URL.Path == "/readyz" && !r.URL.Query().Has("verbose")
		a, err := netip.ParseAddrPort(r.RemoteAddr)
		switch {
		case health || r.URL.Path == seenPath || err == nil && a.Addr().Unmap().IsLoopback() || r.TLS != nil && len(r.TLS.VerifiedChains) > 0:
			next.ServeHTTP(w, r)
		case guesses.Refuse(r, time.Now(), bears):
			w.Header().Set("Retry-After", "60")
			turnAway(w, http.StatusTooManyRequests, webguard.GuessRefused)
		case bears():
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			turnAway(w, http.StatusUnauthorized, "a token of http { token } is needed, as Authorization: Bearer TOKEN, or a client certificate")
		}
	})
}

// turnAway answers who has shown no right, and ends the connection.
func turnAway(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": text}) // fails where nobody listens any more
}
