package sharing

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// numbered answers each request with its number, after a while.
type numbered struct {
	mu     sync.Mutex
	n      int
	took   time.Duration
	status int
}

func (x *numbered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	x.n++
	n := x.n
	x.mu.Unlock()
	time.Sleep(x.took)
	w.Header().Set("Content-Type", "text/plain")
	if r.Context().Err() != nil {
		w.WriteHeader(499)
	} else if x.status != 0 {
		w.WriteHeader(x.status)
	}
	fmt.Fprint(w, n)
}

func together(*http.Request) string { return "" }

// kept returns how many answers there are.
func (s *Answers) kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

func ask(h http.Handler, method, url string) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, url, nil))
	return w.Body.String()
}

func TestWhoGetsAnAnswerOfOthers(t *testing.T) {
	for _, c := range []struct {
		name, method, url string
		after             time.Duration
		body              string
	}{
		{"at once", "GET", "/a?x=1", 0, "1"},
		{"just fresh", "GET", "/a?x=1", fresh - 1, "1"},
		{"not fresh", "GET", "/a?x=1", fresh + 1, "2"},
		{"another method", "HEAD", "/a?x=1", 0, "2"},
		{"another URL", "GET", "/a?x=2", 0, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(&numbered{}, together)
				if body := ask(s, "GET", "/a?x=1"); body != "1" {
					t.Fatalf("the first answer is %q", body)
				}
				time.Sleep(c.after)
				if body := ask(s, c.method, c.url); body != c.body {
					t.Errorf("%q, not %q", body, c.body)
				}
			})
		})
	}
}

func TestAnswerAsItWasMade(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		synctest.Test(t, func(t *testing.T) {
			s := New(&numbered{status: status}, together)
			for range 2 {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
				if got := w.Header().Get("Content-Type"); w.Code != status || got != "text/plain" || w.Body.String() != "1" {
					t.Errorf("%d %q %q", w.Code, got, w.Body)
				}
			}
		})
	}
}

// A thousand clients that ask for two seconds cost an answer in 100 ms, or one after the other where that takes longer.
func TestAThousandClients(t *testing.T) {
	for took, most := range map[time.Duration]int{0: 20, 5 * time.Millisecond: 20, 250 * time.Millisecond: 8} {
		t.Run(took.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := &numbered{took: took}
				s := New(x, together)
				var all sync.WaitGroup
				for i := range 1000 {
					all.Go(func() {
						time.Sleep(time.Duration(i) * 2 * time.Millisecond)
						if body := ask(s, "GET", "/"); body == "" {
							t.Errorf("client %d got nothing", i)
						}
					})
				}
				all.Wait()
				if x.n > most || x.n < most-1 {
					t.Errorf("%d answers were made, not %d", x.n, most)
				}
			})
		})
	}
}

func TestNoMoreAreKeptThanThereIsRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &numbered{}
		s := New(x, together)
		for i := range 10 * most {
			ask(s, "GET", fmt.Sprintf("/?%d", i))
		}
		if s.kept() != most || x.n != 10*most {
			t.Errorf("%d are kept of %d answers", s.kept(), x.n)
		}
		time.Sleep(fresh + 1)
		if s.kept() != 0 {
			t.Errorf("%d are kept after all were too old", s.kept())
		}
		for range 2 {
			ask(s, "GET", "/?"+strings.Repeat("x", longest))
		}
		if x.n != 10*most+2 || s.kept() != 0 {
			t.Errorf("a long URL: %d answers, %d kept", x.n, s.kept())
		}
	})
}

// The first client may leave, and others: who stays gets the answer.
func TestClientsThatLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(&numbered{took: time.Second}, together)
		client := func(patience time.Duration) func() string {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			answered := make(chan string, 1)
			go func() {
				defer cancel()
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
				answered <- fmt.Sprint(w.Code, " ", w.Body)
			}()
			synctest.Wait()
			return func() string { return <-answered }
		}
		client(100 * time.Millisecond)
		left, stayed := client(200*time.Millisecond), client(time.Minute)
		if body := left(); body != "200 " { // nothing was written
			t.Errorf("%q for a client that left", body)
		}
		if body := stayed(); body != "200 1" {
			t.Errorf("%q for a client that stayed", body)
		}
	})
}

// Where the handler panics, the first client gets that, as without us, and who waits asks by itself.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &numbered{}
		s := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.RemoteAddr == "first" {
				time.Sleep(time.Second)
				panic("not again")
			}
			x.ServeHTTP(w, r)
		}), together)
		panicked := make(chan any)
		go func() {
			defer func() { panicked <- recover() }()
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = "first"
			s.ServeHTTP(httptest.NewRecorder(), r)
		}()
		synctest.Wait()
		go func() { t.Log(<-panicked) }()
		if body := ask(s, "GET", "/"); body != "1" {
			t.Errorf("%q after a panic", body)
		}
	})
}

// Requests that are kept apart share no answer, and a refusal of the first client's address is its alone.
func TestWhoSharesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &numbered{}
		s := New(x, func(r *http.Request) string { return r.Header.Get("From") })
		for i, from := range []string{"a", "b", "a"} {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("From", from)
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Body.String() != fmt.Sprint([]int{1, 2, 1}[i]) {
				t.Errorf("%s: %s", from, w.Body)
			}
		}
		refuses := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.RemoteAddr == "192.0.2.1:1" {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}), together)
		for _, from := range []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.1:1"} {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = from
			w := httptest.NewRecorder()
			if refuses.ServeHTTP(w, r); (w.Code == 429) != (from == "192.0.2.1:1") {
				t.Errorf("%s: %d", from, w.Code)
			}
		}
	})
}
