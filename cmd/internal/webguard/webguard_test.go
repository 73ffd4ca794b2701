package webguard

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPagesGetNothing: what a page of another origin can have a browser send is refused, by its
// own name (DNS rebinding) and across origins; what programs send is not.
func TestPagesGetNothing(t *testing.T) {
	const json = "application/json"
	for _, c := range []struct {
		name, method, host, path, body string
		header                         map[string]string
		tls, socket                    bool
		want                           int
	}{
		{name: "by address", method: "GET", host: "192.0.2.1:9465", want: 200},
		{name: "by IPv6 address", method: "GET", host: "[::1]:9465", want: 200},
		{name: "without a port", method: "GET", host: "[2001:db8::1]", want: 200},
		{name: "by localhost", method: "GET", host: "LocalHost:9465", want: 200},
		{name: "by the machine's name", method: "GET", host: "box:1", want: 200},
		{name: "by a name of hosts", method: "GET", host: "sink7.example.:9465", want: 200},
		{name: "without Host", method: "GET", want: 200},
		{name: "rebinding", method: "GET", host: "evil.example:9465", want: 421},
		{name: "rebinding below the machine's name", method: "GET", host: "box.evil.example:9465", want: 421},
		{name: "rebinding with an address in the name", method: "GET", host: "127.0.0.1.evil.example:9465", want: 421},
		{name: "rebinding, a write", method: "POST", host: "evil.example:9465", body: "{}", header: map[string]string{"Content-Type": json, "Origin": "http://evil.example:9465"}, want: 421},
		{name: "another name with TLS", method: "GET", host: "sink.example", tls: true, want: 200},
		{name: "the socket", method: "POST", host: "intsink", body: "{}", socket: true, want: 200},
		{name: "a program", method: "POST", host: "127.0.0.1:1", body: "{}", header: map[string]string{"Content-Type": json + "; charset=utf-8"}, want: 200},
		{name: "a program, no body", method: "POST", host: "127.0.0.1:1", want: 200},
		{name: "no-cors with a certificate", method: "POST", host: "sink", tls: true, body: "{}", header: map[string]string{"Content-Type": "text/plain", "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, want: 403},
		{name: "no-cors without a body", method: "POST", host: "sink", tls: true, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, want: 403},
		{name: "an old browser, by Origin alone", method: "DELETE", host: "127.0.0.1:1", header: map[string]string{"Origin": "https://evil.example"}, want: 403},
		{name: "a form", method: "POST", host: "127.0.0.1:1", body: "{}", header: map[string]string{"Content-Type": "text/plain"}, want: 415},
		{name: "no type", method: "POST", host: "127.0.0.1:1", body: "{}", want: 415},
		{name: "a free path", method: "POST", host: "127.0.0.1:1", path: "/free", body: "x", want: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func(was string) { machine = was }(machine)
			machine = "box"
			asked := 0
			h := Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }), func() []string { return []string{"sink7.example"} }, "/free")
			r := httptest.NewRequest(c.method, "/"+strings.TrimPrefix(c.path, "/"), strings.NewReader(c.body))
			r.Host = c.host
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
			if c.tls {
				r.TLS = &tls.ConnectionState{}
			}
			if c.socket {
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.UnixAddr{Net: "unix"})))
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.want || (asked == 1) != (c.want == 200) {
				t.Errorf("%d %s, asked %d times; want %d", w.Code, w.Body, asked, c.want)
			}
			for k, v := range map[string]string{"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"} {
				if got := w.Header().Get(k); got != v {
					t.Errorf("%s: %q", k, got)
				}
			}
		})
	}
}
