package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
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
var reference = regexp.MustCompile(`(?:from|src=|href=)\s*["']([^"'#$]+)["']`)

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

// TestLibrariesAreUnchanged: the vendored files are those of the npm packages htm 3.1.1
// and uplot 1.6.32.
func TestLibrariesAreUnchanged(t *testing.T) {
	for name, want := range map[string]string{
		"htm-preact-3.1.1.js": "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7", "uplot-1.6.32.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f", "uplot-1.6.32.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := fs.ReadFile(static, "static/vendor/"+name)
			sum := sha256.Sum256(text)
			if got := hex.EncodeToString(sum[:]); err != nil || got != want {
				t.Errorf("%s: sha256 %s, want %s (%v)", name, got, want, err)
			}
		})
	}
}
