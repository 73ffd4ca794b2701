package spool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// detached makes a log whose folder another one has, with packets 56 to 60, which some, all and new have delivered.
func detached(t *testing.T, dir string) (s, other *Spool) {
	t.Helper()
	other = open(t, Options{Directory: dir, SegmentSize: ten})
	o := Options{Directory: dir, SegmentSize: ten, Size: 1 << 30}
	_, err := Open(o)
	if err == nil {
		t.Fatal("two have the folder")
	}
	s = Detached(o, err)
	readers := map[string]*Reader{}
	for _, name := range []string{"some", "none", "all", "new"} {
		readers[name] = s.Reader(name)
	}
	for n := uint32(56); n <= 60; n++ {
		if _, _, _, err := s.Append([]Entry{packet(n)}); err == nil {
			t.Error("nothing is said of the folder")
		}
	}
	for _, name := range []string{"some", "all", "new"} {
		read(t, readers[name], 9, true).sum(t, 56, 60)
	}
	if err := s.Sync(); err == nil || !s.Detached() || s.Reader("none").Left() != 10 {
		t.Errorf("detached: %v, error %v", s.Detached(), err)
	}
	return s, other
}

// attach attaches a log to its folder.
func attach(t *testing.T, s *Spool) map[string]uint64 {
	t.Helper()
	f, err := s.OpenFolder()
	if err != nil {
		t.Fatal(err)
	}
	more, err := s.Attach(f)
	if err != nil || s.Detached() || s.Failing() != nil {
		t.Fatal(err, s.Failing())
	}
	return more
}

// TestAttach: a log that got its folder late delivers what is in it, and loses nothing of what came before and after. Who has delivered
// all gets nothing twice.
func TestAttach(t *testing.T) {
	s, other := detached(t, old(t))
	if _, err := s.OpenFolder(); err == nil || !strings.Contains(err.Error(), "another process has it") {
		t.Errorf("error %v", err)
	}
	shut(t, other)
	more := attach(t, s)
	if more["some"] != 64 || more["none"] != 110 || more["all"] != 0 || more["new"] != 0 {
		t.Errorf("%v records more", more)
	}
	add(t, s, 61, 65)
	if left := s.Reader("some").Left(); left != 64+10 {
		t.Errorf("%d records are left", left)
	}
	killed := filepath.Join(t.TempDir(), "killed")
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(killed, os.DirFS(s.o.Directory)); err != nil {
		t.Fatal(err)
	}
	some := read(t, s.Reader("some"), 99, true)
	if len(some.read) != 32+5 || some.read[23]+some.read[56] != 0 || some.read[24] != 1 || some.read[65] != 1 {
		t.Errorf("some read %v", some.read)
	}
	read(t, s.Reader("none"), 99, true).sum(t, 1, 65)
	read(t, s.Reader("all"), 99, true).sum(t, 61, 65)
	read(t, s.Reader("new"), 99, true).sum(t, 61, 65)
	shut(t, s)
	for dir, want := range map[string]uint64{s.o.Directory: 0, killed: 130} {
		next := open(t, Options{Directory: dir, SegmentSize: ten})
		if left := next.Reader("none").Left(); left != want {
			t.Errorf("%s: %d records are left for the next process, want %d", dir, left, want)
		}
		shut(t, next)
	}
}

// TestAttachFails: the folder is as it was, and free, and the log detached.
func TestAttachFails(t *testing.T) {
	dir := old(t)
	s, other := detached(t, dir)
	shut(t, other)
	f, err := s.OpenFolder()
	if err != nil {
		t.Fatal(err)
	}
	blocked := s.path(s.next + 3) // a folder where a segment is to be
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Attach(f); err == nil || !s.Detached() || s.Failing() == nil {
		t.Errorf("error %v", err)
	}
	os.RemoveAll(blocked)
	if more := attach(t, s); more["none"] != 110 {
		t.Errorf("%v records more", more)
	}
	read(t, s.Reader("none"), 99, true).sum(t, 1, 60)
	shut(t, s)
}

// TestAttachToNewerSegments: numbers that the clock has not reached are not mixed with those of the log.
func TestAttachToNewerSegments(t *testing.T) {
	dir := old(t)
	s, other := detached(t, dir)
	shut(t, other)
	other.next = s.next + 5
	if err := os.WriteFile(other.path(other.next), appendFileHeader(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := s.OpenFolder()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Attach(f); err == nil || !strings.Contains(err.Error(), "restart the collector") || !s.Detached() {
		t.Errorf("error %v", err)
	}
	if dropped := s.Abandon(); len(dropped) != 1 || dropped[0].Output != "none" || dropped[0].Records != 10 {
		t.Errorf("dropped %v", dropped)
	}
	shut(t, s)
}
