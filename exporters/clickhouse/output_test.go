package clickhouse

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
)

// server takes inserts as ClickHouse does: a block whose token it knows is not stored again.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(w http.ResponseWriter) bool // reports whether to store the block; may write an answer of its own
	tokens map[string]bool
	ids    map[string]int
	posts  int
	last   *http.Request
}

func newServer(t *testing.T) *server {
	s := &server{tokens: map[string]bool{}, ids: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts++
	s.last = r
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	lines := bufio.NewScanner(z)
	var ids []string
	for lines.Scan() {
		var row struct{ ID, Type string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		if row.Type == "report" {
			ids = append(ids, row.ID)
		}
	}
	if s.answer != nil && !s.answer(w) {
		return
	}
	if token := r.URL.Query().Get("insert_deduplication_token"); !s.tokens[token] {
		s.tokens[token] = true
		for _, id := range ids {
			s.ids[id]++
		}
	}
}

func (s *server) set(answer func(w http.ResponseWriter) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// count returns how many rows were stored, and how many distinct ids they have.
func (s *server) count() (rows, ids int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.ids {
		rows += n
	}
	return rows, len(s.ids)
}

func output(t *testing.T, c Config) *Output {
	t.Helper()
	if c.Rows == 0 {
		c.Rows = 100
	}
	c.Wait, c.Timeout = 20*time.Millisecond, 500*time.Millisecond
	o, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func delivered(b *collecttest.Bed) func() bool {
	return func() bool { o := b.C.Snapshot().Outputs[0]; return o.Live && o.Queued == 0 }
}

func TestInsert(t *testing.T) {
	s := newServer(t)
	password := filepath.Join(t.TempDir(), "password")
	os.WriteFile(password, []byte("secret\n"), 0o600)
	b := collecttest.New(t, collect.Options{}, 0, output(t, Config{URL: s.URL + "/?table=int.reports&max_insert_threads=1", User: "intsink", PasswordFile: password}))
	b.Send(1000)
	b.Wait("all is delivered", delivered(b))
	b.Stop()
	if rows, ids := s.count(); rows != 2000 || ids != 2000 {
		t.Errorf("%d rows, %d ids", rows, ids)
	}
	q := s.last.URL.Query()
	if q.Get("query") != "INSERT INTO `int`.`reports` FORMAT JSONEachRow" || q.Has("table") || q.Get("max_insert_threads") != "1" || q.Get("date_time_input_format") != "best_effort" {
		t.Errorf("query %v", q)
	}
	if h := s.last.Header; h.Get("X-ClickHouse-User") != "intsink" || h.Get("X-ClickHouse-Key") != "secret" {
		t.Errorf("header %v", h)
	}
	if s.posts > 2000/50 {
		t.Errorf("%d inserts of 100 rows for 2000", s.posts)
	}
}

// TestFaults: whether the server answers with an error, late or not at all, each row is
// stored once.
func TestFaults(t *testing.T) {
	n := 0
	often := func(do func(w http.ResponseWriter) bool) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool {
			if n++; n%3 != 0 {
				return do(w)
			}
			return true
		}
	}
	for name, answer := range map[string]func(http.ResponseWriter) bool{
		"500":            func(w http.ResponseWriter) bool { http.Error(w, "Code: 241. Memory limit exceeded", 500); return false },
		"503 and stored": func(w http.ResponseWriter) bool { http.Error(w, "", http.StatusServiceUnavailable); return true },
		"closed":         func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) },
		"no answer":      func(http.ResponseWriter) bool { time.Sleep(700 * time.Millisecond); return true },
		"late exception": func(w http.ResponseWriter) bool {
			w.Header().Set("X-ClickHouse-Exception-Code", "252")
			io.WriteString(w, "Too many parts")
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.Config.ErrorLog = nil
			s.set(often(answer))
			b := collecttest.New(t, collect.Options{Queue: 20000}, 1<<30, output(t, Config{URL: s.URL + "/?table=t", Rows: 150}))
			b.Send(150)
			b.Wait("all is delivered", delivered(b))
			b.Stop()
			if rows, ids := s.count(); rows != 300 || ids != 300 {
				t.Errorf("%d rows, %d ids", rows, ids)
			}
			if o := b.C.Snapshot().Outputs[0]; o.Retried == 0 {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestRestartWhileAway: rows that the server has not taken are kept for the next process.
func TestRestartWhileAway(t *testing.T) {
	s := newServer(t)
	s.set(func(w http.ResponseWriter) bool { http.Error(w, "", http.StatusServiceUnavailable); return false })
	conf := Config{URL: s.URL + "/?table=t"}
	b := collecttest.New(t, collect.Options{Flush: 100 * time.Millisecond}, 1<<30, output(t, conf))
	b.Send(200)
	b.Stop()
	s.set(nil)
	b.Start(collect.Options{}, 1<<30, output(t, conf))
	b.Wait("all is delivered", delivered(b))
	b.Stop()
	if rows, ids := s.count(); rows != 400 || ids != 400 {
		t.Errorf("%d rows, %d ids", rows, ids)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, u := range []string{"http://ch:8123/", "http://ch:8123/%zz?table=t"} {
		if _, err := New(Config{URL: u}); err == nil {
			t.Errorf("%s is taken", u)
		}
	}
	if q := quote("a`b.c"); q != "`a\\`b`.`c`" || strings.Count(q, ".") != 1 {
		t.Error(q)
	}
}
