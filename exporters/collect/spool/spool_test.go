package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var (
	sink      = netip.MustParseAddrPort("192.0.2.1:49152")
	collector = netip.MustParseAddrPort("192.0.2.10:8555")
)

// packet returns an entry with report packet n of node 3 and hw_id 5, of 100 bytes.
func packet(n uint32) Entry {
	b := make([]byte, 100)
	binary.BigEndian.PutUint32(b, 2<<28|5<<22|n&0x3fffff)
	binary.BigEndian.PutUint32(b[4:], 3)
	return Entry{Received: 1700000000e9 + int64(n), From: sink, To: collector, Start: 1600000000e9, Sequence: uint64(n), Records: 2, Payload: b}
}

func packets(from, to uint32) (all []Entry) {
	for n := from; n <= to; n++ {
		all = append(all, packet(n))
	}
	return all
}

func open(t testing.TB, o Options) *Spool {
	t.Helper()
	if o.Size == 0 {
		o.Size = 1 << 30
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t testing.TB, s *Spool, entries ...Entry) []Dropped {
	t.Helper()
	_, dropped, err := s.Append(entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dropped
}

// drain reads and acknowledges all entries, and returns their sequence numbers.
func drain(t testing.TB, r *Reader) (numbers []uint64) {
	t.Helper()
	for {
		e, end, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return numbers
		}
		numbers = append(numbers, e.Sequence)
		r.Ack(end)
	}
}

func span(from, to uint64) (all []uint64) {
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}

func wantNumbers(t testing.TB, got, want []uint64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %d entries\n%v\nwant %d\n%v", len(got), got, len(want), want)
	}
}

func TestEntries(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Entry
	}{
		{"IPv4", packet(7)},
		{"IPv6", Entry{From: netip.MustParseAddrPort("[2001:db8::1]:5"), To: netip.MustParseAddrPort("[::]:8555"), Received: 5, Start: -1, Sequence: 1 << 63, Records: 65535, Payload: []byte{1}}},
		{"note", Entry{Kind: Note, From: netip.AddrPortFrom(sink.Addr(), 0), To: netip.AddrPortFrom(collector.Addr(), 0), Only: Tag("x"), Payload: []byte("{}")}},
		{"empty", Entry{From: sink, To: collector, Payload: []byte{}}},
		{"longest", Entry{From: sink, To: collector, Payload: make([]byte, 65507)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := appendEntry(nil, &c.in)
			e, n, err := readEntry(b)
			if err != nil || n != len(b) || fmt.Sprint(e) != fmt.Sprint(c.in) {
				t.Errorf("%v, %d of %d bytes\n%.200v\nwant\n%.200v", err, n, len(b), e, c.in)
			}
			for i := range b[:min(len(b), 400)] {
				if _, _, err := readEntry(b[:i]); err == nil {
					t.Errorf("%d of %d bytes are read", i, len(b))
				}
				bad := bytes.Clone(b)
				bad[i] ^= 0x10
				if _, _, err := readEntry(bad); err == nil {
					t.Errorf("a flipped bit in byte %d is not seen", i)
				}
			}
		})
	}
}

func TestOrderOverSegmentsAndRestarts(t *testing.T) {
	o := Options{Directory: t.TempDir(), SegmentSize: 5000}
	s := open(t, o)
	r := s.Reader("a")
	add(t, s, packets(1, 5)...) // before r starts, so not for r
	r.Start()
	for n := uint32(6); n < 200; n += 7 {
		add(t, s, packets(n, n+6)...)
	}
	if left := r.Left(); left != 2*(201-5) {
		t.Errorf("%d records left", left)
	}
	var got []uint64
	for range 100 {
		e, end, ok, err := r.Next()
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		got = append(got, e.Sequence)
		if e.Sequence <= 90 {
			r.Ack(end)
		}
	}
	wantNumbers(t, got, span(6, 105))
	if r.Finish() {
		t.Error("finished with entries left")
	}
	s.Close()

	s = open(t, o)
	defer s.Close()
	r = s.Reader("a")
	if left := r.Left(); left != 2*(201-90) {
		t.Errorf("%d records left after the restart", left)
	}
	wantNumbers(t, drain(t, r), span(91, 201))
	if !r.Finish() || r.Left() != 0 {
		t.Error("not finished")
	}
	r.Release()
	if names, _ := s.find(); len(names) != 1 {
		t.Errorf("segments %v stay", names)
	}
}

