package control

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/webguard"
	"intsink/conf"
)

// TestEachBlockIsOfTheMachineOrPolicy: a new block of the configuration is given to one of both lists; one in neither
// is the machine's.
func TestEachBlockIsOfTheMachineOrPolicy(t *testing.T) {
	reference, err := os.ReadFile("../../../../conf/examples/reference.hcl") // has every block
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^(?:# ?)?(\w+)(?: "[^"]*")? \{`).FindAllStringSubmatch(string(reference), -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	lists := slices.Sorted(slices.Values(slices.Concat(machineBlocks, policyBlocks)))
	if all = slices.Compact(all); !slices.Equal(all, lists) {
		t.Errorf("the blocks are %q, the lists have %q", all, lists)
	}
	for _, path := range []string{"bypass.command", "http.socket", "http.pprof", "http.listen", "http.hosts", "http.tls.key", `http.token "x"`, `http.token "x".role`, "http.token", "log.level", "dpdk.eal_args", `port "a".device`, "port", "new.one"} {
		if OfTheMachine([]conf.Change{{Path: "events.refresh.every"}, {Path: path}}) == nil {
			t.Errorf("a token changes %s", path)
		}
	}
	if err := OfTheMachine([]conf.Change{{Path: `watch "web".sample`}, {Path: `collector "x"`}}); err != nil {
		t.Error(err)
	}
}

// TestNoLevelHidesWrites: lines about writes come at any level of the log.
func TestNoLevelHidesWrites(t *testing.T) {
	_, s, _ := server()
	var log bytes.Buffer
	s.Writes = NewWrites(func() *slog.Logger {
		return slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	})
	post(s, &peer{0, 7})
	if !strings.Contains(log.String(), "api: write") {
		t.Errorf("%q", log.String())
	}
}

// TestGuessesAreCounted: requests with wrong tokens are counted, with one line a minute; why a sink is not ready
// is told to who may read alone.
func TestGuessesAreCounted(t *testing.T) {
	sink, s, log := server()
	sink.config.HTTP.Tokens = tokens()
	now := time.Unix(5000, 0)
	s.Writes.now = func() time.Time { return now }
	closes := false
	ask := func(method, path, token string) int {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		s.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		closes = w.Header().Get("Connection") == "close"
		return w.Code
	}
	if code := ask("GET", "/api/v1/config", "r"); code != 200 {
		t.Fatal(code)
	}
	for i := range 100 {
		want := 401
		if i >= webguard.MaxGuesses {
			want = 429
		}
		if code := ask("POST", "/api/v1/mode", fmt.Sprint(i)); code != want {
			t.Fatal(code)
		}
	}
	for token, want := range map[string]int{"w": 429, "r": 200} { // a right guess is not looked at, what was right before is
		if code := ask("GET", "/api/v1/config", token); code != want {
			t.Errorf("%s: %d, want %d", token, code, want)
		}
	}
	s.Writes.strangers.Add(^uint64(0)) // of "w"
	if n := strings.Count(log.String(), "api: unauthorized"); n != 1 || s.Writes.Unauthorized() != 100 {
		t.Errorf("%d lines, %d counted", n, s.Writes.Unauthorized())
	}
	now = now.Add(time.Minute)
	for path, want := range map[string]int{"/readyz": 200, "/healthz": 200, "/readyz?verbose": 401, "/readyz?verbose=": 401} {
		if code := ask("GET", path, "guess"); code != want || !closes {
			t.Errorf("%s: %d, the connection ends %v", path, code, closes)
		}
	}
	if n := strings.Count(log.String(), "api: unauthorized"); n != 2 || ask("GET", "/readyz?verbose", "r") != 200 {
		t.Errorf("%d lines\n%s", n, log)
	}
}

// TestNamesOfReloadsAreText: what a name could do to a terminal or to a list of lines is refused, and so are many files.
func TestNamesOfReloadsAreText(t *testing.T) {
	for _, q := range []Request{
		{Name: "x\n\nready: ok"}, {Name: "\x1b]0;t\a"}, {Name: "\x9b31m"}, {Name: "a\u202eb"}, {Name: "\xff"}, {Files: []File{{Name: "x\r"}}},
		{Files: slices.Repeat([]File{{Name: "x"}}, maxFiles+1)},
	} {
		if q.Check() == nil {
			t.Errorf("%.100q is taken", fmt.Sprint(q))
		}
	}
	if err := (&Request{Name: "/etc/intsink/új.hcl", Files: slices.Repeat([]File{{Name: "a b.hcl"}}, maxFiles)}).Check(); err != nil {
		t.Error(err)
	}
}
