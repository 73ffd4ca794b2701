package spool

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// hang lets no call to the disk return until the test calls what it returns.
func hang(s *Spool) (release func()) {
	gate := make(chan struct{})
	before := func() { <-gate }
	s.disk.before.Store(&before)
	return func() {
		s.disk.before.Store(nil)
		close(gate)
		for s.disk.hangs() {
			time.Sleep(time.Millisecond)
		}
	}
}

// quick fails the test if f takes long.
func quick(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

// numbers reads everything, and returns the numbers of the packets and the first error.
func numbers(r *Reader) (all []uint64, err error) {
	for {
		e, _, ok, err := r.Next(r.s.End())
		if !ok {
			return all, err
		}
		all = append(all, e.Sequence)
	}
}

// TestHungDisk: a disk that does not answer holds nobody up; what comes meanwhile is in memory, and nothing is lost or doubled
// when it answers again, in this process and the next.
func TestHungDisk(t *testing.T) {
	for name, before := range map[string]uint32{"in a file": 5, "at the first file": 0} {
		t.Run(name, func(t *testing.T) {
			o := Options{Directory: t.TempDir(), Size: 1 << 30, Memory: 1 << 20}
			s := open(t, o)
			r := s.Reader("out")
			add(t, s, 1, before)
			s.disk.wait = 20 * time.Millisecond
			release := hang(s)
			quick(t, "append", func() {
				for n := before + 1; n <= 10; n++ {
					if _, _, _, err := s.Append([]Entry{packet(n)}); !errors.Is(err, ErrHangs) {
						t.Errorf("append %d: %v", n, err)
					}
				}
			})
			if !errors.Is(s.Failing(), ErrHangs) {
				t.Errorf("failing: %v", s.Failing())
			}
			quick(t, "sync", func() { s.Sync() })
			quick(t, "read", func() {
				if all, err := numbers(r); before > 0 && (len(all) > 0 || !errors.Is(err, ErrHangs)) {
					t.Errorf("read %d of a disk that hangs, %v", len(all), err)
				}
			})
			release()
			s.mu.Lock()
			s.retry, s.disk.wait = time.Time{}, time.Minute // a slow machine is no disk that hangs
			s.mu.Unlock()
			add(t, s, 11, 15)
			if s.Failing() != nil {
				t.Errorf("failing: %v", s.Failing())
			}
			shut(t, s)
			s = open(t, o)
			defer shut(t, s)
			all, err := numbers(s.Reader("out"))
			if err != nil || len(all) != 15 || all[0] != 1 || all[14] != 15 {
				t.Errorf("%v, %v", all, err)
			}
		})
	}
}

// TestStopOnAHungDisk: the end comes all the same; what is on the disk is there for the next process.
func TestStopOnAHungDisk(t *testing.T) {
	o := Options{Directory: t.TempDir(), Size: 1 << 30, Memory: 1 << 20}
	s := open(t, o)
	s.Reader("out")
	add(t, s, 1, 5)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	s.disk.wait = 20 * time.Millisecond
	release := hang(s)
	s.Append([]Entry{packet(6)})
	quick(t, "the stop", func() {
		s.Abandon()
		if err := s.Close(); !errors.Is(err, ErrHangs) {
			t.Errorf("%v", err)
		}
	})
	release()
	s.lock.Close() // as the end of the process does
	s = open(t, o)
	defer shut(t, s)
	if all, err := numbers(s.Reader("out")); err != nil || len(all) != 5 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestOpenHangs: a folder that does not answer is attached when it does. The FIFO is such a disk: its reader waits.
func TestOpenHangs(t *testing.T) {
	o := Options{Directory: t.TempDir(), Size: 1 << 30}
	if err := syscall.Mkfifo(filepath.Join(o.Directory, "positions.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := openWithin(o, 20*time.Millisecond)
	if err != nil || !s.Detached() || !errors.Is(s.Failing(), ErrHangs) {
		t.Fatalf("%v, failing: %v", err, s.Failing())
	}
	s.disk.wait = 20 * time.Millisecond
	r := s.Reader("out")
	s.Append([]Entry{packet(1)})
	for range 2 {
		if _, err := s.OpenFolder(); !errors.Is(err, ErrHangs) {
			t.Errorf("%v", err)
		}
	}
	if all, err := numbers(r); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	w, err := os.OpenFile(filepath.Join(o.Directory, "positions.json"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	var f *Folder
	for end := time.Now().Add(20 * time.Second); f == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		f, err = s.OpenFolder()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.disk.wait = 20 * time.Second // a disk that others keep busy does not hang
	if _, err := s.Attach(f); err != nil || s.Failing() != nil {
		t.Errorf("%v, failing: %v", err, s.Failing())
	}
	shut(t, s)
}