func TestOutputsReadForThemselves(t *testing.T) {
	s := open(t, Options{Directory: t.TempDir()})
	defer s.Close()
	a, b := s.Reader("a"), s.Reader("b")
	a.Start()
	add(t, s, packets(1, 3)...)
	mine := packet(100)
	mine.Only = Tag("b")
	b.Start()
	add(t, s, mine)
	add(t, s, packets(4, 5)...)
	if a.Left() != 10 || b.Left() != 6 {
		t.Errorf("%d and %d records left", a.Left(), b.Left())
	}
	wantNumbers(t, drain(t, a), span(1, 5))
	wantNumbers(t, drain(t, b), []uint64{100, 4, 5})
	if a.Left() != 0 || b.Left() != 0 {
		t.Errorf("%d and %d records left", a.Left(), b.Left())
	}
}

// TestTornTail cuts the last segment at every byte: the entries in front of the cut are read,
// and new ones follow them.
func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir})
	s.Reader("a").Start()
	add(t, s, packets(1, 3)...)
	s.Close()
	segment, _ := os.ReadFile(filepath.Join(dir, "spool-0000000001.pcap"))
	positions, _ := os.ReadFile(filepath.Join(dir, "positions.json"))
	size := (len(segment) - fileHeaderLen) / 3
	for cut := range len(segment) {
		dir := memoryDir(t)
		os.WriteFile(filepath.Join(dir, "spool-0000000001.pcap"), segment[:cut], 0o600)
		os.WriteFile(filepath.Join(dir, "positions.json"), positions, 0o600)
		s := open(t, Options{Directory: dir})
		add(t, s, packet(9))
		whole := uint64(max(cut-fileHeaderLen, 0) / size)
		r := s.Reader("a")
		if left := r.Left(); left != 2*whole+2 {
			t.Errorf("cut at %d: %d records left", cut, left)
		}
		wantNumbers(t, drain(t, r), append(span(1, whole), 9))
		s.Close()
	}
}

// TestCorruptSegment: a bad sector in the middle loses the rest of its segment, and the lost
// records are counted.
func TestCorruptSegment(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir, SegmentSize: 2000})
	defer s.Close()
	r := s.Reader("a")
	r.Start()
	for n := range uint32(40) {
		add(t, s, packet(n+1))
	}
	path := filepath.Join(dir, "spool-0000000002.pcap")
	b, _ := os.ReadFile(path)
	b[fileHeaderLen+2*(len(b)/10)] ^= 1
	os.WriteFile(path, b, 0o600)
	var got, lost uint64
	for {
		e, _, ok, err := r.Next()
		var l *LostError
		if errors.As(err, &l) {
			lost += l.Records
			continue
		}
		if !ok {
			break
		}
		got += uint64(e.Records)
	}
	if lost == 0 || got+lost != 80 || r.Left() != 0 {
		t.Errorf("%d records read, %d lost, %d left", got, lost, r.Left())
	}
}

