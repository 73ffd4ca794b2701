package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines collects what a spool logs.
type lines struct {
	mu  sync.Mutex
	all []string
	new chan struct{} // receives once for each line
}

func newLines() *lines { return &lines{new: make(chan struct{}, 100)} }

func (l *lines) say(msg string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprint(append([]any{msg}, args...)...))
	l.new <- struct{}{}
}

// want fails the test unless there are so many lines, the last with that text.
func (l *lines) want(t *testing.T, n int, text string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) != n || n > 0 && !strings.Contains(l.all[n-1], text) {
		t.Errorf("logged %q, want %d lines, the last with %q", l.all, n, text)
	}
}

// still opens a spool whose loop has ended: it syncs only when the test calls Sync.
func still(t testing.TB, o Options) *Spool {
	t.Helper()
	s := open(t, o)
	close(s.stop)
	<-s.stopped
	s.stop = make(chan struct{})
	return s
}

// kicked reports whether the loop was told to sync at once.
func kicked(s *Spool) bool {
	select {
	case <-s.kick:
		return true
	default:
		return false
	}
}

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

// TestSyncSoon: a position that becomes needed, and many bytes, are synced at once; others wait for
// SyncEvery.
func TestSyncSoon(t *testing.T) {
	s := still(t, Options{Directory: t.TempDir()})
	defer s.Close()
	r := s.Reader("a")
	size := int64(len(appendEntry(nil, &Entry{From: sink, To: collector, Payload: make([]byte, 100)})))
	for _, c := range []struct {
		name string
		do   func()
		want bool
	}{
		{"a new reader", func() { s.Reader("b") }, false},
		{"Hold", r.Hold, true},
		{"Hold again", r.Hold, false},
		{"Start of a reader that holds", r.Start, false},
		{"Start of one that does not", s.Reader("b").Start, true},
		{"an entry", func() { add(t, s, packet(1)) }, false},
		{"a byte less than syncBytes", func() { s.unsynced = syncBytes - size - 1; add(t, s, packet(2)) }, false},
		{"syncBytes", func() { s.unsynced = syncBytes - size; add(t, s, packet(3)) }, true},
		{"an entry after a sync", func() { s.Sync(); add(t, s, packet(4)) }, false},
	} {
		if c.do(); kicked(s) != c.want {
			t.Errorf("%s: synced at once is not %v", c.name, c.want)
		}
	}
}

// TestLoopSyncs: the loop writes the positions without a call of Sync, and logs where it cannot.
func TestLoopSyncs(t *testing.T) {
	log := newLines()
	dir := t.TempDir()
	s := open(t, Options{Directory: dir, Log: log.say})
	if err := os.MkdirAll(filepath.Join(dir, "positions.json", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Reader("a").Hold()
	select {
	case <-log.new:
	case <-time.After(time.Minute):
		t.Fatal("nothing was logged")
	}
	if err := s.Close(); err == nil {
		t.Error("Close does not tell that the positions were not written")
	}
	if log.mu.Lock(); !strings.Contains(log.all[0], "spool not synced") || !strings.Contains(log.all[0], "positions.json") {
		t.Error(log.all)
	}
	log.mu.Unlock()
	if failed, _ := s.Failures(); failed < 2 {
		t.Errorf("%d failures", failed)
	}
}

// TestPositionsFollow: after each change of a reader, Sync writes its position; without one it leaves
// the file alone.
func TestPositionsFollow(t *testing.T) {
	s := still(t, Options{Directory: t.TempDir(), SegmentSize: 500})
	defer s.Close()
	r := s.Reader("a")
	add(t, s, packet(1))
	at := s.end()
	var second Position
	for _, c := range []struct {
		name string
		do   func()
		want any // position; nil: none
	}{
		{"Hold", r.Hold, at},
		{"nothing", func() {}, at},
		{"entries", func() { add(t, s, packets(2, 9)...) }, at},
		{"Start", func() { r.Start() }, at},
		{"Ack", func() { second = s.end(); r.Ack(second) }, func() any { return second }},
		{"Ack of an older entry", func() { r.Ack(at) }, func() any { return second }},
		{"Release while it reads", func() { r.Release() }, func() any { return second }},
		{"Release", func() { r.Finish(); r.Release() }, nil},
		{"Ack after Release", func() { r.Ack(Position{9, 9}) }, nil},
		{"Start again", func() { r.Start() }, func() any { return second }},
		{"Forget", func() { s.Forget("a") }, nil},
		{"Forget again", func() { s.Forget("a") }, nil},
	} {
		os.Remove(s.positionsPath() + ".before")
		os.Link(s.positionsPath(), s.positionsPath()+".before")
		moved := s.moved
		c.do()
		moved = moved || s.moved
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Stat(s.positionsPath() + ".before")
		after, err := os.Stat(s.positionsPath())
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && os.SameFile(before, after) == moved {
			t.Errorf("%s: written anew is not %v", c.name, moved)
		}
		p, err := s.readPositions()
		want := c.want
		if f, ok := want.(func() any); ok {
			want = f()
		}
		if got, ok := p.Outputs["a"]; err != nil || ok != (want != nil) || ok && got != want {
			t.Errorf("%s: %+v, %v, want %v", c.name, p, err, want)
		}
	}
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
			s := still(t, Options{Directory: dir})
			defer s.Close()
			bad := c.fail(dir)
			names := failingSyncs(t, func(name string) bool { return name == bad })
			s.Reader("a").Hold()
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
			if p, err := s.readPositions(); err != nil || len(p.Outputs) != 1 {
				t.Errorf("%+v, %v", p, err)
			}
			if failed, _ := s.Failures(); failed != 1 {
				t.Errorf("%d failures", failed)
			}
		})
	}
}

// unsyncable returns a file on which fdatasync(2) fails.
func unsyncable(t *testing.T) *os.File {
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSegmentThatCannotBeSynced: whether it is the last or finished meanwhile, it counts as a failure.
func TestSegmentThatCannotBeSynced(t *testing.T) {
	log := newLines()
	s := still(t, Options{Directory: t.TempDir(), SegmentSize: 500, Log: log.say})
	defer s.Close()
	add(t, s, packet(1))
	s.file.Close()
	if err := s.Sync(); err != nil { // closed: finished, and synced then
		t.Error(err)
	}
	s.file = unsyncable(t)
	if err := s.Sync(); err != nil {
		t.Errorf("nothing was to be synced: %v", err)
	}
	add(t, s, packet(2))
	if err := s.Sync(); err == nil || !strings.Contains(err.Error(), os.DevNull+": ") {
		t.Errorf("error %v", err)
	}
	log.want(t, 0, "")
	add(t, s, packets(3, 4)...) // begins a segment
	log.want(t, 1, "spool not synced")
	if failed, _ := s.Failures(); failed != 2 {
		t.Errorf("%d failures", failed)
	}
	if err := s.Sync(); err != nil || s.unsynced != 0 {
		t.Errorf("%v, %d bytes not synced", err, s.unsynced)
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
			if err := WriteFile(c.path, []byte(c.name)); (err == nil) != c.ok {
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
	if err := WriteFile(path, []byte("x")); !isFull(err) {
		t.Errorf("a full disk: %v", err)
	}
}
