package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// entrySize is how many bytes of a segment an entry of packet takes.
const entrySize = packetHeaderLen + 28 + 100 + trailerLen

// files returns the numbers of the segments in the folder, and their sizes.
func files(t *testing.T, s *Spool) (numbers []uint64, sizes []int64) {
	t.Helper()
	numbers, err := s.find()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		info, err := os.Stat(s.path(n))
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	return numbers, sizes
}

// TestSegmentSize: a segment grows to its size and not beyond it, unless what is appended at once is
// larger than a segment.
func TestSegmentSize(t *testing.T) {
	const head, e = fileHeaderLen, entrySize
	for _, c := range []struct {
		name string
		size int64
		at   []uint32 // how many entries are appended at once
		want []int64
	}{
		{"exactly two", head + 2*e, []uint32{1, 1, 1}, []int64{head + 2*e, head + e}},
		{"a byte less than two", head + 2*e - 1, []uint32{1, 1, 1}, []int64{head + e, head + e, head + e}},
		{"at once", head + 2*e, []uint32{1, 2, 1}, []int64{head + e, head + 2*e, head + e}},
		{"more than a segment", head + e, []uint32{3, 1}, []int64{head + 3*e, head + e}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Options{Directory: t.TempDir(), SegmentSize: c.size})
			defer s.Close()
			s.Reader("a").Start()
			var ends, want []Position
			n := uint32(0)
			for i, at := range c.at {
				var err error
				if ends, _, err = s.Append(packets(n, n+at-1), ends); err != nil {
					t.Fatal(err)
				}
				n += at
				if used, _ := s.Usage(); i == len(c.at)-1 && used != sum(c.want) {
					t.Errorf("%d bytes are used", used)
				}
			}
			numbers, sizes := files(t, s)
			if !slices.Equal(sizes, c.want) {
				t.Errorf("segments of %v bytes, want %v", sizes, c.want)
			}
			for i, size := range sizes {
				for at := int64(head); at < size; {
					at += e
					want = append(want, Position{numbers[i], at})
				}
			}
			if !slices.Equal(ends, want) {
				t.Errorf("entries end at %v, want %v", ends, want)
			}
		})
	}
}

func sum(all []int64) (n int64) {
	for _, x := range all {
		n += x
	}
	return n
}

// TestSpoolSize: the oldest segment goes when the spool would exceed its size, not when it reaches it;
// the last segment never goes.
func TestSpoolSize(t *testing.T) {
	const segment = fileHeaderLen + entrySize
	for _, c := range []struct {
		name    string
		size    int64
		at      uint32 // how many entries are appended at once, after three
		dropped []uint64
		left    []uint64
	}{
		{"just as large", 4 * segment, 1, nil, []uint64{1, 2, 3, 4}},
		{"a byte larger", 4*segment - 1, 1, []uint64{2}, []uint64{2, 3, 4}},
		{"larger by far", 4 * segment, 3, []uint64{2, 2}, []uint64{3, 4}},
		{"never small enough", 3 * segment, 30, []uint64{2, 2, 2}, []uint64{4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Options{Directory: t.TempDir(), Size: c.size, SegmentSize: segment})
			defer s.Close()
			s.Reader("a").Start()
			for n := range uint32(3) {
				add(t, s, packet(n))
			}
			var dropped []uint64
			for _, d := range add(t, s, packets(3, 3+c.at-1)...) {
				dropped = append(dropped, d.Records)
			}
			if left, _ := files(t, s); !slices.Equal(dropped, c.dropped) || !slices.Equal(left, c.left) {
				t.Errorf("dropped %v records, segments %v are left; want %v and %v", dropped, left, c.dropped, c.left)
			}
			if failed, _ := s.Failures(); failed != 0 {
				t.Errorf("%d failures", failed)
			}
		})
	}
}

// TestDefaults: a segment has a quarter of the spool, and 64 MiB at most; appending nothing does nothing.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ size, segment int64 }{{1 << 20, 1 << 18}, {256 << 20, 64 << 20}, {1 << 40, 64 << 20}} {
		s := open(t, Options{Directory: t.TempDir(), Size: c.size})
		if s.o.SegmentSize != c.segment {
			t.Errorf("segments of %d bytes in a spool of %d", s.o.SegmentSize, c.size)
		}
		ends, dropped, err := s.Append(nil, []Position{{1, 2}})
		if used, size := s.Usage(); len(ends) != 1 || dropped != nil || err != nil || used != fileHeaderLen || size != c.size {
			t.Errorf("%v, %v, %v, %d of %d bytes", ends, dropped, err, used, size)
		}
		s.Close()
	}
}

