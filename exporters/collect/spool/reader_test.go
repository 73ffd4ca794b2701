package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"intsink/exporters/collect/streams"
)

// TestOldFolders: what an earlier process left is read as far as it can be; what cannot be read is
// logged, counted as corrupt, and cut off the last segment only.
func TestOldFolders(t *testing.T) {
	sound := func(n ...uint32) []byte {
		b := appendFileHeader(nil)
		for _, n := range n {
			e := packet(n)
			b = appendEntry(b, &e)
		}
		return b
	}
	bad := append(sound(3), "not an entry, but as long as one could be: "+strings.Repeat("x", 100)...)
	for _, c := range []struct {
		name     string
		segments map[string][]byte
		want     []uint64
		corrupt  uint64
		sizes    []int64
	}{
		{"numbers of different length", map[string][]byte{"spool-9999999999.pcap": sound(1), "spool-10000000000.pcap": sound(2)}, []uint64{1, 2}, 0, []int64{fileHeaderLen + entrySize, fileHeaderLen + entrySize}},
		{"other files", map[string][]byte{"spool-0000000001.pcap": sound(1), "spool-2.pcap": sound(2), "spool-x.pcap": sound(3), "spool-00000000003.pcap": sound(4)}, []uint64{1}, 0, []int64{fileHeaderLen + entrySize}},
		{"an end that is no entry", map[string][]byte{"spool-0000000001.pcap": bad}, []uint64{3}, 1, []int64{fileHeaderLen + entrySize}},
		{"in a segment before the last", map[string][]byte{"spool-0000000001.pcap": bad, "spool-0000000002.pcap": sound(4)}, []uint64{3, 4}, 1, []int64{int64(len(bad)), fileHeaderLen + entrySize}},
		{"less than a header", map[string][]byte{"spool-0000000001.pcap": sound()[:fileHeaderLen-1], "spool-0000000002.pcap": sound(4)}, []uint64{4}, 0, []int64{fileHeaderLen - 1, fileHeaderLen + entrySize}},
		{"no entries", map[string][]byte{"spool-0000000001.pcap": sound(), "spool-0000000002.pcap": sound()}, nil, 0, []int64{fileHeaderLen, fileHeaderLen}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, log := t.TempDir(), newLines()
			for name, b := range c.segments {
				os.WriteFile(filepath.Join(dir, name), b, 0o600)
			}
			os.WriteFile(filepath.Join(dir, "positions.json"), []byte(`{"version":1,"outputs":{"a":{"segment":1,"offset":24}}}`), 0o600)
			s := open(t, Options{Directory: dir, Log: log.say})
			defer s.Close()
			if _, sizes := files(t, s); !slices.Equal(sizes, c.sizes) {
				t.Errorf("segments of %v bytes, want %v", sizes, c.sizes)
			}
			if _, corrupt := s.Failures(); corrupt != c.corrupt {
				t.Errorf("%d corrupt segments", corrupt)
			}
			log.want(t, int(c.corrupt), "cut where it cannot be read any more")
			add(t, s, packet(9))
			if left := s.Reader("a").Left(); left != 2*uint64(len(c.want)+1) {
				t.Errorf("%d records left", left)
			}
			wantNumbers(t, drain(t, s.Reader("a")), append(c.want, 9))
		})
	}
}

// failingReads makes readFile fail behind so many bytes of the file of that name, until the test ends.
func failingReads(t *testing.T, name string, bytes int, err error) {
	readFile = func(path string) ([]byte, error) {
		b, sound := os.ReadFile(path)
		if filepath.Base(path) != name {
			return b, sound
		}
		return b[:bytes], &os.PathError{Op: "read", Path: path, Err: err}
	}
	t.Cleanup(func() { readFile = os.ReadFile })
}

