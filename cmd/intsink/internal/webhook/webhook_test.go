package webhook

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/problem"
	"intsink/conf"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func newHooks() *Hooks {
	return New(func() Sink { return Sink{7, "sink7", "1.2"} }, degraded.New(time.Now, quiet), quiet)
}

func change(event, id string) problem.Change {
	p := &problem.Problem{ID: 3, Kind: problem.LinkDown, Place: []problem.Part{{What: "port", ID: id}}, What: "the link is down", Since: time.Unix(1000, 0)}
	if event == problem.End {
		p.Until = new(time.Unix(1012, 0))
	}
	return problem.Change{Event: event, Problem: p}
}

// TestDelivery: what a server gets, and how often it is tried for each of its answers.
func TestDelivery(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []int
		result  Result
		asked   int
		why     string
	}{
		{"taken", []int{204}, Sent, 1, ""},
		{"taken later", []int{503, 429, 500, 200}, Sent, 4, ""},
		{"refused", []int{404}, Failed, 1, "answers 404 Not Found"},
		{"redirected", []int{302}, Failed, 1, "redirects are not followed"},
		{"never", []int{500, 500, 500, 500, 500, 500, 500, 500, 500}, Failed, tries, "answers 500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked int
			var got map[string]any
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/secret" || r.Method != "POST" || r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
				}
				if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
					t.Error(err)
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.answers[asked])
				asked++
			}))
			defer s.Close()
			h := newHooks()
			k := newHook(h, conf.Notify{Name: "ops", URL: s.URL + "/secret", Timeout: time.Minute}, &counts{})
			var waited []time.Duration
			k.wait = func(_ context.Context, d time.Duration) { waited = append(waited, d) }
			k.deliver(context.Background(), change(problem.End, "up"))
			if asked != c.asked || k.counts[c.result].Load() != 1 || len(waited) != asked-1 || len(waited) > 2 && waited[2] != 4*time.Second {
				t.Errorf("asked %d times, %v waited, results %v", asked, waited, k.counts)
			}
			if got["event"] != "end" || got["text"] != "over: port up: the link is down (12s)" || got["sink"].(map[string]any)["host"] != "sink7" || got["problem"].(map[string]any)["kind"] != "link_down" {
				t.Errorf("%v", got)
			}
			err := h.degraded.Err()
			if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("degraded: %v", err)
			}
		})
	}
}

// TestNothingWaits: a server that never answers, or is not there, holds up neither who tells nor other servers; the
// oldest changes go where there is no room, and a reload and the stop end it.
func TestNothingWaits(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	got := make(chan string, 9*room)
	good := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m message
		json.NewDecoder(r.Body).Decode(&m)
		got <- m.Problem.Place[0].ID
	}))
	defer good.Close()
	h := newHooks()
	hang := conf.Notify{Name: "hangs", URL: "http://" + silent.Addr().String(), Timeout: time.Hour}
	h.Configure([]conf.Notify{hang, {Name: "good", URL: good.URL, Timeout: time.Minute}})
	for range 3 * room {
		h.Tell(change(problem.Begin, "up"))
		<-got
	}
	n := map[string]uint64{}
	h.Count(func(name string, r Result, count uint64) { n[name+" "+r.String()] = count })
	if n["hangs dropped"] < 2*room-1 || n["hangs sent"] != 0 || n["good dropped"] != 0 {
		t.Errorf("%v", n)
	}
	before := h.hooks[0]
	h.Configure([]conf.Notify{hang})
	if h.hooks[0] != before || len(h.hooks) != 1 {
		t.Error("a hook that is as it was begins anew")
	}
	h.Stop()
	h.Tell(change(problem.Begin, "up"))
	h.Configure([]conf.Notify{{Name: "hangs", URL: good.URL, Timeout: time.Minute}})
	h.Count(func(_ string, r Result, count uint64) {
		if r == Dropped && count < 2*room-1 {
			t.Errorf("counts begin anew: %d", count)
		}
	})
	h.Tell(problem.Change{Event: problem.Begin, Problem: &problem.Problem{Kind: problem.Degraded, Place: []problem.Part{{What: "notify", ID: "hangs"}}}})
	h.Tell(change(problem.Begin, "last"))
	if id := <-got; id != "last" {
		t.Errorf("a hook was told of itself: %s", id)
	}
	h.Stop()
}
