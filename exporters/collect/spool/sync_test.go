package spool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// failingSyncs makes fsync(2) fail for the files that fails chooses, until the test ends, and returns
// the names of the files that were synced.
func failingSyncs(t *testing.T, fails func(name string) bool) *[]string {
	var names []string
	real := fsync
	fsync = func(f *os.File) error {
		names = append(names, f.Name())
		if fails(f.Name()) {
			return errors.New("bad disk")
		}
		return real(f)
	}
	t.Cleanup(func() { fsync = real })
	return &names
}

// TestSyncTellsFailures: what could not be synced is an error that names the file, counts as one
// failure, and the positions are written by the next Sync.
func TestSyncTellsFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(dir string) string // returns the name of what cannot be synced
	}{
		{"positions", func(dir string) string { return filepath.Join(dir, "positions.json.new") }},
		{"folder", func(dir string) string { return dir }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Options{Directory: dir})
			close(s.stop) // nothing is synced but by the test
			<-s.stopped
			s.stop = make(chan struct{})
			defer s.Close()
			bad := c.fail(dir)
			names := failingSyncs(t, func(name string) bool { return name == bad })
			s.Reader("a")
			if err := s.Sync(); err == nil || !strings.Contains(err.Error(), "bad disk") {
				t.Errorf("error %v", err)
			}
			if failed, _ := s.Failures(); failed != 1 {
				t.Errorf("%d failures", failed)
			}
			bad = ""
			*names = nil
			if err := s.Sync(); err != nil {
				t.Error(err)
			}
			if want := []string{filepath.Join(dir, "positions.json.new"), dir}; !slices.Equal(*names, want) {
				t.Errorf("synced %q, want %q", *names, want)
			}
			if p, ok, err := s.readPositions(); err != nil || !ok || len(p.Outputs) != 1 {
				t.Errorf("%+v, %v", p, err)
			}
			if failed, _ := s.Failures(); failed != 1 {
				t.Errorf("%d failures", failed)
			}
		})
	}
}

// TestWriteFile: the contents are on the disk before the name, and the name before WriteFile returns.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, bad string
		ok              bool
		synced          []string
	}{
		{"sound", path, "", true, []string{path + ".new", dir}},
		{"the file cannot be synced", path, path + ".new", false, []string{path + ".new"}},
		{"the folder cannot be synced", path, dir, false, []string{path + ".new", dir}},
		{"no folder", filepath.Join(dir, "none", "f"), "", false, nil},
		{"a folder in the way", full, "", false, []string{full + ".new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			names := failingSyncs(t, func(name string) bool { return name == c.bad })
			if err := newSpool(Options{}).WriteFile(c.path, []byte(c.name)); (err == nil) != c.ok {
				t.Errorf("error %v", err)
			}
			if !slices.Equal(*names, c.synced) {
				t.Errorf("synced %q, want %q", *names, c.synced)
			}
			if b, _ := os.ReadFile(c.path); c.ok && string(b) != c.name {
				t.Errorf("the file has %q", b)
			}
		})
	}
	os.Remove(path + ".new")
	if err := os.Symlink("/dev/full", path+".new"); err != nil {
		t.Fatal(err)
	}
	if err := newSpool(Options{}).WriteFile(path, []byte("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
}

// TestOneOwner: two processes do not write one log.
func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir})
	defer s.Close()
	if _, err := Open(Options{Directory: dir, Size: 1 << 30}); err == nil || !strings.Contains(err.Error(), "another process has it") {
		t.Errorf("two processes have the same spool: %v", err)
	}
}

// TestFoldersThatCannotBeOpened: the error says which file, and what to do.
func TestFoldersThatCannotBeOpened(t *testing.T) {
	full := func(path string) { os.MkdirAll(filepath.Join(path, "in the way"), 0o700) }
	for _, c := range []struct {
		name  string
		spoil func(dir string)
		want  string
	}{
		{"the folder is a file", func(dir string) { os.WriteFile(dir, nil, 0o600) }, "make the folder"},
		{"lock", func(dir string) { full(dir + "/lock") }, "spool: open"},
		{"positions", func(dir string) { full(dir + "/positions.json") }, "positions.json"},
		{"segment", func(dir string) { full(dir + "/spool-0000000001.pcap") }, "spool-0000000001.pcap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "spool")
			c.spoil(dir)
			for range 2 { // the second time shows that the lock is free again
				if s, err := Open(Options{Directory: dir, Size: 1 << 20}); err == nil {
					s.Close()
					t.Fatal("opened")
				} else if !strings.HasPrefix(err.Error(), "spool: ") || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %q, want %q", err, c.want)
				}
			}
		})
	}
}