// TestBadSectors: a segment that the disk does not give back ends there, is counted as corrupt and
// stays as it is; what comes goes into a new one. An error of another kind refuses the start.
func TestBadSectors(t *testing.T) {
	const full = fileHeaderLen + 2*entrySize
	for _, c := range []struct {
		name   string
		number int // of the segment, of three with two entries each
		bytes  int // that can be read
		want   []uint64
	}{
		{"between entries", 2, fileHeaderLen + entrySize, []uint64{1, 2, 3, 5, 6, 9}},
		{"in an entry", 2, fileHeaderLen + entrySize + 50, []uint64{1, 2, 3, 5, 6, 9}},
		{"in the header", 2, 5, []uint64{1, 2, 5, 6, 9}},
		{"in the last segment", 3, fileHeaderLen + entrySize + 50, []uint64{1, 2, 3, 4, 5, 9}},
		{"in the last header", 3, 0, []uint64{1, 2, 3, 4, 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, log := t.TempDir(), newLines()
			o := Options{Directory: dir, Size: 1 << 20, SegmentSize: full, Log: log.say}
			s := open(t, o)
			s.Reader("a").Start()
			for n := uint32(1); n < 7; n += 2 {
				add(t, s, packets(n, n+1)...)
			}
			s.Close()
			name := filepath.Base(s.path(uint64(c.number)))
			failingReads(t, name, c.bytes, syscall.EACCES)
			if s, err := Open(o); err == nil {
				s.Close()
				t.Fatal("opened although a right is missing")
			}
			failingReads(t, name, c.bytes, syscall.EIO)
			s = open(t, o)
			defer s.Close()
			log.want(t, 1, "cut where it cannot be read any more")
			if _, corrupt := s.Failures(); corrupt != 1 || !strings.Contains(log.all[0], "input/output error") {
				t.Errorf("%d corrupt segments, logged %q", corrupt, log.all)
			}
			add(t, s, packet(9))
			for n := range uint64(3) {
				if info, err := os.Stat(s.path(n + 1)); err != nil || info.Size() != full {
					t.Errorf("segment %d: %v, %v", n+1, info, err)
				}
			}
			if left := s.Reader("a").Left(); left != 2*uint64(len(c.want)) {
				t.Errorf("%d records left", left)
			}
			wantNumbers(t, drain(t, s.Reader("a")), c.want)
		})
	}
}

// TestBadSectorInARest: what of a rest can be read is read, and the start goes on.
func TestBadSectorInARest(t *testing.T) {
	for bytes, want := range map[int]int{0: 0, fileHeaderLen: 0, fileHeaderLen + entrySize: 1, fileHeaderLen + entrySize + 9: 1} {
		dir := t.TempDir()
		s := open(t, Options{Directory: dir})
		if err := s.Reader("a").KeepRest(packets(1, 2)); err != nil {
			t.Fatal(err)
		}
		s.Close()
		failingReads(t, filepath.Base(s.restPath(Tag("a"))), bytes, syscall.EIO)
		s = open(t, Options{Directory: dir})
		r := s.Reader("a")
		if _, corrupt := s.Failures(); corrupt != 1 || len(r.rest) != want || r.restLeft != 2*uint64(want) {
			t.Errorf("%d bytes: %d corrupt, %d entries, %d records", bytes, corrupt, len(r.rest), r.restLeft)
		}
		s.Close()
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
		{"another version", func(dir string) {
			os.Mkdir(dir, 0o700)
			os.WriteFile(dir+"/positions.json", []byte(`{"version":2}`), 0o600)
		}, "move it away"},
		{"segment", func(dir string) { full(dir + "/spool-0000000001.pcap") }, "spool-0000000001.pcap"},
		{"rest", func(dir string) {
			full(fmt.Sprintf("%s/rest-%08x.pcap", dir, Tag("a")))
			os.WriteFile(dir+"/positions.json", []byte(`{"version":1,"outputs":{"a":{"segment":1,"offset":24}}}`), 0o600)
		}, "rest-"},
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

// TestNoRoomForTheFirstSegment: a spool without a segment is not opened.
func TestNoRoomForTheFirstSegment(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,nr_inodes=2"); err != nil { // the folder and its lock
		t.Fatalf("%v: this test mounts a small tmpfs and needs root", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	if s, err := Open(Options{Directory: dir, Size: 1 << 20}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
		s.Close()
	}
}

// TestTwoPositionsBeyondTheEnd: each output that was elsewhere begins at the end.
func TestTwoPositionsBeyondTheEnd(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "positions.json"), []byte(`{"version":1,"outputs":{"a":{"segment":7,"offset":24},"b":{"segment":7,"offset":24},"c":{"segment":0,"offset":24}}}`), 0o600)
	s := open(t, Options{Directory: dir})
	defer s.Close()
	add(t, s, packet(1))
	for _, name := range []string{"a", "b", "c"} {
		if r := s.Reader(name); r.Left() != 2 || !r.Reading() {
			t.Errorf("%s has %d records left", name, r.Left())
		}
		wantNumbers(t, drain(t, s.Reader(name)), []uint64{1})
	}
	if s.Reader("new").Reading() || s.Reader("new").Left() != 0 {
		t.Error("a reader that was not started reads")
	}
}

// TestLongSegments: entries are read whole although they do not fit into one read of the file, and
// those that were returned keep their contents.
func TestLongSegments(t *testing.T) {
	s := open(t, Options{Directory: memoryDir(t)})
	defer s.Close()
	r := s.Reader("a")
	r.Start()
	const size, n = 60_000, 20
	for i := range n {
		e := packet(uint32(i))
		e.Payload = make([]byte, size)
		e.Payload[0], e.Payload[size-1] = byte(i), byte(i)
		add(t, s, e)
	}
	var all []Entry
	for {
		e, _, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		all = append(all, e)
	}
	for i, e := range all {
		if e.Sequence != uint64(i) || len(e.Payload) != size || e.Payload[0] != byte(i) || e.Payload[size-1] != byte(i) {
			t.Errorf("entry %d is number %d with %d bytes", i, e.Sequence, len(e.Payload))
		}
	}
	if len(all) != n {
		t.Errorf("%d entries", len(all))
	}
}

// TestUnreadableSegments: what is left of a segment that cannot be read is lost, counted once, and the
// error names the place.
func TestUnreadableSegments(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(path string)
		read  int // how many of the segment's two entries are read
		lost  uint64
		place string
	}{
		{"gone", func(path string) { os.Remove(path) }, 0, 4, "at byte 24: "},
		{"cut behind an entry", func(path string) { os.Truncate(path, fileHeaderLen+entrySize) }, 1, 2, fmt.Sprint("at byte ", fileHeaderLen+entrySize, ": EOF")},
		{"cut in an entry", func(path string) { os.Truncate(path, fileHeaderLen+entrySize+50) }, 1, 2, fmt.Sprint("at byte ", fileHeaderLen+entrySize, ": ends in the middle")},
		{"cut in the header", func(path string) { os.Truncate(path, 5) }, 0, 4, "at byte 24: EOF"},
	} {
		for number, first := range map[uint64]int{2: 3, 3: 5} {
			t.Run(fmt.Sprint(c.name, ", segment ", number), func(t *testing.T) {
				s := open(t, Options{Directory: t.TempDir(), SegmentSize: fileHeaderLen + 2*entrySize})
				defer s.Close()
				r := s.Reader("a")
				r.Start()
				add(t, s, packets(1, 2)...)
				add(t, s, packets(3, 4)...)
				add(t, s, packets(5, 6)...)
				c.spoil(s.path(number))
				var got []uint64
				var lost []*LostError
				for {
					e, _, ok, err := r.Next()
					var l *LostError
					if errors.As(err, &l) {
						lost = append(lost, l)
						continue
					}
					if !ok {
						break
					}
					got = append(got, e.Sequence)
				}
				want := []uint64{1, 2, 3, 4, 5, 6}
				wantNumbers(t, got, slices.Delete(want, first-1+c.read, first+1))
				if len(lost) != 1 || lost[0].Records != c.lost || !strings.HasPrefix(lost[0].Error(), s.path(number)+" "+c.place) || lost[0].Unwrap() != lost[0].Err {
					t.Errorf("lost %v", lost)
				}
				if failed, corrupt := s.Failures(); failed != 0 || corrupt != 1 || r.Left() != 0 || !r.Finish() {
					t.Errorf("%d failures, %d corrupt segments, %d records left", failed, corrupt, r.Left())
				}
			})
		}
	}
}

