package collect

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"intsink/conf/collector"
)

// page is the HTTP server of a collector with this configuration.
func page(t *testing.T, hcl string) http.Handler {
	t.Helper()
	c, diags := collector.Parse("collect.hcl", []byte(hcl))
	if c == nil {
		t.Fatal(diags.Err())
	}
	d := &daemon{c: c, began: c, log: slog.New(slog.DiscardHandler)}
	d.names.Store(&c.Names)
	var err error
	if d.sinks, err = d.makeSinks(c.Network); err != nil {
		t.Fatal(err)
	}
	if d.sinks != nil {
		t.Cleanup(d.sinks.Close)
	}
	return d.guard(d.handler())
}

// get asks from another machine.
func get(h http.Handler, path, from string, header map[string]string) (int, string) {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = from
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestPageOfAllSinks: a collector with network alone has the page and the API; names are for ClickHouse as before, and for the page in JSON.
func TestPageOfAllSinks(t *testing.T) {
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"nodes": {"202": {"name": "spine2", "interfaces": {}}}, "hosts": {}, "items": [], "node": 7}`)
	}))
	defer sink.Close()
	h := page(t, fmt.Sprintf(`
network { sinks = [%q] }
names {
  node "leaf1" { id = 101 }
}`, strings.TrimPrefix(sink.URL, "http://")))
	for path, want := range map[string]string{"/ui/": "<title>intsink</title>", "/api/v1/sinks": `"node":7`, "/api/v1/names": "101\t4294967295\tleaf1\n", "/": "/api/v1/problems\n"} {
		if code, body := get(h, path, "127.0.0.1:1", nil); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, body := get(h, "/api/v1/names", "127.0.0.1:1", map[string]string{"Accept": "application/json"}); code != 200 || !strings.Contains(body, "spine2") || !strings.Contains(body, "leaf1") {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := get(page(t, `
listen "r" { address = "127.0.0.1:1" }
file "out" { path = "-" }`), "/ui/", "127.0.0.1:1", nil); code != 404 {
		t.Errorf("a collector without network has a page: %d", code)
	}
}

// TestWhoMayReadThePage: with a token, other machines need it; this one, health and peers do not.
func TestWhoMayReadThePage(t *testing.T) {
	const away, here = "192.0.2.1:1", "127.0.0.1:1"
	h := page(t, fmt.Sprintf(`
http {
  token "wall" { sha256 = "%x" }
}
network { sinks = ["127.0.0.1:9"] }`, sha256.Sum256([]byte("secret"))))
	for _, c := range []struct {
		path, from, token string
		want              int
	}{
		{"/ui/", away, "", 401}, {"/api/v1/names", away, "", 401}, {"/metrics", away, "wrong", 401}, {"/readyz?verbose", away, "", 401},
		{"/ui/", away, "secret", 200}, {"/ui/", here, "", 200}, {"/healthz", away, "", 200},
	} {
		header := map[string]string{}
		if c.token != "" {
			header["Authorization"] = "Bearer " + c.token
		}
		if code, body := get(h, c.path, c.from, header); code != c.want {
			t.Errorf("%s from %s with %q: %d %s, want %d", c.path, c.from, c.token, code, body, c.want)
		}
	}
	for range 40 {
		get(h, "/ui/", away, map[string]string{"Authorization": "Bearer guess"})
	}
	if code, _ := get(h, "/ui/", away, map[string]string{"Authorization": "Bearer guess"}); code != 429 {
		t.Errorf("a guesser is answered %d", code)
	}
}
