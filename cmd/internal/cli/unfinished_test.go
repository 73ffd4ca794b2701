package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestUnfinishedFilesGo: regular files, also behind a link; devices and what is not there stay.
func TestUnfinishedFilesGo(t *testing.T) {
	t.Chdir(t.TempDir())
	full := errors.New("no space left")
	for _, c := range []struct{ name, path, want string }{
		{"a file", "a", "no space left; a is not complete and was removed"},
		{"behind a link", "link", "no space left; link is not complete and was removed"},
		{"a device", os.DevNull, "no space left"},
		{"a folder", "folder", "no space left"},
		{"none", "absent", "no space left"},
		{"not given", "", "no space left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{"a", "target"} {
				if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			os.Symlink("target", "link")
			os.Mkdir("folder", 0o700)
			if err := Unfinished(full, c.path); err.Error() != c.want || !errors.Is(err, full) {
				t.Errorf("%v, want %s", err, c.want)
			}
			real := map[string]string{"link": "target"}[c.path]
			if real == "" {
				real = c.path
			}
			if _, err := os.Stat(filepath.Join(".", real)); c.want != "no space left" && err == nil {
				t.Errorf("%s is still there", real)
			}
		})
	}
	if err := Unfinished(full, "a", "target"); err.Error() != "no space left; a and target are not complete and were removed" {
		t.Error(err)
	}
}
