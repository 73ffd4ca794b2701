package confighistory

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/conf"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// entry is one that was in force, or was refused.
func entry(n int, refused bool) Entry {
	e := Entry{Time: time.Unix(int64(n), 0).UTC(), By: "SIGHUP", SHA256: fmt.Sprint(n), Generation: uint64(n), Result: InForce, Files: []control.File{{Name: "c.hcl", Text: fmt.Sprintf("# %d\n", n)}}}
	if refused {
		e.Generation, e.Result = 0, "refused: a mistake"
	}
	return e
}

// drain waits until the disk has what is to be written.
func drain(h *History) {
	done := make(chan struct{})
	h.later(func() error { close(done); return nil })
	<-done
}

func list(h *History) string {
	var all []string
	for _, e := range h.Entries() {
		all = append(all, fmt.Sprintf("%d %s", e.Number, e.Result))
	}
	return strings.Join(all, "|")
}

// TestHistory: the last twenty are kept, of those that were refused five; a start with the same is none; how a trial ended
// is known, also after a restart.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	h := Open(dir, quiet)
	for i := range 30 {
		h.Add(entry(i+1, false))
		h.Add(entry(i+1, false))
		drain(h)
	}
	if all := h.Entries(); len(all) != keep || all[0].Number != 30 || all[keep-1].Number != 11 {
		t.Errorf("%s", list(h))
	}
	for i := range 30 {
		h.Add(entry(100+i, true))
		drain(h)
	}
	trial := entry(200, false)
	trial.Result, trial.Comment = OnTrial, strings.Repeat("ü", 300)
	h.Add(trial)
	h.Ended("went back: nobody confirmed it in time")
	h.Ended("confirmed by nobody")
	drain(h)
	want := "61 went back: nobody confirmed it in time|60 refused: a mistake|59 refused: a mistake|58 refused: a mistake|57 refused: a mistake|56 refused: a mistake|30 in force|29 in force|"
	for _, h := range []*History{h, Open(dir, quiet)} {
		if got := list(h); !strings.HasPrefix(got, want) || len(h.Entries()) != keep {
			t.Errorf("%s", got)
		}
		if e, err := h.Entry(30); err != nil || e.Files[0].Text != "# 30\n" {
			t.Errorf("%+v, %v", e, err)
		}
		if e, err := h.Entry(61); err != nil || len([]rune(e.Comment)) != maxComment {
			t.Errorf("%v", err)
		}
		if _, err := h.Entry(3); err == nil || !strings.Contains(err.Error(), "from 17 to 61 are kept") {
			t.Errorf("%v", err)
		}
	}
	if found, _ := os.ReadDir(filepath.Join(dir, "configs")); len(found) != keep {
		t.Errorf("%d files", len(found))
	}
}

// TestWrongWorld: torn files, files of others, one that is too large and a folder that cannot be made keep nothing from
// starting, and nothing of the rest from being known.
func TestWrongWorld(t *testing.T) {
	dir := t.TempDir()
	h := Open(dir, quiet)
	h.Add(entry(1, false))
	h.Add(entry(2, false))
	large := entry(3, false)
	large.Files[0].Text = strings.Repeat("x", 2<<20)
	h.Add(large)
	drain(h)
	one := filepath.Join(dir, "configs", "1")
	text, _ := os.ReadFile(one)
	os.WriteFile(one, text[:len(text)-3], 0o600)
	os.WriteFile(filepath.Join(dir, "configs", "9"), text, 0o600)
	os.WriteFile(filepath.Join(dir, "configs", "notes"), text, 0o600)
	h = Open(dir, quiet)
	if got := list(h); got != "3 in force|2 in force" {
		t.Errorf("%s", got)
	}
	if _, err := h.Entry(3); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
	for _, set := range []string{"1.bad", "9.bad"} {
		if _, err := os.Stat(filepath.Join(dir, "configs", set)); err != nil {
			t.Error(err)
		}
	}
	for _, nowhere := range []string{"", one, "/proc/nothing"} {
		h := Open(nowhere, quiet)
		h.Add(entry(1, false))
		if len(h.Entries()) != 1 {
			t.Errorf("%s: %s", nowhere, list(h))
		}
	}
}

// sink is one whose configuration is c.
type sink struct {
	control.Sink
	c *conf.Config
}

func (s sink) Config() *conf.Config { return s.c }

// TestServer: what changed is told without secrets, and texts are not told.
func TestServer(t *testing.T) {
	text := func(sample, token string) string {
		return `port "n" { device = "net_null0" }
port "h" { device = "net_null1" }
link "edge" {
  network = "n"
  host    = "h"
}
int { udp_port = 5000 }
watch "all" { sample = ` + sample + ` }
collector "a" { address = "127.0.0.1:8555" }
notify "ops" { url = "https://hooks.example.net/` + token + `" }
`
	}
	c, d := conf.Parse("c.hcl", []byte(text("3", "C")))
	if c == nil {
		t.Fatal(d.Err())
	}
	h := Open("", quiet)
	for i, x := range []string{text("1", "A"), text("2", "B"), "nonsense"} {
		h.Add(Entry{SHA256: fmt.Sprint(i), Generation: 1, Config: "c.hcl", Files: []control.File{{Name: "c.hcl", Text: x}}})
	}
	s := &Server{History: h, Control: &control.Server{Sink: sink{c: c}, Writes: control.NewWrites(quiet)}, Env: func(string) (string, bool) { return "", false }}
	mux := http.NewServeMux()
	s.Register(mux)
	for _, x := range []struct {
		url    string
		status int
		has    string
	}{
		{"/api/v1/config/history", 200, `"number": 3`},
		{"/api/v1/config/history/1", 404, ""},
		{"/api/v1/config/diff?from=1", 200, `"new": "3"`},
		{"/api/v1/config/diff?from=1&to=2", 200, `"new": "2"`},
		{"/api/v1/config/diff?from=3", 404, "not valid any more"},
		{"/api/v1/config/diff?from=7", 404, "those from 1 to 3 are kept"},
		{"/api/v1/config/diff?from=x", 400, "must be the number"},
		{"/api/v1/config/diff", 400, "from is missing"},
		{"/api/v1/config/diff?x=1", 400, "there is from, to"},
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", x.url, nil))
		if body := w.Body.String(); w.Code != x.status || !strings.Contains(body, x.has) || strings.Contains(body, "hooks.example") || strings.Contains(body, "udp_port") && x.status == 200 {
			t.Errorf("%s: %d %s", x.url, w.Code, body)
		} else if x.has != "" && !json.Valid([]byte(body)) {
			t.Errorf("%s: %s", x.url, body)
		}
	}
}
