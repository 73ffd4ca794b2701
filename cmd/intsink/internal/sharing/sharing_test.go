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
	mu   sync.Mutex
	n    int
	at   []time.Time
	took time.Duration
	fail bool
	size int
}

func (x *numbered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	x.n++
	n := x.n
	x.at = append(x.at, time.Now())
	x.mu.Unlock()
	select {
	case <-time.After(x.took):
	case <-r.Context().Done():
		w.WriteHeader(499)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	if x.fail {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	fmt.Fprint(w, n, strings.Repeat(" ", x.size))
}

// ask returns the body and the header Age of the answer to a request.
func ask(h http.Handler, method, url, cacheControl string) (body, age string) {
	r := httptest.NewRequest(method, url, nil)
	if cacheControl != "" {
		r.Header.Set("Cache-Control", cacheControl)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return strings.TrimSpace(w.Body.String()), w.Header().Get("Age")
}

func TestWhoGetsAnOlderAnswer(t *testing.T) {
	for _, c := range []struct {
		name, method, url, cacheControl string
		after                           time.Duration
		body, age                       string
	}{
		{"allowed", "GET", "/a?x=1", "max-age=1", 0, "1", "0"},
		{"just not too old", "GET", "/a?x=1", "max-age=2", 2*time.Second - 1, "1", "1"},
		{"too old", "GET", "/a?x=1", "max-age=1", time.Second, "2", "0"},
		{"an older one is allowed", "GET", "/a?x=1", "max-age=5", 4 * time.Second, "1", "4"},
		{"at most ten seconds", "GET", "/a?x=1", "max-age=60", 11 * time.Second, "2", "0"},
		{"capitals, and other directives", "GET", "/a?x=1", "no-transform, Max-Age=1", 0, "1", "0"},
		{"nothing allowed", "GET", "/a?x=1", "", 0, "2", "0"},
		{"none", "GET", "/a?x=1", "max-age=0", 0, "2", "0"},
		{"no-cache", "GET", "/a?x=1", "max-age=5, no-cache", 0, "2", "0"},
		{"no-store", "GET", "/a?x=1", "no-store, max-age=5", 0, "2", "0"},
		{"no number", "GET", "/a?x=1", "max-age=1.5", 0, "2", "0"},
		{"negative", "GET", "/a?x=1", "max-age=-1", 0, "2", "0"},
		{"huge", "GET", "/a?x=1", "max-age=99999999999999999999", 0, "2", "0"},
		{"another method", "HEAD", "/a?x=1", "max-age=1", 0, "2", ""},
		{"another URL", "GET", "/a?x=2", "max-age=1", 0, "2", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(&numbered{}, nil)
				if body, age := ask(s, "GET", "/a?x=1", ""); body != "1" || age != "0" {
					t.Fatalf("the first answer is %q of age %q", body, age)
				}
				time.Sleep(c.after)
				if body, age := ask(s, c.method, c.url, c.cacheControl); body != c.body || age != c.age {
					t.Errorf("%q of age %q, not %q of age %q", body, age, c.body, c.age)
				}
			})
		})
	}
}

func TestAnswerAsItWasMade(t *testing.T) {
	s := New(&numbered{}, nil)
	for range 2 {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Cache-Control", "max-age=9")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != "text/plain" || w.Body.String() != "1" {
			t.Errorf("%d %q %q", w.Code, got, w.Body)
		}
	}
}

// A thousand clients that ask for two seconds cost an answer in 100 ms, or one after the other
// where that takes longer; no answer was begun before it was asked for.
func TestAThousandClients(t *testing.T) {
	for _, c := range []struct {
		took time.Duration
		most int
	}{{0, 21}, {5 * time.Millisecond, 21}, {250 * time.Millisecond, 10}} {
		t.Run(c.took.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := &numbered{took: c.took}
				s := New(x, nil)
				var all sync.WaitGroup
				for i := range 1000 {
					all.Go(func() {
						time.Sleep(time.Duration(i) * 2 * time.Millisecond)
						asked := time.Now()
						body, _ := ask(s, "GET", "/", "")
						var n int
						fmt.Sscan(body, &n)
						x.mu.Lock()
						defer x.mu.Unlock()
						if n == 0 || x.at[n-1].Before(asked) {
							t.Errorf("client %d got answer %q, which was begun before it asked", i, body)
						}
					})
				}
				all.Wait()
				if x.n > c.most || x.n < c.most-3 {
					t.Errorf("%d answers were made, not %d or a few less", x.n, c.most)
				}
			})
		})
	}
}

