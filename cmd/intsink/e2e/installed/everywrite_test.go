package installed_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
)

// writeRequest is a request that changes something, and ones like it that are wrong.
type writeRequest struct {
	method, path, body string
	want               int
	wrong              string // a body for which it is refused; "": it has none
}

// result is what becomes of the request on the unix socket, as log and counter say it.
func (w *writeRequest) result() string {
	if w.want == http.StatusConflict {
		return "refused"
	}
	return "ok"
}

// everyWrite are all requests that change something, in an order in which each can be done.
var everyWrite = []writeRequest{
	{"POST", "/api/v1/reload", `{"confirm": "10m"}`, 200, `{"confirm": 7}`},
	{"POST", "/api/v1/confirm", "", 200, `{"back": 7}`},
	{"POST", "/api/v1/mode", `{"mode": "strip"}`, 200, `{"mode": "fast"}`},
	{"POST", "/api/v1/mitigations", `{"match": {"protocol": "udp"}, "action": "count", "ttl": "10m"}`, 201, `{"match": {}, "action": "drop", "ttl": "10m"}`},
	{"DELETE", "/api/v1/mitigations/{id}", "", 200, ""},
	{"POST", "/aggAttack", `{"src_mac": "02:00:00:00:00:01", "dst_ip": "192.0.2.9", "dst_port": 80}`, 201, `{"src_mac": "x"}`},
	{"DELETE", "/aggAttack", `{"src_mac": "02:00:00:00:00:01", "dst_ip": "192.0.2.9", "dst_port": 80}`, 201, `{"src_mac": "x"}`},
	{"POST", "/api/v1/capture", `{"seconds": 0.1}`, 200, `{"seconds": -1}`},
	{"POST", "/api/v1/upgrade", `{"confirm": "10m"}`, 409, `{"confirm": 7}`}, // there is no program to take over
}

// TestEveryWrite of docs/api.md: without authority it is refused, too long and wrong ones are, too,
// and of each there is one line in the log and one more in the counter; a flood of them is counted
// and not logged.
func TestEveryWrite(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^\| .*$`).FindAllString(string(page), -1) {
		for _, w := range regexp.MustCompile("`(POST|PUT|PATCH|DELETE) (/[^`?]+)`").FindAllStringSubmatch(line, -1) {
			documented[w[1]+" "+w[2]] = true
		}
	}
	text, socket := sinktest.AddSocket(t, sinktest.Mitigated(strings.Replace(sinktest.Small, "mbufs      = 4096", "mbufs = 8192", 1)+sinktest.Config("udp_port = 5000")))
	r := sinktest.Start(t, text)
	r.Get(t, "/healthz")
	local := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	again := 0.0
	var ask func(c *http.Client, base, method, path, body string) (int, string)
	ask = func(c *http.Client, base, method, path, body string) (int, string) {
		t.Helper()
		q, err := http.NewRequest(method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		a, err := c.Do(q)
		if err != nil && len(body) > 1<<20 { // the sink closes a request that is too long soon after its answer
			again++
			time.Sleep(200 * time.Millisecond)
			return ask(c, base, method, path, body)
		} else if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(b)
	}
	lines, results := 0, map[string]float64{"ok": 0, "refused": 0, "forbidden": 0, "bad_request": 0}
	for _, w := range everyWrite {
		if !documented[w.method+" "+w.path] {
			t.Errorf("docs/api.md lacks %s %s", w.method, w.path)
		}
		delete(documented, w.method+" "+w.path)
		path := strings.Replace(w.path, "{id}", "1", 1)
		if code, text := ask(http.DefaultClient, "http://"+r.HTTP, w.method, path, w.body); code != http.StatusForbidden {
			t.Errorf("%s %s over TCP: %d %s", w.method, w.path, code, text)
		}
		results["forbidden"]++
		if w.wrong != "" {
			for name, body := range map[string]string{"wrong": w.wrong, "no JSON": "{", "too long": strings.Repeat(" ", 5<<20) + w.body} {
				if code, text := ask(local, "http://intsink", w.method, path, body); code != http.StatusBadRequest {
					t.Errorf("%s %s, %s: %d %s", w.method, w.path, name, code, text)
				}
				results["bad_request"]++
			}
		}
		if code, text := ask(local, "http://intsink", w.method, path, w.body); code != w.want {
			t.Errorf("%s %s: %d %s, want %d", w.method, w.path, code, text, w.want)
		}
		results[w.result()]++
		time.Sleep(200 * time.Millisecond) // four of the writes that may come in a second
	}
	for left := range documented {
		t.Errorf("%s of docs/api.md is not tried here", left)
	}
	results["bad_request"] += again
	p := observetest.Parse(t, r.Get(t, "/metrics"))
	for result, want := range results {
		if got := p.Series[fmt.Sprintf(`intsink_api_writes_total{result="%s"}`, result)]; got != want {
			t.Errorf("%s: %v writes, want %v", result, got, want)
		}
		lines += int(want)
	}
	var refused atomic.Int64
	var asking sync.WaitGroup
	tried := 0
	sinktest.Eventually(func() bool { // that many at once, if the machine has CPUs for them
		for range 100 {
			asking.Go(func() {
				if code, _ := ask(http.DefaultClient, "http://"+r.HTTP, "POST", "/api/v1/mode", ""); code == http.StatusTooManyRequests {
					refused.Add(1)
				}
			})
		}
		asking.Wait()
		tried += 100
		return refused.Load() >= 20
	})
	limited := int(refused.Load())
	lines += tried - limited
	if p = observetest.Parse(t, r.Get(t, "/metrics")); limited < 20 || p.Series[`intsink_api_writes_total{result="limited"}`] != float64(limited) {
		t.Errorf("%d of %d at once are limited, %v counted", limited, tried, p.Series[`intsink_api_writes_total{result="limited"}`])
	}
	r.Stop(t, sinktest.Patience)
	logged := regexp.MustCompile(`msg="api: write" who=.* what="(.*?)" result=(\w+)`).FindAllStringSubmatch(r.Stderr.String(), -1)
	for _, w := range everyWrite {
		for _, result := range []string{w.result(), "forbidden"} {
			what := w.method + " " + strings.Replace(w.path, "{id}", "1", 1)
			if !slices.ContainsFunc(logged, func(l []string) bool { return l[1] == what && l[2] == result }) {
				t.Errorf("the log lacks %s, %s", what, result)
			}
		}
	}
	if len(logged) != lines {
		t.Errorf("%d lines of %d writes\n%s", len(logged), lines, r.Stderr)
	}
}
