// Wrap: refuses what a foreign web page has a browser send (Host, Origin, type of a body), and
// sets the headers that keep answers from pages.

// Package webguard keeps pages of a browser from using an HTTP endpoint in the name of whoever
// sits before it.
package webguard

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// machine is the name of this machine; "": unknown.
var machine, _ = os.Hostname()

// Wrap guards next. Over TCP without TLS it takes requests for an IP address, localhost, the
// machine's name, or a name of hosts: a page that has its own name lead here
// (DNS rebinding) is answered 421. Writes of a page of another origin are refused, and over TCP
// bodies that are not JSON, but at the paths of free.
func Wrap(next http.Handler, hosts func() []string, free ...string) http.Handler {
	same := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case onSocket(r): // no browser asks there
		case r.TLS == nil && !known(r.Host, hosts()): // with TLS, a certificate says who is meant
			http.Error(w, fmt.Sprintf("%.100q is no name of this machine; ask by address, or add the name to http { hosts }", r.Host), http.StatusMisdirectedRequest)
			return
		case same.Check(r) != nil:
			http.Error(w, "a page of another origin may not change anything", http.StatusForbidden)
			return
		case writes(r) && !isJSON(r) && !slices.Contains(free, r.URL.Path):
			http.Error(w, "a body needs Content-Type: application/json", http.StatusUnsupportedMediaType)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func onSocket(r *http.Request) bool {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && a.Network() == "unix"
}

// known tells whether a Host header names this machine. Browsers always send one; none is that of an old client.
func known(host string, hosts []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return true
	}
	named := func(name string) bool { return name != "" && strings.EqualFold(host, name) }
	return named("localhost") || named(machine) || slices.ContainsFunc(hosts, named)
}

// writes tells whether a request has a body for something that changes.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.ContentLength != 0
}

func isJSON(r *http.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}
