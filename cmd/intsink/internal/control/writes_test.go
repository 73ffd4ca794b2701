package control

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/conf"
)

// sink counts its reloads.
type sink struct {
	reloads   int
	confirmed int
	asked     Request
	config    conf.Config
}

func (s *sink) Reload(who string, q *Request) *Result {
	s.reloads++
	s.asked = *q
	return &Result{OK: true, By: who}
}

func (s *sink) Confirm(who string, back bool) (*Result, error) {
	if s.confirmed++; s.confirmed > 1 {
		return nil, errors.New("there is nothing to confirm")
	}
	return &Result{OK: true, By: who}, nil
}

func (s *sink) Upgrade(who string, _ *Request) (*Result, error) {
	return &Result{OK: true, By: who}, nil
}

func (s *sink) Config() *conf.Config { return &s.config }

// server serves a sink, whose log goes to the buffer.
func server() (*sink, *Server, *bytes.Buffer) {
	s, log := &sink{config: conf.Config{HTTP: conf.HTTP{LocalReads: true}}}, &bytes.Buffer{}
	return s, &Server{Sink: s, State: NewState("c.hcl", "abc", time.Unix(1000, 0)), Writes: NewWrites(func() *slog.Logger { return slog.New(slog.NewTextHandler(log, nil)) })}, log
}

// post asks for a reload from the other end p; nil: over TCP.
func post(s *Server, p *peer) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	s.Register(mux)
	r := httptest.NewRequest("POST", "/api/v1/reload", nil)
	if p != nil {
		r = r.WithContext(context.WithValue(r.Context(), whoKey{}, *p))
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// TestWhoMayWrite: on the unix socket root and the sink's own user may write, nobody else.
func TestWhoMayWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		peer *peer
		want int
	}{
		{"root", &peer{0, 7}, 200},
		{"own user", &peer{os.Geteuid(), 7}, 200},
		{"another user", &peer{os.Geteuid() + 12345, 7}, 403},
		{"nobody knows", &peer{-1, -1}, 403},
		{"tcp", nil, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			sink, s, log := server()
			if w := post(s, c.peer); w.Code != c.want || sink.reloads != 1 && c.want == 200 || sink.reloads != 0 && c.want != 200 {
				t.Errorf("%d %s, %d reloads", w.Code, w.Body, sink.reloads)
			}
			if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), `what="POST /api/v1/reload"`) {
				t.Errorf("%d lines: %s", n, log)
			}
		})
	}
}

// TestProgramsAreOfTheMachine: who has a token decides neither which program runs nor whether one stays.
func TestProgramsAreOfTheMachine(t *testing.T) {
	_, s, _ := server()
	sum := sha256.Sum256([]byte("secret"))
	s.Sink.(*sink).config.HTTP.Tokens = []conf.Token{{Name: "t", SHA256: hex.EncodeToString(sum[:]), Role: conf.WriteRole}}
	s.State.BeginTrial(Trial{Program: "1"})
	mux := http.NewServeMux()
	s.Register(mux)
	for path, body := range map[string]string{"upgrade": `{"confirm": "10m"}`, "confirm": ""} {
		for _, c := range []struct {
			body string
			peer *peer
			want int
		}{{body, &peer{0, 7}, 200}, {body, nil, 403}, {`{"dry_run": true}`, &peer{0, 7}, 400}} {
			r := httptest.NewRequest("POST", "/api/v1/"+path, strings.NewReader(c.body))
			r.Header.Set("Authorization", "Bearer secret")
			if c.peer != nil {
				r = r.WithContext(context.WithValue(r.Context(), whoKey{}, *c.peer))
			}
			w := httptest.NewRecorder()
			if mux.ServeHTTP(w, r); w.Code != c.want || c.want == 403 && !strings.Contains(w.Body.String(), ofTheProgram) {
				t.Errorf("%s of %v: %d %s", path, c.peer, w.Code, w.Body)
			}
		}
	}
}

// TestWritesAreLimited: writesAtOnce writes are allowed at once, and as many a second.
func TestWritesAreLimited(t *testing.T) {
	sink, s, _ := server()
	now := time.Unix(5000, 0)
	s.Writes.now = func() time.Time { return now }
	try := func(n int) {
		for range n {
			post(s, &peer{0, 1})
		}
	}
	try(100)
	if sink.reloads != writesAtOnce || s.Writes.Count(WriteLimited) != 100-writesAtOnce {
		t.Errorf("%d of 100 at once, %d limited", sink.reloads, s.Writes.Count(WriteLimited))
	}
	if w := post(s, nil); w.Code != http.StatusForbidden {
		t.Errorf("over TCP, whose place is its own: %d", w.Code)
	}
	now = now.Add(time.Second)
	try(100)
	if got := sink.reloads - writesAtOnce; got != 20 {
		t.Errorf("%d of 100 after a second", got)
	}
}

