package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Over many slices something comes as often as its rate says.
func TestOwed(t *testing.T) {
	o, times := &owed{perSecond: 5}, 0
	for range 100 {
		n := o.take(500 * time.Millisecond)
		if n != 2 && n != 3 {
			t.Fatalf("%d in half a second", n)
		}
		times += n
	}
	if times != 250 {
		t.Errorf("%d times in 50 s, 5 a second", times)
	}
}

// leave waits for what was asked, and tells its faults.
func TestCrew(t *testing.T) {
	c, fault := newCrew(), errors.New("fault")
	var ended atomic.Bool
	c.rest.Go(func() { <-c.ctx.Done(); ended.Store(true) })
	c.spread(3, time.Millisecond, func() error {
		if ended.Load() {
			t.Error("it is over before all were asked")
		}
		return fault
	})
	times, err := c.leave()
	if times != 3 || !errors.Is(err, fault) || !ended.Load() {
		t.Errorf("%d times, %v, ended: %v", times, err, ended.Load())
	}
}

// A browser asks again and again on one connection; one that is deaf asks often at once. They
// end when the condition does.
func TestBrowser(t *testing.T) {
	for _, c := range []struct {
		name    string
		browser browser
		asked   int64
	}{
		{"asks again", browser{path: "/x", every: time.Millisecond}, 3},
		{"deaf", browser{path: "/x", every: time.Hour, deaf: true}, deafRequests},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked, connections atomic.Int64
			enough := make(chan struct{})
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/x" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				if asked.Add(1) == c.asked {
					close(enough)
				}
			}))
			server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					connections.Add(1)
				}
			}
			server.Start()
			defer server.Close()
			crew := newCrew()
			crew.rest.Go(func() {
				if err := c.browser.run(crew.ctx, strings.TrimPrefix(server.URL, "http://"), crew); err != nil {
					t.Error(err)
				}
			})
			<-enough
			if times, err := crew.leave(); times == 0 || err != nil {
				t.Errorf("%d times, %v", times, err)
			}
			if n := connections.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// A client that finds nobody is a fault of the run.
func TestBrowserFault(t *testing.T) {
	if err := (&browser{path: "/"}).run(t.Context(), "127.0.0.1:1", newCrew()); err == nil {
		t.Error("no fault")
	}
}