func TestFullSpoolDropsTheOldest(t *testing.T) {
	s := open(t, Options{Directory: t.TempDir(), Size: 10000, SegmentSize: 2000})
	defer s.Close()
	a, b := s.Reader("a"), s.Reader("b")
	a.Start()
	b.Hold() // its output gets all entries from memory
	var dropped []Dropped
	for n := range uint32(200) {
		dropped = append(dropped, add(t, s, packet(n))...)
	}
	if used, size := s.Usage(); used > size {
		t.Errorf("%d of %d bytes", used, size)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if failed, corrupt := s.Failures(); failed != 0 || corrupt != 0 || s.drops != uint64(len(dropped)) {
		t.Errorf("%d failures, %d corrupt segments; the drops of %d segments were noted %d times", failed, corrupt, len(dropped), s.drops)
	}
	var records, missing uint64
	for _, d := range dropped {
		if d.Output != "a" {
			t.Errorf("%s lost %d", d.Output, d.Records)
		}
		records += d.Records
	}
	for _, r := range a.TakeLost() {
		if r.Packets != r.Count() || r.First != missing || r.Key.Node != 3 || r.Key.HwID != 5 || r.Start != 1600000000e9 {
			t.Errorf("range %+v after %d", r, missing)
		}
		missing += r.Packets
	}
	if left := a.Left(); records == 0 || records+left != 400 || missing*2 != records {
		t.Errorf("%d records dropped, %d packets in ranges, %d left", records, missing, left)
	}
	wantNumbers(t, drain(t, a), span(missing, 199))
}

// TestLostRangesOutliveTheProcess: the ranges that were lost with dropped segments are known
// to the next process, however this one ends, until the output has their gap records.
func TestLostRangesOutliveTheProcess(t *testing.T) {
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprint("told ", told), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Options{Directory: dir, Size: 10000, SegmentSize: 2000})
			defer s.Close()
			s.Reader("a").Start()
			var dropped uint64
			for n := range uint32(200) {
				for _, d := range add(t, s, packet(n)) {
					dropped += d.Records
				}
			}
			ranges := s.Reader("a").TakeLost()
			if again := s.Reader("a").TakeLost(); again != nil {
				t.Errorf("taken twice: %+v", again)
			}
			if told {
				s.Reader("a").LostTold()
				if err := s.Sync(); err != nil {
					t.Fatal(err)
				}
				ranges = nil
			}
			s = open(t, Options{Directory: killed(t, dir), Size: 10000, SegmentSize: 2000})
			defer s.Close()
			if got := s.Reader("a").TakeLost(); !reflect.DeepEqual(got, ranges) || dropped == 0 || s.Reader("a").Left()+dropped != 400 {
				t.Errorf("%+v, want %+v; %d records dropped, %d left", got, ranges, dropped, s.Reader("a").Left())
			}
		})
	}
}

