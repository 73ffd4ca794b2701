package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestPageFiltersEvents: the view shows all but refreshes, and of one event what was reported of it.
func TestPageFiltersEvents(t *testing.T) {
	r, _, _, _ := sinktest.WithSocket(t)
	to, err := url.Parse("http://" + r.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/api/v1/events" {
			forward.ServeHTTP(w, q)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for n, events := range []string{`"refresh"`, `"hop_latency"`, `"refresh"`, `"hop_latency", "end_to_end"`, `"refresh"`, `"path_change", "refresh"`, `"refresh"`} {
			fmt.Fprintf(w, "event: report\ndata: {\"time\": \"2026-01-02T03:04:05Z\", \"events\": [%s], \"place\": \"%d\"}\n\n", events, n)
		}
		w.(http.Flusher).Flush()
		<-q.Context().Done()
	}))
	t.Cleanup(proxy.Close)
	b := openBrowser(t, proxy.URL)
	t.Cleanup(func() { b.js("location = 'about:blank'") }) // ends the stream, which the proxy waits for
	b.view("events", rowsAre(3))
	for choice, rows := range map[string]int{"hop_latency": 2, "end_to_end": 1, "path_change": 1, "refresh": 5, "all": 7, "": 3} {
		b.js(fmt.Sprintf(`const s = document.querySelector('#event-only'); s.value = %q; s.dispatchEvent(new Event('change', {bubbles: true}))`, choice))
		b.wait(rowsAre(rows) + fmt.Sprintf(` && document.querySelector('#event-only').value === %q`, choice))
	}
}

// rowsAre is an expression: the table has n rows.
func rowsAre(n int) string {
	return fmt.Sprintf(`document.querySelectorAll('tbody tr').length === %d`, n)
}
