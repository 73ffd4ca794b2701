package statefile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written writes a file of this machine, and returns its path.
func written(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "problems")
	if err := Write(path, "problems", 1, []byte(body)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWrittenIsRead: what was written is read again, whatever bytes it has; no file is nothing; one that is written anew is
// whole, and leaves nothing beside it.
func TestWrittenIsRead(t *testing.T) {
	path := written(t, "first")
	for _, body := range []string{"", "a\nb\x00\xff", strings.Repeat("x", 1<<16)} {
		if err := Write(path, "problems", 1, []byte(body)); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path, "problems", 1); err != nil || string(got) != body {
			t.Errorf("%d bytes, %v, want %d", len(got), err, len(body))
		}
	}
	if err := Write(path, "problems", 1, []byte("last")); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path+".123456", []byte("half"), 0o600) // a kill left it
	if got, err := Read(path, "problems", 1); err != nil || string(got) != "last" {
		t.Errorf("%q, %v", got, err)
	}
	if all, _ := os.ReadDir(filepath.Dir(path)); len(all) != 1 {
		t.Errorf("%d files", len(all))
	}
	if got, err := Read(path+".none", "problems", 1); got != nil || err != nil {
		t.Errorf("no file: %q, %v", got, err)
	}
	if err := Write(path, "problems", 1, make([]byte, Max+1)); err == nil {
		t.Error("more than can be read again is written")
	}
	if got, err := Read(path, "problems", 1); err != nil || string(got) != "last" {
		t.Errorf("what was there is gone: %d bytes, %v", len(got), err)
	}
	if err := Write(filepath.Join(path, "problems"), "problems", 1, nil); err == nil {
		t.Error("a folder that is none is written into")
	}
}

// TestUnusableIsSetAside: a file that is torn at any byte, of another kind, version or machine, or none of intsink, is told
// with its reason, renamed, and then there is none.
func TestUnusableIsSetAside(t *testing.T) {
	whole, err := os.ReadFile(written(t, "the body"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"empty":           {"", "torn, or no file of intsink"},
		"half of it":      {string(whole[:len(whole)/2]), "torn"},
		"one byte less":   {string(whole[:len(whole)-1]), "its checksum is wrong"},
		"one byte more":   {string(whole) + "x", "its checksum is wrong"},
		"another byte":    {strings.Replace(string(whole), "the body", "the bodi", 1), "its checksum is wrong"},
		"another kind":    {strings.Replace(string(whole), "problems", "usual", 1), `it has "usual", not "problems"`},
		"another version": {strings.Replace(string(whole), "problems 1", "problems 2", 1), "it is of version 2, this is 1"},
		"another machine": {strings.Replace(string(whole), "machine "+machine(), "machine 0123456789abcdef", 1), "it is of another machine"},
		"something else":  {"\x7fELF" + strings.Repeat("\x00", 100), "no file of intsink"},
	} {
		path := filepath.Join(t.TempDir(), "problems")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		body, err := Read(path, "problems", 1)
		if body != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "it is now problems.bad") {
			t.Errorf("%s: %q, %v", name, body, err)
		}
		if aside, err := os.ReadFile(path + ".bad"); err != nil || string(aside) != c.text {
			t.Errorf("%s: set aside are %d bytes, %v", name, len(aside), err)
		}
		if body, err := Read(path, "problems", 1); body != nil || err != nil {
			t.Errorf("%s: read again: %q, %v", name, body, err)
		}
	}
	for n := range whole { // wherever it is torn
		path := filepath.Join(t.TempDir(), "problems")
		os.WriteFile(path, whole[:n], 0o600)
		if _, err := Read(path, "problems", 1); err == nil {
			t.Errorf("the first %d of %d bytes are taken", n, len(whole))
		}
	}
}

// TestOtherMachine: the file of an image that was cloned is not the clone's.
func TestOtherMachine(t *testing.T) {
	was := machineFile
	t.Cleanup(func() { machineFile = was })
	id := func(text string) {
		machineFile = filepath.Join(t.TempDir(), "machine-id")
		os.WriteFile(machineFile, []byte(text), 0o600)
	}
	id("0123456789abcdef0123456789abcdef\n")
	path := written(t, "the body")
	if text, _ := os.ReadFile(path); bytes.Contains(text, []byte("0123456789abcdef0123")) {
		t.Error("the machine's id stands in the file")
	}
	if body, err := Read(path, "problems", 1); err != nil || string(body) != "the body" {
		t.Errorf("%q, %v", body, err)
	}
	id("fedcba9876543210fedcba9876543210\n")
	if _, err := Read(path, "problems", 1); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("on another machine: %v", err)
	}
}

// TestNoRegularFile: a folder or a pipe where the file should be keeps nobody waiting.
func TestNoRegularFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "problems")
	os.Mkdir(path, 0o700)
	if body, err := Read(path, "problems", 1); body != nil || err == nil {
		t.Errorf("a folder: %q, %v", body, err)
	}
	for dir, want := range map[string]string{"": "", "/var/lib/intsink": "/var/lib/intsink", "/var/lib/a:/var/lib/b": "/var/lib/a"} {
		if got := Dir(func(string) string { return dir }); got != want {
			t.Errorf("%q: %q", dir, got)
		}
	}
}
