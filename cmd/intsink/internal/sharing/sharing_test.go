package sharing

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// numbered answers each request with its number, and keeps its time.
type numbered struct {
	n    int
	time time.Time
	fail bool
	size int
}

func (x *numbered) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	x.n++
	w.Header().Set("Content-Type", "text/plain")
	if x.fail {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	fmt.Fprint(w, x.n, strings.Repeat(" ", x.size))
}

func (x *numbered) now() time.Time { return x.time }

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

func TestWhoGetsAnAnswerOfOthers(t *testing.T) {
	for _, c := range []struct {
		name, method, url, cacheControl string
		after                           time.Duration
		body, age                       string
	}{
		{"allowed", "GET", "/a?x=1", "max-age=1", 0, "1", "0"},
		{"at its end", "GET", "/a?x=1", "max-age=1", time.Second, "1", "1"},
		{"too old", "GET", "/a?x=1", "max-age=1", time.Second + 1, "2", "0"},
		{"an older one is allowed", "GET", "/a?x=1", "max-age=5", 5 * time.Second, "1", "5"},
		{"at most ten seconds", "GET", "/a?x=1", "max-age=60", 11 * time.Second, "2", "0"},
		{"capitals, and other directives", "GET", "/a?x=1", "no-transform, Max-Age=1", 0, "1", "0"},
		{"nothing allowed", "GET", "/a?x=1", "", 0, "2", ""},
		{"none", "GET", "/a?x=1", "max-age=0", 0, "2", ""},
		{"no-cache", "GET", "/a?x=1", "max-age=5, no-cache", 0, "2", ""},
		{"no-store", "GET", "/a?x=1", "no-store, max-age=5", 0, "2", ""},
		{"no number", "GET", "/a?x=1", "max-age=1.5", 0, "2", ""},
		{"negative", "GET", "/a?x=1", "max-age=-1", 0, "2", ""},
		{"huge", "GET", "/a?x=1", "max-age=99999999999999999999", 0, "2", ""},
		{"another method", "HEAD", "/a?x=1", "max-age=1", 0, "2", ""},
		{"another URL", "GET", "/a?x=2", "max-age=1", 0, "2", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &numbered{}
			s := New(x, x.now)
			if body, age := ask(s, "GET", "/a?x=1", "max-age=1"); body != "1" || age != "0" {
				t.Fatalf("the first answer is %q of age %q", body, age)
			}
			x.time = x.time.Add(c.after)
			if body, age := ask(s, c.method, c.url, c.cacheControl); body != c.body || age != c.age {
				t.Errorf("%q of age %q, not %q of age %q", body, age, c.body, c.age)
			}
		})
	}
}

func TestAnswerAsItWasMade(t *testing.T) {
	x := &numbered{}
	s := New(x, x.now)
	for range 2 {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Cache-Control", "max-age=1")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != "text/plain" || w.Body.String() != "1" {
			t.Errorf("%d %q %q", w.Code, got, w.Body)
		}
	}
}

func TestErrorsAndLargeAnswersAreNotKept(t *testing.T) {
	for name, x := range map[string]*numbered{"error": {fail: true}, "large": {size: maxBody}} {
		t.Run(name, func(t *testing.T) {
			s := New(x, x.now)
			for _, want := range []string{"1", "2"} {
				if body, _ := ask(s, "GET", "/", "max-age=1"); body != want {
					t.Errorf("%q, not %q", body, want)
				}
			}
			if len(s.kept) != 0 {
				t.Errorf("%d are kept", len(s.kept))
			}
		})
	}
}

func TestNoMoreAreKeptThanThereIsRoomFor(t *testing.T) {
	x := &numbered{}
	s := New(x, x.now)
	for i := range 10 * maxKept {
		ask(s, "GET", fmt.Sprintf("/?%d", i), "max-age=1")
	}
	if len(s.kept) != maxKept || x.n != 10*maxKept {
		t.Errorf("%d are kept of %d answers, not %d of %d", len(s.kept), x.n, maxKept, 10*maxKept)
	}
	if body, _ := ask(s, "GET", "/?0", "max-age=1"); body != "1" {
		t.Errorf("the first is %q", body)
	}
	x.time = x.time.Add(maxAge + 1)
	ask(s, "GET", "/", "max-age=1")
	if len(s.kept) != 1 {
		t.Errorf("%d are kept after all were too old", len(s.kept))
	}
	before := x.n
	for range 2 {
		ask(s, "GET", "/?"+strings.Repeat("x", maxKey), "max-age=1")
	}
	if x.n != before+2 || len(s.kept) != 1 {
		t.Errorf("a long URL: %d answers, %d kept", x.n-before, len(s.kept))
	}
}

// A thousand clients at once wait for one answer; the one who asked first may leave.
func TestAllWaitForOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, more := 0, make(chan struct{})
		s := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			<-more
			if r.Context().Err() != nil {
				t.Error("the request of all is cancelled")
			}
			io.WriteString(w, "one")
		}), time.Now)
		first, leave := context.WithCancel(t.Context())
		client := func(ctx context.Context) string {
			r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
			r.Header.Set("Cache-Control", "max-age=1")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w.Body.String()
		}
		go client(first)
		synctest.Wait()
		gone, quit := context.WithCancel(t.Context())
		var impatient, all sync.WaitGroup
		impatient.Go(func() {
			if body := client(gone); body != "" {
				t.Errorf("%q for a client that left", body)
			}
		})
		for range 1000 {
			all.Go(func() {
				if body := client(t.Context()); body != "one" {
					t.Errorf("%q", body)
				}
			})
		}
		synctest.Wait()
		leave()
		quit()
		impatient.Wait()
		close(more)
		all.Wait()
		if asked != 1 {
			t.Errorf("%d requests went on", asked)
		}
	})
}

// Where the handler panics, who waits for its answer asks again.
func TestPanic(t *testing.T) {
	x := &numbered{}
	s := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if x.n == 0 {
			x.n++
			panic(http.ErrAbortHandler)
		}
		x.ServeHTTP(w, r)
	}), x.now)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		ask(s, "GET", "/", "max-age=1")
	}()
	if body, _ := ask(s, "GET", "/", "max-age=1"); body != "2" {
		t.Errorf("%q after the panic", body)
	}
}
