package clickhouse

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"intsink/exporters/record/nativetest"
)

// answer answers an insert, and reports whether the server stores its rows. If it writes nothing,
// the answer is 200.
type answer func(http.ResponseWriter, *http.Request) bool

// server takes inserts as ClickHouse does: a block whose token it knows is not stored again.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	answer  answer // nil: stores every block
	tokens  map[string]bool
	ids     map[string]int
	posts   []post
	opened  int           // connections that clients have opened
	closed  chan struct{} // receives once for each connection that was closed
	refused []string      // requests that are not inserts of ClickHouse, and why
}

// post is a request as the server got it.
type post struct {
	*http.Request
	ids   []string // of reports, in the order of the rows
	rows  int
	token string
}

func newServer(t *testing.T) *server {
	s := &server{tokens: map[string]bool{}, ids: map[string]int{}, closed: make(chan struct{}, 100)}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch state {
		case http.StateNew:
			s.opened++
		case http.StateClosed:
			s.closed <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(func() {
		s.Close()
		for _, r := range s.refused {
			t.Error(r)
		}
	})
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, err := readPost(r)
	s.mu.Lock()
	if err != nil {
		s.refused = append(s.refused, err.Error())
	}
	s.posts = append(s.posts, p)
	answer := s.answer
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	if answer != nil && !answer(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tokens[p.token] {
		s.tokens[p.token] = true
		for _, id := range p.ids {
			s.ids[id]++
		}
	}
}

func readPost(r *http.Request) (p post, err error) {
	p.Request, p.token = r, r.URL.Query().Get("insert_deduplication_token")
	if q := r.URL.Query(); q.Get("decompress") != "1" || !strings.HasSuffix(q.Get("query"), " FORMAT Native") {
		return p, fmt.Errorf("the query is %v", q)
	}
	rows, err := nativetest.Inserted(r.Body)
	p.rows = len(rows)
	for _, text := range rows {
		var row struct{ ID, Type string }
		if err := json.Unmarshal(text, &row); err != nil {
			return p, err
		}
		if row.Type == "report" {
			p.ids = append(p.ids, row.ID)
		}
	}
	return p, err
}

// set replaces the answer to the inserts that come from now on.
func (s *server) set(a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = a
}

// received returns the requests so far.
func (s *server) received() []post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posts)
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

func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}