// killed copies a spool's folder as a process that is killed now would leave it.
func killed(t *testing.T, dir string) string {
	t.Helper()
	for {
		to := filepath.Join(t.TempDir(), "killed")
		err := os.CopyFS(to, os.DirFS(dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the spool renamed a file meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
}

// TestOlderPositionsDoNotReplaceDrops: a Sync that has read the positions before a segment is
// dropped does not overwrite those that the drop has written.
func TestOlderPositionsDoNotReplaceDrops(t *testing.T) {
	s := open(t, Options{Directory: t.TempDir(), Size: 4000, SegmentSize: 2000})
	defer s.Close()
	s.Reader("a").Start()
	add(t, s, packets(0, 9)...)
	s.syncing.Lock() // as Sync: the spool's own writes to the same file
	defer s.syncing.Unlock()
	s.mu.Lock()
	before, drops := s.positions(), s.drops
	s.mu.Unlock()
	for n := uint32(10); n < 40; n++ {
		add(t, s, packet(n))
	}
	if err := s.writePositions(before, drops); err != nil {
		t.Fatal(err)
	}
	p, err := s.readPositions()
	if err != nil || len(p.Lost["a"]) != 1 || p.Outputs["a"] == before.Outputs["a"] {
		t.Errorf("%v: %+v", err, p)
	}
}

// TestDropsThatCannotBeNoted count as failures, and the spool goes on without the segment.
func TestDropsThatCannotBeNoted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir, SegmentSize: 2000})
	defer s.Close()
	s.Reader("a").Start()
	add(t, s, packets(0, 40)...)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	os.Remove(s.positionsPath())
	if err := os.MkdirAll(filepath.Join(s.positionsPath(), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(s.positionsPath())
	failed, segments := s.failures, len(s.segments)
	if dropped := s.dropOldest(nil); len(dropped) != 1 || s.failures != failed+1 || len(s.segments) != segments-1 {
		t.Errorf("dropped %+v, %d failures, %d of %d segments left", dropped, s.failures-failed, len(s.segments), segments)
	}
}

// TestDropsAreNotedOnTheDisk: the positions that a drop notes are on the disk before they replace the
// old ones, which stay where that fails.
func TestDropsAreNotedOnTheDisk(t *testing.T) {
	s := still(t, Options{Directory: t.TempDir(), SegmentSize: 2000})
	defer s.Close()
	s.Reader("a").Start()
	add(t, s, packets(0, 40)...)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	old, _ := os.ReadFile(s.positionsPath())
	bad := s.positionsPath() + ".dropped"
	names := failingSyncs(t, func(name string) bool { return name == bad })
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.noteDropped(); err == nil || !slices.Equal(*names, []string{bad}) {
		t.Errorf("error %v, synced %q", err, *names)
	}
	if now, _ := os.ReadFile(s.positionsPath()); !slices.Equal(now, old) {
		t.Errorf("positions %q, were %q", now, old)
	}
	bad = ""
	s.readers["a"].acked.Offset++ // so that the new ones differ from the old
	if err := s.noteDropped(); err != nil {
		t.Error(err)
	}
	if now, _ := os.ReadFile(s.positionsPath()); slices.Equal(now, old) {
		t.Error("the old positions are left")
	}
}

// TestSegmentsThatNobodyNeedsAnyMore: those that a process acknowledged and did not come to
// remove before it was killed, the next one removes.
func TestSegmentsThatNobodyNeedsAnyMore(t *testing.T) {
	s := open(t, Options{Directory: t.TempDir(), SegmentSize: 2000})
	defer s.Close()
	a := s.Reader("a")
	a.Start()
	for n := range uint32(40) {
		add(t, s, packet(n))
	}
	before := killed(t, s.o.Directory)
	drain(t, a)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(s.positionsPath())
	if err == nil {
		err = os.WriteFile(filepath.Join(before, filepath.Base(s.positionsPath())), after, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	next := open(t, Options{Directory: before, SegmentSize: 2000})
	defer next.Close()
	if left, _ := filepath.Glob(filepath.Join(before, "spool-*.pcap")); len(left) != 1 || next.Reader("a").Left() != 0 {
		t.Errorf("%d segments, %d records left", len(left), next.Reader("a").Left())
	}
}

// TestDropUnderAReader: a segment is dropped while a reader stands in the middle of it.
func TestDropUnderAReader(t *testing.T) {
	s := open(t, Options{Directory: t.TempDir(), Size: 4000, SegmentSize: 2000})
	defer s.Close()
	a := s.Reader("a")
	a.Start()
	add(t, s, packets(0, 9)...)
	var got []uint64
	for range 3 {
		e, _, _, _ := a.Next()
		got = append(got, e.Sequence)
	}
	var dropped uint64
	for n := uint32(10); n < 40; n++ {
		for _, d := range add(t, s, packet(n)) {
			dropped += d.Records
		}
	}
	got = append(got, drain(t, a)...)
	if uint64(len(got))*2+dropped != 80 || got[2] != 2 || got[len(got)-1] != 39 {
		t.Errorf("read %v, %d records dropped", got, dropped)
	}
}

// TestFullDisk: entries that do not fit on the disk are refused as a whole, and are taken when
// there is room again; with more than one segment, the oldest one is dropped for them.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatalf("%v: this test mounts a small tmpfs and needs root", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	s := open(t, Options{Directory: dir, SegmentSize: 1 << 20})
	r := s.Reader("a")
	r.Start()
	n, refused := uint32(0), false
	for ; n < 5000 && !refused; n++ {
		_, _, err := s.Append([]Entry{packet(n)}, nil)
		refused = errors.Is(err, syscall.ENOSPC)
	}
	if !refused {
		t.Fatal("never full")
	}
	got := drain(t, r)
	wantNumbers(t, got, span(0, uint64(n)-2))
	if info, err := os.Stat(s.path(1)); err != nil || info.Size() != s.used() {
		t.Errorf("the segment has %d bytes, want %d: a part of an entry is left", info.Size(), s.used())
	}
	s.o.SegmentSize = 50000
	s.Close()

	s = open(t, Options{Directory: dir, SegmentSize: 50000})
	defer s.Close()
	r = s.Reader("a")
	r.Finish()
	r.Release()
	r.Start()
	var dropped uint64
	for n := range uint32(5000) {
		for _, d := range add(t, s, packet(n)) {
			dropped += d.Records
		}
	}
	if dropped == 0 || dropped+r.Left() != 10000 {
		t.Errorf("%d records dropped, %d left", dropped, r.Left())
	}
}

func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir})
	defer s.Close()
	if _, err := Open(Options{Directory: dir, Size: 1 << 30}); err == nil || !strings.Contains(err.Error(), "another process has it") {
		t.Errorf("two processes have the same spool: %v", err)
	}
}

