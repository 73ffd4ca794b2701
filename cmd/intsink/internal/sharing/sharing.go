// Package sharing gives one answer of the API to all clients that ask the same at about the same
// time: a thousand clients cost the workers and the process hardly more than one.
package sharing

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"sync"
	"time"
)

const (
	fresh    = 100 * time.Millisecond // since an answer was begun, if it is given again
	most     = 32                     // answers at once; other requests are answered each
	longest  = 1 << 10                // bytes of a question
	patience = 30 * time.Second       // for a client to read an answer
)

// Answers shares the answers that next gives to GET. A request that comes while the same one is being answered waits for
// that answer; requests up to 100 ms after it was begun get it, too.
type Answers struct {
	next  http.Handler
	apart func(*http.Request) string

	mu  sync.Mutex
	all map[string]*answer // by question
}

// answer is an http.ResponseWriter.
type answer struct {
	client string        // who asked first
	made   chan struct{} // closed once the rest is there
	status int           // 0: the handler has panicked
	header http.Header
	bytes.Buffer
}

// New returns Answers of next. Requests share answers where apart, a prefix of what they ask for, is the same.
func New(next http.Handler, apart func(*http.Request) string) *Answers {
	return &Answers{next: next, apart: apart, all: map[string]*answer{}}
}

// ServeHTTP answers a request with an answer that others get, too.
func (s *Answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := s.apart(r) + r.URL.RequestURI()
	a, first := s.of(key, r)
	switch {
	case first:
		s.make(a, key, r)
	case a != nil:
		select {
		case <-a.made:
		case <-r.Context().Done():
			return
		}
	}
	if a == nil || a.status == 0 || a.status == http.StatusTooManyRequests && a.client != r.RemoteAddr { // that is the first client's alone
		s.next.ServeHTTP(w, r)
		return
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // a client that does not read holds it no longer
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	w.Write(a.Bytes()) // fails where nobody listens any more
}

// of returns the answer that r gets; first: r is to make it. It returns nil if r is answered by itself.
func (s *Answers) of(key string, r *http.Request) (a *answer, first bool) {
	if r.Method != http.MethodGet {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a = s.all[key]
	if first = a == nil && len(key) <= longest && len(s.all) < most; first {
		a = &answer{client: r.RemoteAddr, made: make(chan struct{}), header: http.Header{}}
		s.all[key] = a
	}
	return a, first
}

// make has next answer r, whether its client waits for that or not.
func (s *Answers) make(a *answer, key string, r *http.Request) {
	begun := time.Now()
	defer func() { // also where next panics: who waits asks it then
		close(a.made)
		time.AfterFunc(time.Until(begun.Add(fresh)), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.all, key)
		})
	}()
	s.next.ServeHTTP(a, r.WithContext(context.WithoutCancel(r.Context())))
	a.WriteHeader(http.StatusOK) // unless there is a status
}

// Header returns the header of the answer.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status, once.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write adds to the body.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.Buffer.Write(b)
}
