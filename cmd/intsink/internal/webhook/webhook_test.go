package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/part"
	"intsink/conf"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// newHooks starts Hooks without a hook, as the sink does.
func newHooks(t *testing.T) *Hooks {
	h, c := new(Hooks), new(conf.Config)
	c.Node.ID = 7
	stop, err := h.Start(&part.Env{Version: "1.2", Config: func() *conf.Config { return c }, Degraded: degraded.New(time.Now, quiet)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return h
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
			host, _ := os.Hostname()
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
			h := newHooks(t)
			k := newHook(h, conf.Notify{Name: "ops", URL: s.URL + "/secret", Timeout: time.Minute}, &counts{})
			var waited []time.Duration
			k.wait = func(_ context.Context, d time.Duration) { waited = append(waited, d) }
			k.deliver(context.Background(), change(problem.End, "up"), 0)
			if asked != c.asked || k.counts[c.result].Load() != 1 || len(waited) != asked-1 || len(waited) > 2 && waited[2] != 4*time.Second {
				t.Errorf("asked %d times, %v waited, results %v", asked, waited, k.counts)
			}
			if got["event"] != "end" || got["text"] != "over: port up: the link is down (12s)" || !reflect.DeepEqual(got["sink"], map[string]any{"node": 7.0, "host": host, "version": "1.2"}) || got["problem"].(map[string]any)["kind"] != "link_down" {
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
	h := newHooks(t)
	hang := conf.Notify{Name: "hangs", URL: "http://" + silent.Addr().String(), Timeout: time.Hour}
	h.Configure([]conf.Notify{hang, {Name: "good", URL: good.URL, Timeout: time.Minute}})
	for i := range 3 * room {
		c := change(problem.Begin, "up")
		c.Problem.ID = uint64(i)
		h.Heed(c)
		<-got
	}
	n := map[string]uint64{}
	h.count(func(name string, r Result, count uint64) { n[name+" "+r.String()] = count })
	if n["hangs dropped"] < 2*room-1 || n["hangs sent"] != 0 || n["good dropped"] != 0 {
		t.Errorf("%v", n)
	}
	before := h.hooks[0]
	h.Configure([]conf.Notify{hang})
	if h.hooks[0] != before || len(h.hooks) != 1 {
		t.Error("a hook that is as it was begins anew")
	}
	h.Stop()
	h.Heed(change(problem.Begin, "up"))
	h.Configure([]conf.Notify{{Name: "hangs", URL: good.URL, Timeout: time.Minute}})
	h.count(func(_ string, r Result, count uint64) {
		if r == Dropped && count < 2*room-1 {
			t.Errorf("counts begin anew: %d", count)
		}
	})
	h.Heed(problem.Change{Event: problem.Begin, Problem: &problem.Problem{Kind: problem.Degraded, Place: []problem.Part{{What: "notify", ID: "hangs"}}}})
	h.Heed(change(problem.Begin, "last"))
	if id := <-got; id != "last" {
		t.Errorf("a hook was told of itself: %s", id)
	}
	h.Stop()
}

// TestAFloodHoldsNothingUp: a hundred times as many made-up places as there is room for become problems, and are over, while the
// sink loses reports and a node that is known goes: these two go first, each made-up place in its last state, so many a minute, and
// what does not go is counted.
func TestAFloodHoldsNothingUp(t *testing.T) {
	w, began := newWaiting(&counts{}), time.Unix(1000, 0)
	l := problem.New(quiet, func(event string, p *problem.Problem) { w.put(problem.Change{Event: event, Problem: new(*p)}) })
	sign := func(kind problem.Kind, id string, known bool, at time.Time) problem.Sign {
		return problem.Sign{Kind: kind, Place: []problem.Part{{What: "node", ID: id}}, Since: at, Known: known}
	}
	for second := range 60 {
		at := began.Add(time.Duration(second) * time.Second)
		var forged []problem.Sign
		for i := range 110 {
			forged = append(forged, sign(problem.Loop, fmt.Sprint(second/2, "-", i), false, at))
		}
		if second == 59 {
			l.Look("sink", []problem.Sign{sign(problem.LinkDown, "up", false, at)}, at)
			forged = append(forged, sign(problem.NodeGone, "203", true, at))
		}
		l.Look(problem.OfNetwork, forged, at)
	}
	now := began.Add(time.Hour)
	var told []string
	for range 3 * room {
		c, more, pause := w.next(now)
		if c == nil {
			if pause != time.Minute {
				t.Fatalf("the next goes in %v", pause)
			}
			now = now.Add(pause)
			told = append(told, "a minute")
			continue
		}
		if told = append(told, string(c.Problem.Kind)+" "+c.Event); len(told) == 1 && more < 1000 {
			t.Errorf("%d more", more)
		}
		if len(w.all) == 0 {
			break
		}
	}
	if told[0] != "link_down begin" || told[1] != "node_gone begin" || !strings.HasPrefix(told[2], "loop") || told[2+strangeAMinute] != "a minute" || len(w.all) != 0 {
		t.Errorf("%q", told)
	}
	if n := w.counts[Dropped].Load(); n < 1000 || len(w.untold) > 110 {
		t.Errorf("%d dropped, %d untold", n, len(w.untold))
	}
	c := change(problem.End, "up")
	w.put(change(problem.Begin, "up"))
	w.put(c)
	if got, _, _ := w.next(now); got != nil || w.counts[Replaced].Load() != 1 {
		t.Errorf("%+v of what was over before anybody was told", got)
	}
}

// TestWhatComesAndGoes: a problem that begins and ends every 20 s is told at once, and its end, and then once a minute: for each begin that
// is told its end is, in this order; after ten minutes of rest at once again.
func TestWhatComesAndGoes(t *testing.T) {
	w, now := newWaiting(&counts{}), time.Unix(1000, 0)
	var told []string
	run := func(seconds int) {
		for range seconds {
			for c, _, _ := w.next(now); c != nil; c, _, _ = w.next(now) {
				told = append(told, fmt.Sprint(c.Event, " ", now.Unix()))
			}
			now = now.Add(time.Second)
		}
	}
	for range 15 {
		w.put(change(problem.Begin, "up"))
		run(10)
		w.put(change(problem.End, "up"))
		run(10)
	}
	w.put(change(problem.Begin, "up"))
	run(700)
	w.put(change(problem.End, "up"))
	run(700)
	w.put(change(problem.Begin, "up"))
	run(5)
	w.put(change(problem.End, "up"))
	run(5)
	if len(told) < 6 || len(told) > 11 || told[0] != "begin 1000" || told[1] != "end 1010" || told[len(told)-2] != "begin 2700" || told[len(told)-1] != "end 2705" {
		t.Errorf("told %q", told)
	}
	for i, event := range told {
		if want := []string{"begin", "end"}[i%2]; !strings.HasPrefix(event, want) {
			t.Errorf("told %q: %d is no %s", told, i, want)
		}
	}
}

// TestAServerThatComesBack: it hears no end of what it never took the begin of, be the end earlier or later than the last try; what still is
// wrong, and turns into something else, begins for it.
func TestAServerThatComesBack(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name  string
		early bool // the change comes while the begin is tried
		event string
		want  string
	}{{"end, early", true, problem.End, ""}, {"end, late", false, problem.End, ""}, {"turn, early", true, problem.Turn, problem.Begin}, {"turn, late", false, problem.Turn, problem.Begin}} {
		w := newWaiting(&counts{})
		w.put(change(problem.Begin, "up"))
		begin, _, _ := w.next(now)
		if c.early {
			w.put(change(c.event, "up"))
		}
		w.unheard(begin)
		if !c.early {
			w.put(change(c.event, "up"))
		}
		got, _, _ := w.next(now.Add(2 * againAfter))
		if event := ""; got != nil && got.Event != c.want || got == nil && event != c.want {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}