// fullOnce lets the next attempt to begin a segment fail as on a full disk, and the one after succeed.
func fullOnce(t *testing.T, s *Spool) {
	t.Helper()
	if err := os.Symlink("/dev/full", s.path(s.end().Segment+1)); err != nil {
		t.Fatal(err)
	}
}

// TestNoRoomForASegment: while a new segment finds no room on the disk, the oldest go, even the last
// one; entries follow each other without a failure.
func TestNoRoomForASegment(t *testing.T) {
	for _, before := range []uint32{1, 3} {
		t.Run(fmt.Sprint(before, " segments"), func(t *testing.T) {
			log := newLines()
			s := open(t, Options{Directory: t.TempDir(), SegmentSize: fileHeaderLen + entrySize, Log: log.say})
			defer s.Close()
			r := s.Reader("a")
			r.Start()
			for n := range before {
				add(t, s, packet(n))
			}
			fullOnce(t, s)
			if dropped := add(t, s, packet(before)); len(dropped) != 1 || dropped[0] != (Dropped{"a", 2}) {
				t.Errorf("dropped %+v", dropped)
			}
			wantNumbers(t, drain(t, r), span(1, uint64(before)))
			if failed, corrupt := s.Failures(); failed != 0 || corrupt != 0 {
				t.Errorf("%d failures, %d corrupt segments", failed, corrupt)
			}
			log.want(t, 0, "")
			if lost := r.TakeLost(); len(lost) != 1 || lost[0].First != 0 || lost[0].Last != 0 || lost[0].Packets != 1 {
				t.Errorf("lost %+v", lost)
			}
		})
	}
}

// TestNoRoomAtAll: a disk without room for one segment refuses entries, and takes those that come when
// there is room again.
func TestNoRoomAtAll(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir, SegmentSize: fileHeaderLen + entrySize})
	defer s.Close()
	r := s.Reader("a")
	r.Start()
	add(t, s, packet(1))
	s.mu.Lock()
	s.dropOldest(nil)
	if s.file != nil || len(s.segments) != 0 {
		t.Error("the segment is still there")
	}
	s.mu.Unlock()
	if e, _, ok, err := r.Next(); ok || err != nil { // it waits for the next segment
		t.Errorf("read %+v, %v", e, err)
	}
	if n, want := s.end(), (Position{2, fileHeaderLen}); n != want {
		t.Errorf("the next entry begins at %v, want %v", n, want)
	}
	if left, used := r.Left(), s.used(); left != 0 || used != 0 {
		t.Errorf("%d records left in %d bytes", left, used)
	}
	if err := os.Symlink("/dev/full", s.path(2)); err != nil {
		t.Fatal(err)
	}
	given := []Position{{7, 7}}
	ends, dropped, err := s.Append(packets(2, 3), given)
	if !errors.Is(err, syscall.ENOSPC) || len(dropped) != 0 || !slices.Equal(ends, given) {
		t.Errorf("%v, dropped %+v, ends %v", err, dropped, ends)
	}
	if failed, _ := s.Failures(); failed != 1 {
		t.Errorf("%d failures", failed)
	}
	add(t, s, packet(4))
	wantNumbers(t, drain(t, r), []uint64{4})
}

// TestSegmentsThatCannotBeMade: an error that is none of a full disk drops nothing.
func TestSegmentsThatCannotBeMade(t *testing.T) {
	s := open(t, Options{Directory: t.TempDir(), SegmentSize: fileHeaderLen + entrySize})
	defer s.Close()
	s.Reader("a").Start()
	add(t, s, packet(1))
	if err := os.Mkdir(s.path(2), 0o700); err != nil {
		t.Fatal(err)
	}
	given := []Position{{7, 7}}
	ends, dropped, err := s.Append(packets(2, 3), given)
	if !errors.Is(err, syscall.EISDIR) || !strings.HasPrefix(err.Error(), "spool: ") || len(dropped) != 0 || !slices.Equal(ends, given) {
		t.Errorf("%v, dropped %+v, ends %v", err, dropped, ends)
	}
	os.Remove(s.path(2))
	add(t, s, packet(4))
	failed, _ := s.Failures()
	wantNumbers(t, drain(t, s.Reader("a")), []uint64{1, 4})
	if failed != 1 {
		t.Errorf("%d failures", failed)
	}
}