// TestLostRanges: adjacent report packets of a stream that were lost are one range; those of others,
// notes, and entries for other outputs are not in it.
func TestLostRanges(t *testing.T) {
	s := open(t, Options{Directory: t.TempDir()})
	defer s.Close()
	r := s.Reader("a")
	add(t, s, packet(1))
	r.Start()
	other := packet(7)
	other.Payload[7] = 4 // another node
	later := packet(5)
	later.Start++
	note := packet(6)
	note.Kind = Note
	mine, theirs := packet(10), packet(11)
	mine.Only, theirs.Only = Tag("a"), Tag("b")
	short := packet(12)
	short.Payload = short.Payload[:3]
	add(t, s, packet(2), packet(3), other, packet(4), later, note, packet(8), packet(9), mine, theirs, short)
	s.mu.Lock()
	dropped := s.dropOldest(nil)
	s.mu.Unlock()
	if want := []Dropped{{"a", 20}}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %+v, want %+v", dropped, want)
	}
	var got []string
	for _, l := range r.TakeLost() {
		if l.Key.Exporter != sink.Addr() || l.Key.Collector != collector || l.Key.HwID != 5 || l.Key.Version != 2 {
			t.Errorf("%+v", l)
		}
		got = append(got, fmt.Sprint(l.Key.Node, " ", l.Start-1600000000e9, " ", l.First, "-", l.Last, " ", l.Packets))
	}
	if want := []string{"3 0 2-4 3", "4 0 7-7 1", "3 1 5-5 1", "3 0 8-10 3"}; !slices.Equal(got, want) {
		t.Errorf("lost %q, want %q", got, want)
	}
}

