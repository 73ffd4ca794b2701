package events

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"intsink/engine"
	"intsink/engine/aside/inspect"
	"intsink/engine/enginetest/workertest"
	"intsink/engine/event"
	"intsink/flows"
)

// stillWorker returns a worker that nobody polls, so that the test may write into its feed.
func stillWorker(t *testing.T) *engine.Worker { return workertest.New(t, nil) }

// put reports a path change of a flow with port n to the worker's feed.
func put(w *engine.Worker, n uint16) {
	f := new(flows.Flow)
	f.Key.SetIPv4(0x0a000001, 0x0a000002)
	f.Key.SetPorts(4, 17, n, 53)
	w.Questions.Feed.Put(int64(n)*1e9, event.PathChange.Set(), f, inspect.NewPaths(1))
}

// served answers /api/v1/events of a worker.
func served(w *engine.Worker) *http.ServeMux {
	mux := http.NewServeMux()
	(&Server{Live: NewLive([]*engine.Worker{w})}).Register(mux)
	return mux
}

// TestEventStream: what a worker reports arrives at a client as server-sent events.
func TestEventStream(t *testing.T) {
	w := stillWorker(t)
	server := httptest.NewServer(served(w))
	defer server.Close()
	r, err := http.Get(server.URL + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("content type %q", r.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(r.Body)
	lines.Scan() // "retry: 3000" is sent once the client counts
	put(w, 7)
	var got []string
	for len(got) < 2 && lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, ":") { // not what keeps the stream alive
			got = append(got, line)
		}
	}
	want := []string{"event: report", `data: {"time":"1970-01-01T00:00:07Z","worker":"w0","events":["path_change"],"flow":"udp:10.0.0.1:7-10.0.0.2:53"}`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSlowClientMissesNotices, and is told how many; others get all.
func TestSlowClientMissesNotices(t *testing.T) {
	w := stillWorker(t)
	l := NewLive([]*engine.Worker{w})
	slow, leaveSlow, _ := l.subscribe(nil)
	defer leaveSlow()
	var notices []inspect.Notice
	var got int
	fast, leaveFast, _ := l.subscribe(nil)
	for n := range 4 * streamRoom {
		put(w, uint16(n))
		if n%maxPerWorker == maxPerWorker-1 {
			l.pass(&notices)
			for len(fast.notices) > 0 {
				<-fast.notices
				got++
			}
		}
	}
	missedFast, missedSlow := l.takeMissed(fast), l.takeMissed(slow)
	leaveFast()
	for len(fast.notices) > 0 { // what the reader of the feeds passed meanwhile
		<-fast.notices
		got++
	}
	if uint64(got)+missedFast != 4*streamRoom || len(slow.notices) != streamRoom || missedSlow != 3*streamRoom {
		t.Errorf("fast: %d and %d missed; slow: %d and %d missed", got, missedFast, len(slow.notices), missedSlow)
	}
}

// TestStreamsAreBounded: one too many is refused with a reason, and the last one that
// leaves switches the feeds off.
func TestStreamsAreBounded(t *testing.T) {
	w := stillWorker(t)
	l := NewLive([]*engine.Worker{w})
	var leave []func()
	for range maxStreams {
		s, f, _ := l.subscribe(nil)
		if s == nil {
			t.Fatal("refused too early")
		}
		leave = append(leave, f)
	}
	answer := httptest.NewRecorder()
	l.events(answer, httptest.NewRequest("GET", "/api/v1/events", nil), nil)
	if want := fmt.Sprintf("there are %d event streams already", maxStreams); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), want) {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if !w.Questions.Feed.On() {
		t.Error("the feed is off while there are clients")
	}
	for _, f := range leave {
		f()
	}
	if w.Questions.Feed.On() {
		t.Error("the feed is on without a client")
	}
}

// TestStreamsHaveShares: neither an address nor a token takes all streams, and all of TCP together leaves some to the
// socket. HEAD, which would hold one and say nothing, is refused.
func TestStreamsHaveShares(t *testing.T) {
	l := NewLive([]*engine.Worker{stillWorker(t)})
	taken := func(of func(i int) []string) (n int) {
		var leave []func()
		for i := range 2 * maxStreams {
			if s, f, _ := l.subscribe(of(i)); s != nil {
				n++
				leave = append(leave, f)
			}
		}
		if s, f, why := l.subscribe(nil); s == nil {
			t.Errorf("the socket gets none: %s", why)
		} else {
			f()
		}
		for _, f := range leave {
			f()
		}
		return n
	}
	for name, c := range map[string]struct {
		of   func(i int) []string
		want int
	}{
		"one address":      {func(i int) []string { return []string{"192.0.2.1/32", fmt.Sprint("token ", i)} }, maxOfOne},
		"one token":        {func(i int) []string { return []string{fmt.Sprint(i), "token x"} }, maxOfOne},
		"many of each":     {func(i int) []string { return []string{fmt.Sprint(i), fmt.Sprint("token ", i)} }, maxFarther},
		"one, once more":   {func(i int) []string { return []string{"192.0.2.1/32"} }, maxOfOne},
		"others, as above": {func(i int) []string { return []string{fmt.Sprint(i)} }, maxFarther},
	} {
		if got := taken(c.of); got != c.want {
			t.Errorf("%s: %d streams, want %d", name, got, c.want)
		}
	}
	if len(l.held) != 0 || l.farther != 0 {
		t.Errorf("%v %d are left", l.held, l.farther)
	}
	w := httptest.NewRecorder()
	served(stillWorker(t)).ServeHTTP(w, httptest.NewRequest("HEAD", "/api/v1/events", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %d", w.Code)
	}
}

// TestOneReader: clients that come and go at once have one reader together, not one each.
func TestOneReader(t *testing.T) {
	l := NewLive([]*engine.Worker{stillWorker(t)})
	before := runtime.NumGoroutine()
	for range 100 {
		_, leave, _ := l.subscribe(nil)
		leave()
	}
	_, leave, _ := l.subscribe(nil)
	defer leave()
	if n := runtime.NumGoroutine() - before; n > 10 {
		t.Errorf("%d goroutines more", n)
	}
}
