package statefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestClaim: a folder is one process's at a time; who comes second hears who has it.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	release, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(dir); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("another sink (pid \"%d\") keeps its state there", os.Getpid())) {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	os.Symlink(dir, link)
	if _, err := Claim(link); err == nil {
		t.Error("by a link the folder is another one")
	}
	time.AfterFunc(claimPatience/4, release)
	again, err := Claim(dir) // waits for one that is about to end
	if err != nil {
		t.Error(err)
	}
	again()
	if _, err := Claim(""); err != nil {
		t.Errorf("no folder: %v", err)
	}
}

// TestFoldersOfOthersAreNotUsed: what others can put there, such as rules that drop packets, is not believed.
func TestFoldersOfOthersAreNotUsed(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"all may write":        func(dir string) error { return os.Chmod(dir, 0o777) },
		"its group may write":  func(dir string) error { return os.Chmod(dir, 0o775) },
		"it is another user's": func(dir string) error { return os.Chown(dir, 12345, -1) },
		"its parent is":        func(dir string) error { return os.Chown(filepath.Dir(dir), 12345, -1) },
		"the lock is a link": func(dir string) error {
			return errors.Join(os.WriteFile(dir+".precious", []byte("precious"), 0o600), os.Symlink(dir+".precious", filepath.Join(dir, lockFile)))
		},
	} {
		dir := filepath.Join(t.TempDir(), "state")
		if err := errors.Join(os.Mkdir(dir, 0o755), make(dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := Claim(dir); err == nil {
			t.Errorf("%s: it is used", name)
		}
		if b, err := os.ReadFile(dir + ".precious"); err == nil && string(b) != "precious" {
			t.Errorf("what a link leads to is %q", b)
		}
	}
}
