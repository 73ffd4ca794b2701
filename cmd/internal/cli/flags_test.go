package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTwoFlagsOneFile(t *testing.T) {
	dir := t.TempDir()
	a, link, absent := filepath.Join(dir, "a"), filepath.Join(dir, "link"), filepath.Join(dir, "absent")
	if err := os.WriteFile(a, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x, y string
		same bool
	}{
		{a, a, true}, {a, link, true}, {a, filepath.Join(dir, ".", "a"), true}, {absent, absent, true},
		{a, absent, false}, {"", "", false}, {os.DevNull, os.DevNull, false},
	} {
		t.Run(c.x, func(t *testing.T) {
			err := Distinct(FileFlag{Flag: "in", Path: c.x}, FileFlag{Flag: "out", Path: c.y})
			if (err != nil) != c.same || err != nil && !strings.Contains(err.Error(), "--in and --out are the same file") {
				t.Errorf("%s and %s: %v, want same %v", c.x, c.y, err, c.same)
			}
		})
	}
}
