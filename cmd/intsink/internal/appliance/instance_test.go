package appliance

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstance: a sink keeps its number over starts, has one for each start without a folder, and a new one,
// with a warning, where the file is damaged.
func TestInstance(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	os.Mkdir(dir, 0o700)
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	of := func(state string) uint64 {
		return instance(func(string) string { return state }, log)
	}
	first := of(dir)
	if again := of(dir + ":/elsewhere"); first == 0 || again != first || said.Len() > 0 {
		t.Errorf("%x, then %x; said %q", first, again, said.String())
	}
	if a, b := of(""), of(""); a == b || a == 0 || b == 0 {
		t.Errorf("without a folder %x and %x", a, b)
	}
	for _, text := range []string{"", "0", "xyz\n"} {
		said.Reset()
		os.WriteFile(filepath.Join(dir, instanceFile), []byte(text), 0o600)
		if n := of(dir); n == 0 || n == first || n != of(dir) || strings.Count(said.String(), "cannot be read") != 1 {
			t.Errorf("%q: %x, said %q", text, n, said.String())
		}
	}
	said.Reset()
	if of(filepath.Join(dir, "none")) == 0 || !strings.Contains(said.String(), "is not kept") {
		t.Errorf("no such folder: said %q", said.String())
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}
