package control

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/webguard"
	"intsink/cmd/internal/webguard/certtest"
	"intsink/conf"
)

// streaming serves s with a stream to read and one to write, each open until its request ends.
func streaming(t *testing.T, s *Server, l net.Listener) {
	t.Helper()
	stream := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begun\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	mux := http.NewServeMux()
	s.Register(mux)
	mux.HandleFunc("GET /read", stream)
	mux.HandleFunc("POST /write", s.Handle(func(string, *http.Request) Outcome { return Outcome{Result: WriteOK, Status: 200, Stream: stream} }))
	h := &http.Server{Handler: s.Guard(mux)}
	s.Follow(h)
	go h.Serve(l)
	t.Cleanup(func() { h.Close() })
}

// begin asks for a stream, and returns a function that tells whether it has ended.
func begin(t *testing.T, client *http.Client, method, url, token string) (ended func() error) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := client.Do(r)
	if err != nil || a.StatusCode != 200 {
		t.Fatalf("%s %s: %v %v", method, url, a, err)
	}
	t.Cleanup(func() { a.Body.Close() })
	io.ReadFull(a.Body, make([]byte, len("begun\n")))
	result := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, a.Body)
		result <- fmt.Errorf("ended: %v", err)
	}()
	return func() error {
		select {
		case err := <-result:
			return err
		case <-time.After(time.Minute):
			return nil
		}
	}
}

// TestWhatIsTakenAwayEnds: streams and captures of tokens that a reload took away, or left with less, end with their
// connections; those of others go on.
func TestWhatIsTakenAwayEnds(t *testing.T) {
	for name, change := range map[string]struct {
		tokens      func(all []conf.Token) []conf.Token
		read, write bool // what ends
	}{
		"gone": {func([]conf.Token) []conf.Token {
			return []conf.Token{{Name: "other", SHA256: strings.Repeat("0", 64), Role: "write"}}
		}, true, true},
		"another":   {func(all []conf.Token) []conf.Token { return all[1:] }, true, false},
		"less":      {func(all []conf.Token) []conf.Token { all[1].Role = "read"; return all }, false, true},
		"unchanged": {func(all []conf.Token) []conf.Token { return all }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			sink, s, log := server()
			sink.config.HTTP = conf.HTTP{Tokens: tokens()} // without local_reads: this machine is as any other
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			streaming(t, s, l)
			url := "http://" + l.Addr().String()
			read := begin(t, &http.Client{Transport: &http.Transport{}}, "GET", url+"/read", "r")
			write := begin(t, &http.Client{Transport: &http.Transport{}}, "POST", url+"/write", "w")
			s.guests.mu.Lock()
			before := len(s.guests.open)
			s.guests.mu.Unlock()
			sink.config.HTTP.Tokens = change.tokens(tokens())
			s.Recheck()
			ends := 0
			for what, c := range map[string]struct {
				ended func() error
				want  bool
			}{"read": {read, change.read}, "write": {write, change.write}} {
				if c.want {
					ends++
					if c.ended() == nil {
						t.Errorf("%s goes on", what)
					}
				}
			}
			s.guests.mu.Lock()
			defer s.guests.mu.Unlock()
			if before != 2 || len(s.guests.open) != before-ends || strings.Count(log.String(), "a right is gone") != ends {
				t.Errorf("%d of %d connections, want %d to end\n%s", len(s.guests.open), before, ends, log)
			}
		})
	}
}

// TestAuthorityThatGoes: a client whose authority is replaced loses its stream, and on a connection that it kept its
// right; a file that cannot be used changes nothing.
func TestAuthorityThatGoes(t *testing.T) {
	dir, clientDir := t.TempDir(), t.TempDir()
	ca, caKey := certtest.Authority(t, "ca")
	other, _ := certtest.Authority(t, "other")
	path := filepath.Join(dir, "ca.pem")
	certtest.File(t, path, "CERTIFICATE", ca.Raw)
	certtest.Signed(t, dir, "sink", ca, caKey)
	sink, s, _ := server()
	sink.config.HTTP.TLS = &conf.TLS{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), ClientCA: path}
	c, err := webguard.TLS(sink.config.HTTP.TLS)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	streaming(t, s, l)
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	client := func() *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certtest.Signed(t, clientDir, "alice", ca, caKey)}}}}
	}
	url := "https://" + l.Addr().String()
	kept := client()
	reload := func() int {
		a, err := kept.Post(url+"/api/v1/reload", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		io.Copy(io.Discard, a.Body) // so that the connection is kept
		return a.StatusCode
	}
	write := begin(t, client(), "POST", url+"/write", "")
	later := time.Now()
	turn := func(text []byte) {
		os.WriteFile(path, text, 0o600)
		later = later.Add(time.Minute)
		os.Chtimes(path, time.Time{}, later)
	}
	turn([]byte("nonsense"))
	if got := reload(); got != 200 {
		t.Errorf("with a file that cannot be used: %d", got)
	}
	certtest.File(t, path, "CERTIFICATE", other.Raw)
	text, _ := os.ReadFile(path)
	turn(text)
	if got := reload(); got != 403 {
		t.Errorf("on a connection that it kept: %d", got)
	}
	s.Recheck()
	if write() == nil {
		t.Error("its stream goes on")
	}
}

// TestLocalReads: without local_reads a program of this machine, such as a proxy, shows its right as all others do.
func TestLocalReads(t *testing.T) {
	for _, c := range []struct {
		local     bool
		from      string
		token     string
		page, see int // of the API, of profiles
	}{
		{true, "127.0.0.1:1", "", 200, 200}, {true, "192.0.2.1:1", "", 401, 401}, {true, "192.0.2.1:1", "r", 200, 401}, {true, "192.0.2.1:1", "w", 200, 200},
		{false, "127.0.0.1:1", "", 401, 401}, {false, "[::1]:1", "r", 200, 401}, {false, "127.0.0.1:1", "w", 200, 200},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			sink, s, _ := server()
			sink.config.HTTP = conf.HTTP{Tokens: tokens(), LocalReads: c.local}
			next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
			for path, g := range map[string]struct {
				h    http.Handler
				want int
			}{"/api/v1/status": {s.Guard(next), c.page}, "/debug/pprof/": {s.GuardProfiles(next), c.see}, "/healthz": {s.GuardProfiles(next), c.see}} {
				r := httptest.NewRequest("GET", path, nil)
				r.RemoteAddr = c.from
				if c.token != "" {
					r.Header.Set("Authorization", "Bearer "+c.token)
				}
				w := httptest.NewRecorder()
				if g.h.ServeHTTP(w, r); w.Code != g.want {
					t.Errorf("%s: %d, want %d", path, w.Code, g.want)
				}
			}
		})
	}
}