func TestBadPositions(t *testing.T) {
	for _, c := range []struct {
		name, json string
		fails      bool
		left       uint64
	}{
		{"garbage", "x", true, 0},
		{"of a segment that is gone", `{"version":1,"outputs":{"a":{"segment":0,"offset":5}}}`, false, 6},
		{"beyond the end", `{"version":1,"outputs":{"a":{"segment":7,"offset":5}}}`, false, 0},
		{"within the file's header", `{"version":1,"outputs":{"a":{"segment":1,"offset":5}}}`, false, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Options{Directory: dir})
			s.Reader("a").Start()
			add(t, s, packets(1, 3)...)
			s.Close()
			os.WriteFile(filepath.Join(dir, "positions.json"), []byte(c.json), 0o600)
			s, err := Open(Options{Directory: dir, Size: 1 << 30})
			if (err != nil) != c.fails {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			defer s.Close()
			if left := s.Reader("a").Left(); left != c.left || uint64(len(drain(t, s.Reader("a"))))*2 != c.left {
				t.Errorf("%d records left", left)
			}
		})
	}
}

func FuzzSegment(f *testing.F) {
	e := packet(1)
	f.Add(appendEntry(nil, &e))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := memoryDir(t)
		os.WriteFile(filepath.Join(dir, "spool-0000000001.pcap"), append(appendFileHeader(nil), b...), 0o600)
		os.WriteFile(filepath.Join(dir, "positions.json"), []byte(`{"version":1,"outputs":{"a":{"segment":1,"offset":24}}}`), 0o600)
		s := open(t, Options{Directory: dir})
		defer s.Close()
		add(t, s, packet(5))
		if got := drain(t, s.Reader("a")); len(got) == 0 || got[len(got)-1] != 5 {
			t.Errorf("read %v", got)
		}
	})
}

// memoryDir makes a directory in memory: a spool syncs its files, and on a busy disk one sync may
// take so long that the fuzzer takes the target for hung.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "intsink-spool")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func BenchmarkAppend(b *testing.B) {
	s := open(b, Options{Directory: b.TempDir()})
	defer s.Close()
	batch := packets(0, 63)
	b.SetBytes(64 * 100)
	for b.Loop() {
		add(b, s, batch...)
	}
}

// TestRest: entries that an output had in memory are read before those on disk, at each start
// until they are acknowledged.
func TestRest(t *testing.T) {
	o := Options{Directory: t.TempDir()}
	s := open(t, o)
	add(t, s, packets(90, 95)...) // before a starts, so not for a
	r := s.Reader("a")
	r.Start()
	add(t, s, packets(10, 12)...)
	if err := r.KeepRest(packets(5, 9)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for range 2 {
		s = open(t, o)
		r = s.Reader("a")
		if r.Left() != 16 || r.Finish() {
			t.Errorf("%d records left", r.Left())
		}
		var got []uint64
		for {
			e, end, ok, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if (end == Position{}) != (e.Sequence < 10) {
				t.Errorf("entry %d ends at %v", e.Sequence, end)
			}
			got = append(got, e.Sequence)
		}
		wantNumbers(t, got, span(5, 12))
		s.Close()
	}
	s = open(t, o)
	s.Reader("a").RestDone()
	s.Close()
	s = open(t, o)
	defer s.Close()
	wantNumbers(t, drain(t, s.Reader("a")), span(10, 12))
}

// TestSyncOfAClosedFile: datasync of a closed file gives os.ErrClosed, which Sync tells from a
// disk that fails: a segment that was finished meanwhile was synced then.
func TestSyncOfAClosedFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "segment"))
	if err != nil {
		t.Fatal(err)
	}
	if err := datasync(f); err != nil {
		t.Errorf("an open file: %v", err)
	}
	f.Close()
	if err := datasync(f); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
}

// TestSyncWaitsForOneUnderWay: when Sync returns, the positions are on the disk, including
// those that another Sync has read and is still writing: that one holds the lock syncing.
func TestSyncWaitsForOneUnderWay(t *testing.T) {
	s, err := Open(Options{Directory: t.TempDir(), Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.syncing.Lock()
	returned := make(chan struct{})
	go func() {
		s.Sync()
		close(returned)
	}()
	for range 100 {
		runtime.Gosched()
		select {
		case <-returned:
			t.Fatal("Sync returned while another was under way")
		default:
		}
	}
	s.syncing.Unlock()
	<-returned
}