// TestWhoMayNotWriteTakesNoRoom: a flood of those who may not write leaves the writers all of their
// room, and is bounded itself, with its lines in the log.
func TestWhoMayNotWriteTakesNoRoom(t *testing.T) {
	const reader, writer = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" // of "test2", "test"
	over := func(token string) func(*Server) int {
		return func(s *Server) int {
			r := httptest.NewRequest("POST", "/api/v1/reload", nil)
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			s.Handle(s.reload)(w, r)
			return w.Code
		}
	}
	as := func(p peer) func(*Server) int { return func(s *Server) int { return post(s, &p).Code } }
	for _, c := range []struct {
		name         string
		flood, write func(*Server) int
	}{
		{"on the socket", as(peer{os.Geteuid() + 12345, 7}), as(peer{0, 7})},
		{"over TCP", over("test2"), over("test")},
	} {
		t.Run(c.name, func(t *testing.T) {
			sink, s, log := server()
			sink.config.HTTP.Tokens = []conf.Token{{Name: "r", SHA256: reader, Role: conf.ReadRole}, {Name: "w", SHA256: writer, Role: conf.WriteRole}}
			now := time.Unix(5000, 0)
			s.Writes.now = func() time.Time { return now }
			answers := map[int]int{}
			for range 100 {
				answers[c.flood(s)]++
			}
			if answers[http.StatusForbidden] != writesAtOnce || answers[http.StatusTooManyRequests] != 100-writesAtOnce || strings.Count(log.String(), "\n") != writesAtOnce {
				t.Errorf("the flood: %v\n%s", answers, log)
			}
			for range writesAtOnce {
				if code := c.write(s); code != http.StatusOK {
					t.Fatalf("a writer: %d after %d reloads", code, sink.reloads)
				}
			}
			if code := c.write(s); code != http.StatusTooManyRequests {
				t.Errorf("one writer too many: %d", code)
			}
		})
	}
}

// TestARequestThatDoesNotCome is given up: who sends the first half of it holds nothing for longer.
func TestARequestThatDoesNotCome(t *testing.T) {
	sink, s, log := server()
	sink.config.HTTP.Tokens = []conf.Token{{Name: "slow", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Role: conf.WriteRole}} // of "test"
	s.Writes.come = 20 * time.Millisecond
	mux := http.NewServeMux()
	s.Register(mux)
	web := httptest.NewServer(mux)
	defer web.Close()
	c, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /api/v1/reload HTTP/1.1\r\nHost: sink\r\nAuthorization: Bearer test\r\nContent-Length: 100\r\n\r\n{\"confirm\":")
	c.SetReadDeadline(time.Now().Add(time.Minute))
	answer, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") || sink.reloads != 0 || s.Writes.Count(WriteBad) != 1 || strings.Count(log.String(), "result=bad_request") != 1 {
		t.Errorf("%v, %d reloads, %s\n%s", err, sink.reloads, answer, log)
	}
}

// TestListenReplacesWhatIsLeft: Listen replaces the socket of a process that is gone, and nothing
// else.
func TestListenReplacesWhatIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := Listen(path); err == nil {
		t.Error("a second process listens on the same socket")
	}
	l.Listener.Close() // as a process that ends
	l.Close()
	if l, err = Listen(path); err != nil {
		t.Fatalf("after the first process ended: %v", err)
	}
	l.Close()
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, []byte("precious"), 0o600)
	if _, err := Listen(file); err == nil {
		t.Error("a file was taken for a socket")
	}
	if b, _ := os.ReadFile(file); string(b) != "precious" {
		t.Errorf("the file is now %q", b)
	}
}

// TestTheLastWritesAreKept: a hundred that were done, whatever is refused meanwhile or done over TCP, and what was refused last,
// with the beginning of what was wrong.
func TestTheLastWritesAreKept(t *testing.T) {
	sink, s, _ := server()
	secret := sha256.Sum256([]byte("secret"))
	sink.config.HTTP.Tokens = []conf.Token{{Name: "w", SHA256: hex.EncodeToString(secret[:]), Role: conf.WriteRole}}
	now := time.Unix(1000, 0)
	s.Writes.now = func() time.Time { return now }
	mux := http.NewServeMux()
	s.Register(mux)
	remote := func(body string) {
		r := httptest.NewRequest("POST", "/api/v1/reload", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer secret")
		mux.ServeHTTP(httptest.NewRecorder(), r)
	}
	for range 2 * keptWrites {
		now = now.Add(time.Minute)
		post(s, &peer{0, 7})
	}
	for range 2 * keptWrites {
		now = now.Add(time.Minute)
		remote("")
		remote("no JSON")
		post(s, &peer{1000, 8})
	}
	all := s.Writes.Last()
	counts := map[string]int{}
	for _, w := range all {
		who, _, _ := strings.Cut(w.Who, " pid")
		counts[who[:min(len(who), 10)]+" "+w.Result]++
	}
	for what, n := range counts {
		if n != keptWrites {
			t.Errorf("%d writes %s are kept", n, what)
		}
	}
	if len(counts) != 4 || counts["unix uid 0 ok"] != keptWrites || !all[0].Time.Equal(time.Unix(1000, 0).Add((keptWrites+1)*time.Minute)) {
		t.Errorf("%v, the first is %+v", counts, all[0])
	}
	last := all[len(all)-1]
	if last.Who != "unix uid 1000 pid 8" || last.What != "POST /api/v1/reload" || last.Result != "forbidden" || len(last.Detail) == 0 || len(last.Detail) > maxDetail {
		t.Errorf("the last is %+v", last)
	}
}
