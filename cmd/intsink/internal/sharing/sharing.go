// Package sharing gives one answer of the API to all clients that may have it: ten pages that
// are open cost the workers and the process what one does.
//
// A client allows it by a request with Cache-Control: max-age=SECONDS (RFC 9111, 5.2.1.1); the
// header Age of the answer tells how old it is. Any other request is answered anew.
package sharing

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what is kept.
const (
	maxAge  = 10 * time.Second // of any answer; a request that allows more gets this
	maxKept = 32               // answers, of one URL each
	maxKey  = 1 << 10          // bytes of a URL
	maxBody = 512 << 10        // bytes of an answer
)

// writePatience is how long a client may take to read an answer.
const writePatience = 30 * time.Second

// Answers are answers of next, one for each URL.
type Answers struct {
	next http.Handler
	now  func() time.Time

	mu   sync.Mutex
	kept map[string]*answer
}

// answer is one answer of next, or a request on its way to it.
type answer struct {
	asked time.Time     // what the answer tells is not older
	made  chan struct{} // closed once the rest is there

	status int // 0: next has panicked, there is no answer
	header http.Header
	body   bytes.Buffer
}

// New returns Answers of next for GET, by the time that now tells.
func New(next http.Handler, now func() time.Time) *Answers {
	return &Answers{next: next, now: now, kept: map[string]*answer{}}
}

// ServeHTTP answers a request with an answer that is kept, or has next answer it.
func (s *Answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed := ageAllowed(r)
	key := r.URL.RequestURI()
	if allowed == 0 || r.Method != http.MethodGet || len(key) > maxKey {
		s.next.ServeHTTP(w, r)
		return
	}
	a, mine := s.find(key, allowed)
	switch {
	case a == nil: // no room
		s.next.ServeHTTP(w, r)
		return
	case mine:
		s.make(key, a, r)
	}
	select {
	case <-a.made:
	case <-r.Context().Done():
		return
	}
	if a.status == 0 {
		s.next.ServeHTTP(w, r)
		return
	}
	s.write(w, a)
}

// find returns the answer for key that is at most as old as allowed; mine: the caller has to
// make it. nil: there is none, and no room for one more.
func (s *Answers) find(key string, allowed time.Duration) (a *answer, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if a = s.kept[key]; a != nil && now.Sub(a.asked) <= allowed {
		return a, false
	}
	maps.DeleteFunc(s.kept, func(_ string, a *answer) bool { return now.Sub(a.asked) > maxAge })
	if a == nil && len(s.kept) >= maxKept {
		return nil, false
	}
	a = &answer{asked: now, made: make(chan struct{}), header: http.Header{}}
	s.kept[key] = a
	return a, true
}

// make has next answer r. It goes on when the client of r leaves: others wait for it.
func (s *Answers) make(key string, a *answer, r *http.Request) {
	defer func() {
		close(a.made)
		if a.status == http.StatusOK && a.body.Len() <= maxBody {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.kept[key] == a {
			delete(s.kept, key)
		}
	}()
	record := &recorder{answer: a}
	s.next.ServeHTTP(record, r.WithContext(context.WithoutCancel(r.Context())))
	record.WriteHeader(http.StatusOK) // unless there is one
	a.status = record.status
}

// write sends a to one client.
func (s *Answers) write(w http.ResponseWriter, a *answer) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writePatience)) // a client that does not read holds it no longer
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Age", strconv.Itoa(int(s.now().Sub(a.asked)/time.Second)))
	w.WriteHeader(a.status)
	w.Write(a.body.Bytes()) // fails where nobody listens any more
}

// recorder is the http.ResponseWriter that fills an answer.
type recorder struct {
	*answer
	status int
}

// Header returns the header of the answer.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader sets the status, once.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write adds to the body.
func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// ageAllowed is the age that the client of r allows, at most maxAge; 0: the answer must be new.
func ageAllowed(r *http.Request) time.Duration {
	var allowed time.Duration
	for field := range strings.SplitSeq(strings.Join(r.Header.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch strings.ToLower(name) {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			n, err := strconv.ParseUint(value, 10, 31)
			if err != nil {
				return 0
			}
			allowed = min(time.Duration(n)*time.Second, maxAge)
		}
	}
	return allowed
}
