package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestPageOutlivesAnAnswerThatIsCut: where a connection ends in the middle of an answer, as it does when the sink ends,
// the page shows an error; with the next whole answer it shows data again.
func TestPageOutlivesAnAnswerThatIsCut(t *testing.T) {
	r, _, _, _ := sinktest.WithSocket(t)
	to, err := url.Parse("http://" + r.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	var cut atomic.Bool
	forward := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !cut.Load() || !strings.HasPrefix(q.URL.Path, "/api/v1/flows") {
			forward.ServeHTTP(w, q)
			return
		}
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"items\":")
			c.Close()
		}
	}))
	t.Cleanup(proxy.Close)
	b := openBrowser(t, proxy.URL)
	b.wait(`document.querySelector('.pill.good')?.innerText === 'ready'`)
	cut.Store(true)
	b.view("flows", `document.querySelector('.state.bad')?.innerText.includes('Is intsink running?')`)
	cut.Store(false)
	b.wait(`document.querySelector('.state')?.innerText.startsWith('No flow with INT is known')`)
}
