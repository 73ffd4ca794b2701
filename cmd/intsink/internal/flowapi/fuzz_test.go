package flowapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/enginetest/workertest"
)

// FuzzQuery: whatever is asked of the lists and of a flow, the answer is one or an error that
// says what is wrong, and comes soon.
func FuzzQuery(f *testing.F) {
	for _, path := range append(Lists, "flows/udp:10.0.0.4:1-10.1.0.1:8000", "paths/570a954f16dea0e0", "queues/112:2:1") {
		for _, query := range []string{"", "limit=10&sort=bytes", "source=10.0.0.0/8&protocol=udp&port=53", "link=101-102&congested=true", "cursor=x", "path=570a954f16dea0e0&watch=all", "node=0x65&queue=3"} {
			f.Add(path, query)
		}
	}
	w := workertest.New(f, nil)
	w.Tick(time.Now().UnixNano()) // a worker that has not begun counts as stuck
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Microsecond) // less often than a worker, which has a processor to itself
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				w.Tick(time.Now().UnixNano())
			}
		}
	}()
	f.Cleanup(func() { close(stop); <-ended })
	mux := http.NewServeMux()
	New([]*engine.Worker{w}, func() int64 { return workertest.Now(w) }).RegisterShared(mux)
	f.Fuzz(func(t *testing.T, path, query string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL = &url.URL{Path: "/api/v1/" + path, RawQuery: query}
		a := httptest.NewRecorder()
		mux.ServeHTTP(a, r)
		switch {
		case a.Code == 200 || a.Code >= 300 && a.Code < 400: // a path that is not clean is redirected
		case a.Code >= 400 && a.Code < 500 && strings.Contains(a.Body.String(), `"error"`):
		default:
			t.Fatalf("%s?%s: %d %s", path, query, a.Code, a.Body)
		}
	})
}
