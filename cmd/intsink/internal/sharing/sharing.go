// Package sharing gives one answer of the API to all clients that ask for it at about the same
// time: a thousand clients cost the workers and the process hardly more than one.
//
// The handler is asked the same URL at most once in 100 ms. Requests that come in between wait for
// the next answer, so no client gets an answer that is older than its request. A client that accepts an older one says so by
// Cache-Control: max-age=SECONDS (RFC 9111, 5.2.1.1); the header Age of the answer tells how old
// it is. answer.go is one answer, on its way or made.
package sharing

import (
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

// interval is the least time between two answers to one question.
const interval = 100 * time.Millisecond

// Answers are answers of next to GET.
type Answers struct {
	next  http.Handler
	apart func(*http.Request) string // requests share answers where this is the same; nil: all do

	mu        sync.Mutex
	questions map[string]*question // by URL
}

// question is a URL that was asked for.
type question struct {
	last   *answer // the last that was begun; nil: none
	coming *answer // the next; requests that come before the handler is asked for it wait for it; nil: none
}

// New returns Answers of next. Requests share answers where apart, a prefix of what they ask for, is the same; nil: all do.
func New(next http.Handler, apart func(*http.Request) string) *Answers {
	return &Answers{next: next, apart: apart, questions: map[string]*question{}}
}

// ServeHTTP answers a request with an answer that others get, too.
func (s *Answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.URL.RequestURI()
	if s.apart != nil {
		key = s.apart(r) + key
	}
	if r.Method != http.MethodGet || len(key) > maxKey {
		s.next.ServeHTTP(w, r)
		return
	}
	q, a := s.find(key, r)
	if a == nil { // no room
		s.next.ServeHTTP(w, r)
		return
	}
	select {
	case <-a.made:
	case <-r.Context().Done():
		s.leave(q, a)
		return
	}
	if a.status == 0 || a.status == http.StatusTooManyRequests && a.request.RemoteAddr != r.RemoteAddr { // which is the first client's
		s.next.ServeHTTP(w, r)
		return
	}
	a.write(w)
}

// find returns the question of r and the answer that r gets, and has it made where nobody does;
// nil: there is no room for one more question.
func (s *Answers) find(key string, r *http.Request) (*question, *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	q := s.questions[key]
	if q == nil {
		s.forget(now)
		if len(s.questions) >= maxKept {
			return nil, nil
		}
		q = &question{}
		s.questions[key] = q
	}
	a := q.last
	if a == nil || a.passing || now.Sub(a.begun) >= ageAllowed(r) {
		if q.coming == nil {
			q.coming = newAnswer(r)
			go s.make(q, q.coming, q.last)
		}
		a = q.coming
	}
	a.waiting++
	return q, a
}

// leave is for a client that no longer waits for a. The last of them takes the question back.
func (s *Answers) leave(q *question, a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.waiting--; a.waiting > 0 || a.isMade() {
		return
	}
	a.cancel()
	a.passing = true
	if q.coming == a {
		q.coming = nil
	}
}

// forget forgets questions whose answers are too old for anyone.
func (s *Answers) forget(now time.Time) {
	maps.DeleteFunc(s.questions, func(_ string, q *question) bool {
		return q.coming == nil && (q.last == nil || q.last.isMade() && now.Sub(q.last.begun) > maxAge)
	})
}

// make makes a, the answer to q that comes after last, in its time.
func (s *Answers) make(q *question, a, last *answer) {
	if last != nil {
		<-last.made
		time.Sleep(time.Until(last.begun.Add(interval)))
	}
	s.mu.Lock()
	if a.passing { // nobody waits any more
		s.mu.Unlock()
		return
	}
	a.begun = time.Now()
	q.last, q.coming = a, nil
	s.mu.Unlock()
	a.make(s.next)
	if a.status != http.StatusOK || a.body.Len() > maxBody { // for who waits, and nobody else
		s.mu.Lock()
		q.last = &answer{begun: a.begun, made: a.made, passing: true}
		s.mu.Unlock()
	}
	close(a.made)
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