// Clients that wait for an answer get it when it is an error or large, too; later requests ask the handler again.
func TestErrorsAndLargeAnswersAreNotKept(t *testing.T) {
	for name, x := range map[string]*numbered{"error": {fail: true}, "large": {size: maxBody}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x.took = time.Millisecond
				s := New(x, nil)
				for _, want := range []string{"1", "2"} {
					var all sync.WaitGroup
					for range 10 {
						all.Go(func() {
							if body, _ := ask(s, "GET", "/", "max-age=9"); body != want {
								t.Errorf("%q, not %q", body, want)
							}
						})
					}
					all.Wait()
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				if a := s.questions["/"].last; a.body.Len() != 0 {
					t.Errorf("%d bytes are kept", a.body.Len())
				}
			})
		})
	}
}

func TestNoMoreAreKeptThanThereIsRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &numbered{}
		s := New(x, nil)
		for i := range 10 * maxKept {
			ask(s, "GET", fmt.Sprintf("/?%d", i), "")
		}
		if len(s.questions) != maxKept || x.n != 10*maxKept {
			t.Errorf("%d are kept of %d answers, not %d of %d", len(s.questions), x.n, maxKept, 10*maxKept)
		}
		if body, _ := ask(s, "GET", "/?0", "max-age=1"); body != "1" {
			t.Errorf("the first is %q", body)
		}
		time.Sleep(maxAge + 1)
		ask(s, "GET", "/", "")
		if len(s.questions) != 1 {
			t.Errorf("%d are kept after all were too old", len(s.questions))
		}
		before := x.n
		for range 2 {
			ask(s, "GET", "/?"+strings.Repeat("x", maxKey), "max-age=1")
		}
		if x.n != before+2 || len(s.questions) != 1 {
			t.Errorf("a long URL: %d answers, %d kept", x.n-before, len(s.questions))
		}
	})
}

// Clients may leave: the others get their answer, and the last takes the question back.
func TestClientsThatLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &numbered{took: time.Second}
		s := New(x, nil)
		client := func() (leave func(), body func() string) {
			ctx, cancel := context.WithCancel(t.Context())
			answered := make(chan string)
			go func() {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
				answered <- w.Body.String()
			}()
			return cancel, func() string { return <-answered }
		}
		leave1, body1 := client()
		_, body2 := client() // before the first answer is begun, or for the next one
		synctest.Wait()
		leave1()
		if body := body1(); body != "" {
			t.Errorf("%q for a client that left", body)
		}
		if body := body2(); body == "" {
			t.Error("no answer for a client that stayed")
		}
		began := time.Now()
		leave3, body3 := client()
		leave4, body4 := client()
		time.Sleep(100 * time.Millisecond)
		leave3()
		leave4()
		if body3() != "" || body4() != "" {
			t.Error("an answer for clients that left")
		}
		synctest.Wait()
		if took := time.Since(began); took >= time.Second {
			t.Errorf("the question went on for %v", took)
		}
		if body, _ := ask(s, "GET", "/", "max-age=1"); body != fmt.Sprint(x.n) {
			t.Errorf("%q is of a question that was taken back", body)
		}
	})
}

// Where the handler panics, who waits for its answer asks by itself.
func TestPanic(t *testing.T) {
	x := &numbered{}
	s := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if x.n == 0 {
			x.n++
			panic("not again")
		}
		x.ServeHTTP(w, r)
	}), nil)
	if body, _ := ask(s, "GET", "/", ""); body != "2" {
		t.Errorf("%q after a panic", body)
	}
}

// Requests that are kept apart share no answer, and a refusal of the first client's address is its alone.
func TestWhoSharesNothing(t *testing.T) {
	x := &numbered{}
	s := New(x, func(r *http.Request) string { return r.Header.Get("From") })
	for _, from := range []string{"a", "b"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("From", from)
		r.Header.Set("Cache-Control", "max-age=9")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); len(s.questions) != x.n || w.Code != http.StatusOK {
			t.Errorf("%s: %d, %d questions, %d answers", from, w.Code, len(s.questions), x.n)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		refuses := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			if r.RemoteAddr == "192.0.2.1:1" {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}), nil)
		codes := map[string]int{}
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, from := range []string{"192.0.2.1:1", "192.0.2.2:1"} {
			all.Go(func() {
				r := httptest.NewRequest("GET", "/", nil)
				r.RemoteAddr = from
				w := httptest.NewRecorder()
				refuses.ServeHTTP(w, r)
				mu.Lock()
				codes[from] = w.Code
				mu.Unlock()
			})
			synctest.Wait() // the first is first
		}
		all.Wait()
		if codes["192.0.2.1:1"] != 429 || codes["192.0.2.2:1"] != 200 {
			t.Errorf("%v", codes)
		}
	})
}
