package observe

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/openapi"
	"intsink/conf"
)

// changeable counts what is done to it.
type changeable struct {
	config conf.Config
	done   int
}

func (c *changeable) Reload(string, *control.Request) *control.Result {
	c.done++
	return &control.Result{OK: true}
}

func (c *changeable) Upgrade(string, *control.Request) (*control.Result, error) {
	return nil, errors.New("no program")
}

func (c *changeable) Confirm(string, bool) (*control.Result, error) {
	c.done++
	return &control.Result{OK: true}, nil
}

func (c *changeable) Config() *conf.Config { return &c.config }

// everything is a source with all routes that there are, and its sink.
func everything(t *testing.T) (*sink, *changeable) {
	t.Helper()
	hash := func(secret string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(secret))) }
	x := &changeable{config: conf.Config{HTTP: conf.HTTP{LocalReads: true, Tokens: []conf.Token{
		{Name: "reader", SHA256: hash("r"), Role: conf.ReadRole}, {Name: "writer", SHA256: hash("w"), Role: conf.WriteRole},
	}}}}
	s := source(polling(t))
	s.control(t, &control.Server{Sink: x, State: control.NewState("c.hcl", "abc", time.Unix(1000, 0)), Writes: control.NewWrites(slog.Default)})
	return s, x
}

// TestRoutesAreDescribed: the OpenAPI document has each route of /api/v1, and no others.
func TestRoutesAreDescribed(t *testing.T) {
	var d struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(openapi.Document, &d); err != nil {
		t.Fatal(err)
	}
	s, _ := everything(t)
	have := map[string]bool{}
	for _, pattern := range s.routes().patterns {
		method, path, found := strings.Cut(pattern, " ")
		below, ok := strings.CutPrefix(strings.TrimSuffix(path, "{$}"), "/api/v1")
		if !found || !ok || method == "HEAD" {
			continue
		}
		have[strings.ToLower(method)+" "+below] = true
		if d.Paths[below][strings.ToLower(method)] == nil {
			t.Errorf("openapi.json lacks %s %s", method, below)
		}
	}
	for path, operations := range d.Paths {
		for method := range operations {
			if !have[method+" "+path] {
				t.Errorf("there is no route for %s %s", method, path)
			}
		}
	}
}

// parameter is a part of a pattern that stands for any text.
var parameter = regexp.MustCompile(`\{[a-z]+\}`)

// requestOf is the method and path of a request that a pattern takes.
func requestOf(pattern string) (method, path string) {
	method, path, found := strings.Cut(pattern, " ")
	if !found {
		method, path = "", pattern
	}
	path = strings.TrimSuffix(path, "{$}")
	if parameter.MatchString(path) {
		path = parameter.ReplaceAllString(path, "1")
	}
	return method, path
}

// TestRoutesAndRights: each route that the router has, with each method, for each right that somebody may have: who has none
// is let in nowhere but for health, who may read changes nothing, and no method finds a way around.
func TestRoutesAndRights(t *testing.T) {
	s, x := everything(t)
	router, handler := s.routes(), s.handler()
	writes := map[string][]string{} // path: methods that change something
	paths := []string{"/readyz?verbose", "/nowhere"}
	for _, pattern := range router.patterns {
		method, path := requestOf(pattern)
		paths = append(paths, path)
		if method != "" && method != "GET" && method != "HEAD" {
			writes[path] = append(writes[path], method)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if len(paths) < 20 || len(writes) < 7 {
		t.Fatalf("%d paths, %d of them change something: %q", len(paths), len(writes), router.patterns)
	}
	gone, cancel := context.WithCancel(t.Context()) // streams end at once
	cancel()
	for i, who := range []struct {
		name, from, bears string
		reads, writes     bool
	}{
		{"this machine", "127.0.0.1:5", "", true, false},
		{"this machine, a token that reads", "[::1]:5", "Bearer r", true, false},
		{"this machine, a token that writes", "127.0.0.1:5", "Bearer w", true, true},
		{"another, nothing", "192.0.2.1:5", "", false, false},
		{"another, a wrong token", "", "Bearer x", false, false},
		{"another, the hash of a token", "", "Bearer " + x.config.HTTP.Tokens[1].SHA256, false, false},
		{"another, another scheme", "", "Basic w", false, false},
		{"another, a token that reads", "192.0.2.2:5", "Bearer r", true, false},
		{"another, a token that writes", "192.0.2.3:5", "bearer w", true, true},
	} {
		for n, path := range paths {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY"} {
				x.done = 0
				r := httptest.NewRequestWithContext(gone, method, path, strings.NewReader("x")) // no request that does anything
				if r.RemoteAddr = who.from; who.from == "" {                                    // of many machines: their number is not what is tried here
					r.RemoteAddr = fmt.Sprintf("[2001:db8:%x:%x::1]:5", i, n)
				}
				if who.bears != "" {
					r.Header.Set("Authorization", who.bears)
				}
				r.Header.Set("X-Forwarded-For", "127.0.0.1") // which says nothing to us
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				change, health := slices.Contains(writes[path], method), path == "/healthz" || path == "/readyz"
				in := w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden
				limited := w.Code == http.StatusTooManyRequests && change // as many as come at once here
				if want := health || who.reads && (!change || who.writes); in != want && !(limited && who.reads) {
					t.Errorf("%s: %s %s: %d, to be let in: %v", who.name, method, path, w.Code, want)
				}
				if x.done != 0 {
					t.Errorf("%s: %s %s changes something", who.name, method, path)
				}
			}
		}
	}
}