// TestManyLostRanges: their number is bounded; beyond it, the ranges of a stream become one.
func TestManyLostRanges(t *testing.T) {
	var m merger
	add := func(node uint32, n uint64) {
		m.add(Range{streams.Gap{Key: streams.Key{Node: node}, First: n, Last: n}, 1})
	}
	for n := range uint64(maxRanges) {
		add(1, 2*n)
	}
	if len(m.all) != maxRanges {
		t.Fatalf("%d ranges", len(m.all))
	}
	add(1, 9000)
	add(1, 8000) // lies within
	if last := m.all[maxRanges-1]; len(m.all) != maxRanges || last.First != 2*maxRanges-2 || last.Last != 9000 || last.Packets != 3 {
		t.Errorf("%d ranges, the last is %+v", len(m.all), last)
	}
	add(2, 5) // the first range of a second stream
	if len(m.all) != maxRanges+1 {
		t.Errorf("%d ranges", len(m.all))
	}
	add(2, 3)
	if last := m.all[maxRanges]; last.First != 3 || last.Last != 5 {
		t.Errorf("%+v", last)
	}
}

// TestKeepRest: the rest has what is kept, in front of what is left of the rest before; nothing to keep
// removes it.
func TestKeepRest(t *testing.T) {
	o := Options{Directory: t.TempDir()}
	s := open(t, o)
	r := s.Reader("a")
	if err := r.KeepRest(packets(1, 3)); err != nil {
		t.Fatal(err)
	}
	if r.InRest() {
		t.Error("what is kept is for the next process")
	}
	s.Close()
	log := newLines()
	o.Log = log.say
	s = open(t, o)
	r = s.Reader("a")
	if !r.InRest() || r.Left() != 6 {
		t.Errorf("in rest %v, %d records left", r.InRest(), r.Left())
	}
	r.Next()
	if r.Left() != 4 || r.Finish() {
		t.Errorf("%d records left", r.Left())
	}
	if err := r.KeepRest(packets(7, 8)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	path := s.restPath(r.tag)
	b, _ := os.ReadFile(path)
	os.WriteFile(path, append(b, 1, 2, 3), 0o600)
	s = open(t, o)
	defer s.Close()
	r = s.Reader("a")
	wantNumbers(t, drain(t, r), []uint64{7, 8, 2, 3})
	if r.InRest() {
		t.Error("still in the rest")
	}
	log.want(t, 1, "a file is cut where it cannot be read any more")
	if _, corrupt := s.Failures(); corrupt != 1 {
		t.Errorf("%d corrupt files", corrupt)
	}
	for range 2 {
		if err := r.KeepRest(nil); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("the rest's file: %v", err)
		}
	}
	r.RestDone()
	log.want(t, 1, "")
	os.MkdirAll(filepath.Join(path, "in the way"), 0o700)
	if r.KeepRest(nil) == nil || r.KeepRest(packets(1, 1)) == nil {
		t.Error("a rest that cannot be replaced gives no error")
	}
	r.RestDone()
	log.want(t, 2, "spool: not removed")
}

// TestShortRest: a rest's file without a whole header has no entries; one with a header only has none
// either.
func TestShortRest(t *testing.T) {
	for _, n := range []int{0, fileHeaderLen - 1, fileHeaderLen} {
		s := open(t, Options{Directory: t.TempDir()})
		r := s.Reader("a")
		os.WriteFile(s.restPath(r.tag), appendFileHeader(nil)[:n], 0o600)
		if err := r.loadRest(); err != nil || r.InRest() || s.corrupt != 0 {
			t.Errorf("%d bytes: %v", n, err)
		}
		s.Forget("a")
		if _, err := os.Stat(s.restPath(r.tag)); !os.IsNotExist(err) {
			t.Errorf("the rest of a forgotten output: %v", err)
		}
		s.Close()
	}
}

// TestLostOfAnOutputThatHoldsNothing: its lost ranges are kept over a restart, and it begins at the end.
func TestLostOfAnOutputThatHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir, SegmentSize: fileHeaderLen + entrySize})
	r := s.Reader("a")
	r.Start()
	add(t, s, packet(1))
	add(t, s, packet(2))
	s.mu.Lock()
	s.dropOldest(nil)
	s.mu.Unlock()
	wantNumbers(t, drain(t, r), []uint64{2})
	if !r.Finish() {
		t.Error("not finished")
	}
	r.Release()
	s.Close()
	s = open(t, Options{Directory: dir})
	defer s.Close()
	r = s.Reader("a")
	lost := r.TakeLost()
	if len(lost) != 1 || lost[0].First != 1 || r.Left() != 0 {
		t.Fatalf("lost %+v, %d records left", lost, r.Left())
	}
	s.mu.Lock()
	p := s.positions() // while the gap records are on their way
	s.mu.Unlock()
	if !reflect.DeepEqual(p.Lost["a"], lost) {
		t.Errorf("positions %+v", p)
	}
	r.LostTold()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if p, err := s.readPositions(); err != nil || len(p.Lost) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