// TestEntriesThatCannotBeWritten: all of what was appended at once is refused, and the next entries
// take its place.
func TestEntriesThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		name string
		flag int
		path func(s *Spool) string
		want error
	}{
		{"full disk", os.O_RDWR, func(*Spool) string { return "/dev/full" }, syscall.ENOSPC},
		{"another error", os.O_RDONLY, func(s *Spool) string { return s.path(1) }, syscall.EBADF},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := still(t, Options{Directory: t.TempDir()}) // its loop would sync a file that cannot be
			defer s.Close()
			s.Reader("a").Start()
			add(t, s, packet(1))
			sound := s.file
			f, err := os.OpenFile(c.path(s), c.flag, 0)
			if err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			s.file = f
			s.mu.Unlock()
			given := []Position{{7, 7}}
			ends, dropped, err := s.Append(packets(2, 3), given)
			if !errors.Is(err, c.want) || len(dropped) != 0 || !slices.Equal(ends, given) {
				t.Errorf("%v, dropped %+v, ends %v", err, dropped, ends)
			}
			if failed, _ := s.Failures(); failed != 1 || s.Reader("a").Left() != 2 {
				t.Errorf("%d failures, %d records left", failed, s.Reader("a").Left())
			}
			s.mu.Lock()
			s.file = sound
			s.mu.Unlock()
			f.Close()
			add(t, s, packet(4))
			wantNumbers(t, drain(t, s.Reader("a")), []uint64{1, 4})
		})
	}
}

// TestSegmentsThatCannotBeRemoved are counted and logged, and the spool goes on without them.
func TestSegmentsThatCannotBeRemoved(t *testing.T) {
	log := newLines()
	s := open(t, Options{Directory: t.TempDir(), SegmentSize: fileHeaderLen + entrySize, Log: log.say})
	defer s.Close()
	r := s.Reader("a")
	r.Start()
	add(t, s, packet(1))
	add(t, s, packet(2))
	e, end, _, _ := r.Next()
	r.Next()
	os.Remove(s.path(1))
	if err := os.MkdirAll(filepath.Join(s.path(1), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.Ack(end) // of the first segment: it stays
	log.want(t, 0, "")
	r.Ack(s.end())
	log.want(t, 1, "spool segment not removed")
	if failed, _ := s.Failures(); failed != 1 || len(s.segments) != 1 || e.Sequence != 1 {
		t.Errorf("%d failures, %d segments", failed, len(s.segments))
	}
}

// TestWhoeverNeedsASegment: it stays until the last reader that needs it acknowledges its entries, is
// released or is forgotten.
func TestWhoeverNeedsASegment(t *testing.T) {
	s := open(t, Options{Directory: t.TempDir(), SegmentSize: fileHeaderLen + entrySize})
	defer s.Close()
	a, b, c := s.Reader("a"), s.Reader("b"), s.Reader("c")
	add(t, s, packet(0))
	a.Start()
	b.Hold()
	c.Hold()
	for n := range uint32(4) {
		add(t, s, packet(n+1))
	}
	for _, step := range []struct {
		name string
		do   func()
		left []uint64
	}{
		{"nothing", func() {}, []uint64{1, 2, 3, 4, 5}},
		{"one acknowledges", func() { b.Ack(Position{4, fileHeaderLen}) }, []uint64{1, 2, 3, 4, 5}},
		{"one that reads is not released", func() { c.Ack(s.end()); a.Release() }, []uint64{1, 2, 3, 4, 5}},
		{"all have acknowledged", func() { a.Ack(Position{3, fileHeaderLen}) }, []uint64{3, 4, 5}},
		{"one is forgotten", func() { s.Forget("a") }, []uint64{4, 5}},
		{"one is released", func() { b.Release() }, []uint64{5}},
		{"the last one, too", func() { c.Release() }, []uint64{5}},
	} {
		step.do()
		if left, _ := files(t, s); !slices.Equal(left, step.left) {
			t.Errorf("%s: segments %v are left, want %v", step.name, left, step.left)
		}
	}
	if names := s.Outputs(); !slices.Contains(names, "b") || !slices.Contains(names, "c") || len(names) != 2 {
		t.Errorf("outputs %v", names)
	}
}
