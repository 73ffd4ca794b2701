package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// fetch asks the handler for a file of the page.
func fetch(t *testing.T, name string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	Handler("/ui/").ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/ui/"+name, nil))
	return w.Result()
}

func TestFilesAreServed(t *testing.T) {
	for name, kind := range map[string]string{
		"": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		t.Run(name, func(t *testing.T) {
			r := fetch(t, name)
			if got := r.Header.Get("Content-Type"); r.StatusCode != 200 || got != kind {
				t.Errorf("status %d, %q, want 200, %q", r.StatusCode, got, kind)
			}
			if got := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'self'") || strings.Contains(got, "unsafe") {
				t.Errorf("Content-Security-Policy %q", got)
			}
		})
	}
	if r := fetch(t, "../ui.go"); r.StatusCode == 200 {
		t.Error("a file outside of the page is served")
	}
}

// reference finds what a file of the page loads: imports, src, href.
var reference = regexp.MustCompile(`(?:\} from|src=|href=)\s*["']([^"'#$]+)["']`)

// TestPageIsWhole: every file that the page loads is in the binary, and none is loaded
// from elsewhere.
func TestPageIsWhole(t *testing.T) {
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/vendor/") {
			return err
		}
		text, err := fs.ReadFile(static, name)
		if err != nil {
			return err
		}
		for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
			to := m[1]
			if strings.HasPrefix(to, "../api/") || to == "../metrics" {
				continue
			}
			if _, err := fs.Stat(static, path.Join("static", to)); err != nil || strings.Contains(to, "//") {
				t.Errorf("%s loads %q: %v", name, to, err)
			}
		}
		for _, inline := range []string{" style=", "onclick=", "<script>", "javascript:"} {
			if strings.Contains(string(text), inline) {
				t.Errorf("%s has %q, which the Content-Security-Policy forbids", name, inline)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLevels: the colour of a latency beside what is usual; below the floor of what is slow it is never that of a problem.
func TestLevels(t *testing.T) {
	text, err := fs.ReadFile(static, "static/format.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ value, usual, want string }{
		"unknown":               {"5000", "{latency_ns: null}", "unknown"},
		"as usual":              {"6000", "{latency_ns: 3000}", "usual"},
		"of one in a hundred":   {"9000", "{latency_ns: 3000, latency_p99_ns: 9000}", "usual"},
		"raised":                {"9000", "{latency_ns: 3000, latency_p99_ns: 8000}", "raised"},
		"25 times, below floor": {"83000", "{latency_ns: 3000, latency_p99_ns: 4000, floor_ns: 100000}", "raised"},
		"25 times, at a floor":  {"83000", "{latency_ns: 3000, latency_p99_ns: 4000, floor_ns: 83000}", "high"},
		"of an older sink":      {"83000", "{latency_ns: 3000, latency_p99_ns: 4000}", "high"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("node", "--input-type=module", "-e", "const m = await import('data:text/javascript,' + encodeURIComponent(process.env.FILE)); console.log(m.level("+c.value+", "+c.usual+"))")
			cmd.Env = append(os.Environ(), "FILE="+string(text))
			if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != c.want {
				t.Errorf("%v: %s, want %s", err, out, c.want)
			}
		})
	}
}

// TestLibraryIsUnchanged: the vendored file is that of the npm package htm 3.1.1.
func TestLibraryIsUnchanged(t *testing.T) {
	const name, want = "htm-preact-3.1.1.js", "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7"
	text, err := fs.ReadFile(static, "static/vendor/"+name)
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); err != nil || got != want {
		t.Errorf("%s: sha256 %s, want %s (%v)", name, got, want, err)
	}
}

// TestPageIsSmall: all that a browser loads, and our own part of it as it stands in the repository.
func TestPageIsSmall(t *testing.T) {
	own, sent := 0, 0
	files, err := fs.Sub(static, "static")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range compressed(files) {
		if strings.Contains(name, "LICENSE") {
			continue
		}
		text, _ := fs.ReadFile(files, name)
		if !strings.HasPrefix(name, "vendor/") {
			own += len(text)
		}
		sent += len(b)
		r := httptest.NewRequest(http.MethodGet, "/ui/"+name, nil)
		r.Header.Set("Accept-Encoding", "gzip, br")
		w := httptest.NewRecorder()
		Handler("/ui/").ServeHTTP(w, r)
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, _ := io.ReadAll(z); !bytes.Equal(got, text) {
			t.Errorf("%s: compressed it is another", name)
		}
	}
	if own > 112_000 || sent > 50_000 {
		t.Errorf("%d bytes of ours, want 112000 at most; %d are sent, want 50000", own, sent)
	}
	t.Logf("%d bytes of ours; %d are sent", own, sent)
}
