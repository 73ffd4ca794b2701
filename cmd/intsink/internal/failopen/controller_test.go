package failopen

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/control/controltest"
	"intsink/conf"
)

// bench is a controller with two lists in place of workers: the modes applied and announced.
type bench struct {
	*Controller
	conf      conf.Config
	load      Load
	applied   []Mode
	announced []string
}

func newBench(t *testing.T) *bench {
	b := &bench{}
	b.conf.Overload = *limits()
	b.Controller = &Controller{
		Config: func() *conf.Config { return &b.conf }, Load: func() Load { return b.load },
		Apply:    func(m Mode) { b.applied = append(b.applied, m) },
		Announce: func(c Change) { b.announced = append(b.announced, c.Was+" to "+c.Mode+": "+c.Why) },
		Watchdog: &Watchdog{Config: func() *conf.Bypass { return &b.conf.Bypass }},
		Wall:     func() time.Time { return time.Unix(1000, 0) },
	}
	b.BeginIn(Asked{})
	return b
}

// TestTheLowestModeIsInForce: of the modes that people and the load ask for the lowest is in
// force, and each step is applied, counted and announced once.
func TestTheLowestModeIsInForce(t *testing.T) {
	b := newBench(t)
	b.Ask(Strip, "me")
	b.Ask(Strip, "me")
	now := time.Unix(2000, 0)
	look := func(load Load, d time.Duration) {
		b.load = load
		for end := now.Add(d); now.Before(end); now = now.Add(lookEvery) {
			b.look(now)
		}
	}
	look(overloaded, 3*time.Second) // strip, too
	look(overloaded, 2*time.Second)
	b.Ask(Full, "me")
	b.conf.Overload.Mode = "off"
	look(overloaded, time.Second)
	if want := []Mode{Strip, Pass, Full}; !slices.Equal(b.applied, want) {
		t.Errorf("applied %v, want %v", b.applied, want)
	}
	want := []string{"full to strip: asked for strip by me", "strip to pass: overload: busy 0.95, at least 0.90 for 2s", "pass to full: overload: overload.mode is off"}
	if !slices.Equal(b.announced, want) {
		t.Errorf("announced %q, want %q", b.announced, want)
	}
	if b.Entered(Strip) != 1 || b.Entered(Pass) != 1 || b.Entered(Full) != 1 || b.Entered(Bypass) != 0 {
		t.Error("steps are not counted")
	}
}

// TestModeStartsAsAskedFor: the mode of the command line is in force before any worker runs.
func TestModeStartsAsAskedFor(t *testing.T) {
	b := newBench(t)
	b.BeginIn(Asked{Mode: Pass, Why: "asked for at start"})
	if s := b.State(); s.Mode != "pass" || s.Asked != "pass" || s.Why != "asked for at start" || len(b.applied) != 0 {
		t.Errorf("%+v", s)
	}
}

// site serves b on a unix socket.
func (b *bench) site(t *testing.T) (ask func(method, body string) (int, string), log *bytes.Buffer) {
	s := controltest.New(t, func(mux *http.ServeMux, c *control.Server) {
		(&Server{Controller: b.Controller, Control: c}).Register(mux)
	})
	return func(method, body string) (int, string) { t.Helper(); return s.Ask(method, "/api/v1/mode", body) }, s.Logged
}

// TestModeAPI: those who may can change the mode, the answer is the state, and each write is a
// line of the log.
func TestModeAPI(t *testing.T) {
	b := newBench(t)
	ask, log := b.site(t)
	for _, c := range []struct {
		method, body string
		status       int
		contains     string
	}{
		{"GET", "", 200, `"mode": "full"`},
		{"POST", `{"mode": "strip"}`, 200, `"mode": "strip"`},
		{"GET", "", 200, `"asked": "strip"`},
		{"POST", `{"mode": "fast"}`, 400, `there is no mode \"fast\": full, strip, pass or bypass`},
		{"POST", `{"mode": 3}`, 400, "the body must be such as"},
		{"POST", `{"mode": "full", "for": "1m"}`, 400, "unknown field"},
		{"POST", `{"mode": "full"} {}`, 400, "more follows it"},
		{"POST", ``, 400, "the body must be such as"},
		{"PUT", `{"mode": "full"}`, 405, "only GET and POST"},
		{"POST", `{"mode": "` + strings.Repeat("x", 100<<10) + `"}`, 400, "too large"},
		{"POST", `{"mode": "full"}`, 200, `"mode": "full"`},
	} {
		if status, text := ask(c.method, c.body); status != c.status || !strings.Contains(text, c.contains) {
			t.Errorf("%s %.60s: %d %s, want %d %s", c.method, c.body, status, text, c.status, c.contains)
		}
	}
	if n := strings.Count(log.String(), "api: write"); n != 8 || !strings.Contains(log.String(), "detail=strip") {
		t.Errorf("%d lines\n%s", n, log)
	}
	if want := []Mode{Strip, Full}; !slices.Equal(b.applied, want) {
		t.Errorf("applied %v", b.applied)
	}
}

// TestModeText compares what the command prints.
func TestModeText(t *testing.T) {
	b := newBench(t)
	b.Ask(Bypass, "unix uid 0 pid 7")
	s := b.State()
	want := "mode bypass since 1970-01-01T00:16:40Z: packets pass as they came, and the bypass switch takes them around the sink\n" +
		"  asked for bypass by unix uid 0 pid 7\n  there is no bypass { command }: packets still go through the sink\n"
	if got := text(&s); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	b.conf.Bypass.Command = []string{"/switch"}
	s = b.State()
	if got := text(&s); !strings.HasSuffix(got, "bypass switch: unknown\n") {
		t.Errorf("%s", got)
	}
}

// FuzzModeRequest: any body gives a known mode or an error.
func FuzzModeRequest(f *testing.F) {
	for _, body := range []string{`{"mode": "strip"}`, `{"mode":"full"} `, `{"Mode":"x"}`, `[]`, `{"mode":"full"}{`, ``} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		q, err := parseRequest(strings.NewReader(body))
		if err != nil {
			return
		}
		if !json.Valid([]byte(body)) {
			t.Fatalf("%q is taken", body)
		}
		if m, err := ParseMode(q.Mode); err == nil && m.String() != q.Mode {
			t.Fatalf("%q is %v", q.Mode, m)
		}
	})
}
