// Site: a part of the API on a unix socket, as the sink serves it, with requests and the log.

// Package controltest serves parts of the API on a unix socket, for their tests.
package controltest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/internal/control"
)

// Site is a server on a unix socket.
type Site struct {
	Logged *bytes.Buffer // lines about writes

	t      testing.TB
	client *http.Client
}

// New serves, until the test ends, what register adds.
func New(t testing.TB, register func(mux *http.ServeMux, c *control.Server)) *Site {
	t.Helper()
	s := &Site{Logged: &bytes.Buffer{}, t: t}
	log := slog.New(slog.NewTextHandler(s.Logged, nil))
	mux := http.NewServeMux()
	register(mux, &control.Server{Writes: control.NewWrites(func() *slog.Logger { return log })})
	path := filepath.Join(t.TempDir(), "s")
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: mux, ConnContext: control.ConnContext}
	go h.Serve(l)
	t.Cleanup(func() { h.Close() })
	s.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	return s
}

// Ask makes a request, and returns the answer.
func (s *Site) Ask(method, path, body string) (status int, answer string) {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://sink"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, string(b)
}
