// Sinks that are made up, for tests: each answers what a test has put there.

package allsinks

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/conf"
)

// fake is a sink that is made up.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]string // by path without parameters
	asked   atomic.Int64      // questions that came
	wait    time.Duration     // before each answer
}

// network is some of them, and the Sinks that asks them.
type network struct {
	t     testing.TB
	fakes []*fake
	sinks *Sinks
	mux   *http.ServeMux
	now   atomic.Int64 // added to the clock of the Sinks
}

const begin = "2026-11-28T10:00:00Z"

// newNetwork makes n sinks, nodes 90001 and so on, at which nothing is wrong.
func newNetwork(t testing.TB, n int) *network {
	t.Helper()
	x := &network{t: t, mux: http.NewServeMux()}
	var addresses []string
	for i := range n {
		f := &fake{answers: map[string]string{
			"/api/v1/status":   fmt.Sprintf(`{"now": %q, "started": "2026-11-28T0%d:00:00Z", "version": "1.0", "node": %d, "ready": "ok", "links": [], "workers": []}`, "NOW", i%10, 90001+i),
			"/api/v1/problems": `{"items": [], "totals": {"open": 0, "ended": 0, "left_out": 0}, "looked": {"at": "2026-11-28T10:00:00Z", "signs": {"sink": 10}}}`,
			"/api/v1/nodes":    `{"items": [], "totals": {"nodes": 0, "left_out": 0}}`,
			"/api/v1/names":    `{"nodes": {}, "hosts": {}}`,
		}}
		f.Server = httptest.NewServer(f)
		t.Cleanup(f.Server.Close)
		x.fakes = append(x.fakes, f)
		addresses = append(addresses, strings.TrimPrefix(f.URL, "http://"))
	}
	names := &conf.Names{}
	s, err := New(Options{
		Addresses: addresses, Timeout: time.Second, Names: func() *conf.Names { return names }, Log: slog.Default,
		Now:    func() time.Time { return time.Now().Add(time.Duration(x.now.Load())) },
		LookUp: func(context.Context, string) ([]netip.Addr, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Register(x.mux)
	x.sinks = s
	return x
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked.Add(1)
	f.mu.Lock()
	a, known := f.answers[r.URL.Path]
	wait := f.wait
	f.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return
	}
	if !known {
		w.WriteHeader(http.StatusNotFound)
		a = `{"error": "no such thing is known"}`
	}
	fmt.Fprint(w, strings.ReplaceAll(a, `"NOW"`, fmt.Sprintf("%q", time.Now().UTC().Format(time.RFC3339Nano))))
}

// says has sink i answer so.
func (x *network) says(i int, path, answer string) {
	f := x.fakes[i]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[path] = answer
}

// name is the name of sink i.
func (x *network) name(i int) string { return strings.TrimPrefix(x.fakes[i].URL, "http://") }

// later has the answers of before be too old to be given again.
func (x *network) later() { x.now.Add(int64(fresh)) }

// get asks the Sinks.
func (x *network) get(path string) (status int, o object) {
	x.t.Helper()
	w := httptest.NewRecorder()
	x.mux.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		x.t.Fatalf("%s: %v", path, err)
	}
	return w.Code, o
}

// aProblem is the JSON of a problem.
func aProblem(id int, kind, place, since, more string) string {
	var parts []string
	for _, p := range strings.Split(place, ", ") {
		what, of, _ := strings.Cut(p, " ")
		parts = append(parts, fmt.Sprintf(`{"what": %q, "id": %q}`, what, of))
	}
	return fmt.Sprintf(`{"id": %d, "kind": %q, "severity": "error", "place": [%s], "what": "is wrong", "since": %q, "until": null, "value": null, "usual": null, "evidence": {}, "todo": "look"%s}`, id, kind, strings.Join(parts, ", "), since, more)
}

// problems is the answer with these.
func problems(all ...string) string {
	return fmt.Sprintf(`{"items": [%s], "totals": {"open": %d, "ended": 0, "left_out": 0}, "looked": {"at": "2026-11-28T10:00:00Z", "signs": {"sink": 10}}}`, strings.Join(all, ","), len(all))
}
