package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

var (
	sink      = netip.MustParseAddrPort("192.0.2.1:49152")
	collector = netip.MustParseAddrPort("192.0.2.10:8555")
)

// packet returns an entry with report packet n of node 3 and hw_id 5, of 100 bytes and two records.
func packet(n uint32) Entry {
	b := make([]byte, 100)
	binary.BigEndian.PutUint32(b, 2<<28|5<<22|n&0x3fffff)
	binary.BigEndian.PutUint32(b[4:], 3)
	return Entry{Received: 1700000000e9 + int64(n), From: sink, To: collector, Start: 1600000000e9, Sequence: uint64(n), Records: 2, Payload: b}
}

var entrySize = int64(len(appendEntry(nil, &Entry{From: sink, To: collector, Payload: make([]byte, 100)})))

// ten is the size of a segment of ten packets.
var ten = fileHeaderLen + 10*entrySize

// lines keeps what was logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) log(msg string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprint(append([]any{msg}, args...)...))
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.all, func(line string) bool { return strings.Contains(line, text) })
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

func shut(t testing.TB, s *Spool) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// add appends packets, each for itself, and returns how many records each output lost.
func add(t testing.TB, s *Spool, from, to uint32) map[string]uint64 {
	t.Helper()
	lost := map[string]uint64{}
	for n := from; n <= to; n++ {
		_, _, dropped, err := s.Append([]Entry{packet(n)})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dropped {
			lost[d.Output] += d.Records
		}
	}
	return lost
}

// got is what a reader read, and what it was told as lost: how often, by number.
type got struct {
	read, told map[uint64]int
	records    uint64 // lost, as LostError says
}

// read reads n entries, or all.
func read(t testing.TB, r *Reader, n int, ack bool) got {
	t.Helper()
	g := got{map[uint64]int{}, map[uint64]int{}, 0}
	end := r.s.End()
	for n > 0 {
		e, at, ok, err := r.Next(end)
		var l *LostError
		if errors.As(err, &l) {
			g.records += l.Records
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		g.read[e.Sequence]++
		if n--; ack {
			r.Ack(at, []Entry{e})
		}
	}
	for _, x := range r.TakeLost() {
		for i := x.First; i <= x.Last; i++ {
			g.told[i]++
		}
	}
	return g
}

// sum fails the test unless each number from from to to was read or told as lost once, and no other.
func (g got) sum(t testing.TB, from, to uint64) {
	t.Helper()
	for i := from; i <= to; i++ {
		if g.read[i]+g.told[i] != 1 {
			t.Fatalf("%d was read %d times and told as lost %d times", i, g.read[i], g.told[i])
		}
	}
	if len(g.read)+len(g.told) != int(to-from+1) {
		t.Errorf("%d numbers read and %d told as lost, want %d to %d", len(g.read), len(g.told), from, to)
	}
}

// old makes a folder with 55 packets in six segments, of which "some" has delivered 23, "none" none, and "all" all.
func old(t testing.TB) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "spool")
	s := open(t, Options{Directory: dir, SegmentSize: ten})
	some, all := s.Reader("some"), s.Reader("all")
	s.Reader("none")
	add(t, s, 1, 55)
	read(t, some, 23, true)
	read(t, all, 55, true)
	shut(t, s)
	return dir
}

func segmentPath(dir string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("spool-%010d.pcap", n))
}

// flip flips a bit of a file.
func flip(t testing.TB, path string, at int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 4
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamage: whatever of a log is missing or damaged at a start, each output reads what is there behind its position,
// and is told of all else that it does not have, by number; nothing that it has is told as lost. What cannot be read is kept aside.
func TestDamage(t *testing.T) {
	remove := func(numbers ...int) func(t testing.TB, dir string) {
		return func(t testing.TB, dir string) {
			for _, n := range numbers {
				if err := os.Remove(segmentPath(dir, n)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t testing.TB, dir string)
		lost   [2]int // report packets of "none" and of "some"
		aside  int    // segment that is kept aside; 0: none
	}{
		{"nothing", func(testing.TB, string) {}, [2]int{}, 0},
		{"the first segment", remove(1), [2]int{10, 0}, 0},
		{"one in the middle", remove(4), [2]int{10, 10}, 0},
		{"the one with a position", remove(3), [2]int{10, 7}, 0},
		{"the last", remove(6), [2]int{5, 5}, 0},
		{"first, middle and last", remove(1, 2, 4, 6), [2]int{35, 15}, 0},
		{"all", remove(1, 2, 3, 4, 5, 6), [2]int{55, 32}, 0},
		{"a bit", func(t testing.TB, dir string) { flip(t, segmentPath(dir, 5), fileHeaderLen+2*entrySize+60) }, [2]int{1, 1}, 5},
		{"a length", func(t testing.TB, dir string) { flip(t, segmentPath(dir, 5), fileHeaderLen+2*entrySize+9) }, [2]int{1, 1}, 5},
		{"a mark", func(t testing.TB, dir string) { flip(t, segmentPath(dir, 5), fileHeaderLen+3*entrySize-7) }, [2]int{1, 1}, 5},
		{"a bit of what some has", func(t testing.TB, dir string) { flip(t, segmentPath(dir, 3), fileHeaderLen+60) }, [2]int{1, 0}, 3},
		{"a bit at the position", func(t testing.TB, dir string) { flip(t, segmentPath(dir, 3), fileHeaderLen+3*entrySize+60) }, [2]int{1, 1}, 3},
		{"bits of three", func(t testing.TB, dir string) {
			for _, i := range []int64{1, 4, 9} {
				flip(t, segmentPath(dir, 4), fileHeaderLen+i*entrySize+60)
			}
		}, [2]int{3, 3}, 4},
		{"a bit in the last segment", func(t testing.TB, dir string) { flip(t, segmentPath(dir, 6), fileHeaderLen+entrySize+60) }, [2]int{1, 1}, 6},
		{"the last entry", func(t testing.TB, dir string) { os.Truncate(segmentPath(dir, 6), fileHeaderLen+5*entrySize-1) }, [2]int{1, 1}, 6},
		{"the end of a segment in the middle", func(t testing.TB, dir string) { os.Truncate(segmentPath(dir, 3), fileHeaderLen+2*entrySize) }, [2]int{8, 7}, 3},
		{"all of a segment but its name", func(t testing.TB, dir string) { os.Truncate(segmentPath(dir, 4), 0) }, [2]int{10, 10}, 4},
		{"rubbish behind the last", func(t testing.TB, dir string) {
			f, err := os.OpenFile(segmentPath(dir, 6), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.Write(make([]byte, 300))
			f.Close()
		}, [2]int{}, 6},
		{"an index", func(t testing.TB, dir string) { os.Remove(filepath.Join(dir, "index-0000000004.json")) }, [2]int{}, 0},
		{"all indexes", func(t testing.TB, dir string) {
			for n := 1; n <= 6; n++ {
				os.WriteFile(filepath.Join(dir, fmt.Sprintf("index-%010d.json", n)), []byte("{"), 0o600)
			}
		}, [2]int{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, log := old(t), &lines{}
			c.damage(t, dir)
			s := open(t, Options{Directory: dir, SegmentSize: ten, Log: log.log})
			add(t, s, 56, 60)
			for i, name := range []string{"none", "some"} {
				r, from := s.Reader(name), [2]uint64{1, 24}[i]
				waits := r.Left()
				g := read(t, r, 1000, true)
				g.sum(t, from, 60)
				if len(g.told) != c.lost[i] || g.records != 2*uint64(c.lost[i]) || waits != 2*(60-from+1) || r.Left() != 0 {
					t.Errorf("%s: %d packets and %d records lost, want %d packets; %d records waited, %d are left", name, len(g.told), g.records, c.lost[i], waits, r.Left())
				}
			}
			read(t, s.Reader("all"), 1000, true).sum(t, 56, 60)
			shut(t, s)
			aside, _ := filepath.Glob(filepath.Join(dir, "damaged-*"))
			want := []string(nil)
			if c.aside > 0 {
				want = []string{filepath.Join(dir, fmt.Sprintf("damaged-%010d.pcap", c.aside))}
			}
			if !slices.Equal(aside, want) {
				t.Errorf("kept aside: %v, want %v", aside, want)
			}
			if _, corrupt := s.Failures(); (corrupt > 0) != (c.lost[0] > 0 || c.aside > 0) {
				t.Errorf("%d segments count as corrupt", corrupt)
			}
		})
	}
}

// TestDamageAtRandom: bits, cuts and missing segments at random, while the log is in use as well.
func TestDamageAtRandom(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir := old(t)
		s := open(t, Options{Directory: dir, SegmentSize: ten})
		if r.IntN(2) == 0 {
			shut(t, s)
			s = nil
		}
		for range 1 + r.IntN(3) {
			path := segmentPath(dir, 1+r.IntN(6))
			if info, err := os.Stat(path); err == nil {
				switch r.IntN(3) {
				case 0:
					os.Remove(path)
				case 1:
					os.Truncate(path, r.Int64N(info.Size()+1))
				case 2:
					if info.Size() > 0 {
						flip(t, path, r.Int64N(info.Size()))
					}
				}
			}
		}
		if s == nil {
			s = open(t, Options{Directory: dir, SegmentSize: ten})
		}
		add(t, s, 56, 60)
		for i, name := range []string{"none", "some"} {
			read(t, s.Reader(name), 1000, true).sum(t, [2]uint64{1, 24}[i], 60)
		}
		shut(t, s)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestLostPositions: without positions, or with those of another log, all outputs get everything again, and the
// log says how many records that are.
func TestLostPositions(t *testing.T) {
	other := old(t)
	for name, damage := range map[string]func(path string) error{
		"none":            os.Remove,
		"not JSON":        func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"another version": func(path string) error { return os.WriteFile(path, []byte(`{"version":2}`), 0o600) },
		"a segment to come": func(path string) error {
			return os.WriteFile(path, []byte(`{"version":1,"outputs":{"some":{"segment":999,"offset":24}}}`), 0o600)
		},
		"behind its segment": func(path string) error {
			return os.WriteFile(path, []byte(`{"version":1,"outputs":{"some":{"segment":6,"offset":99999}}}`), 0o600)
		},
		"those of another log": func(path string) error { return os.Rename(filepath.Join(other, "positions.json"), path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, log := old(t), &lines{}
			if err := damage(filepath.Join(dir, "positions.json")); err != nil {
				t.Fatal(err)
			}
			s := open(t, Options{Directory: dir, SegmentSize: ten, Log: log.log})
			defer shut(t, s)
			add(t, s, 56, 60)
			for _, name := range []string{"some", "all", "new"} {
				read(t, s.Reader(name), 1000, true).sum(t, 1, 60)
			}
			if !log.has("records110") {
				t.Errorf("logged %q", log.all)
			}
		})
	}
	t.Run("a position in a segment that all had passed", func(t *testing.T) {
		dir := old(t)
		s := open(t, Options{Directory: dir, SegmentSize: ten})
		read(t, s.Reader("none"), 1000, true)
		read(t, s.Reader("some"), 1000, true)
		before, _ := os.ReadFile(filepath.Join(dir, "positions.json"))
		add(t, s, 56, 60)
		shut(t, s)
		os.WriteFile(filepath.Join(dir, "positions.json"), before, 0o600)
		s = open(t, Options{Directory: dir, SegmentSize: ten})
		defer shut(t, s)
		g := read(t, s.Reader("some"), 1000, true)
		if g.read[60] != 1 || len(g.told) > 0 {
			t.Errorf("%d read, %d told as lost", len(g.read), len(g.told))
		}
	})
}

// TestFullLog: the oldest segment goes, on disk and in memory; who had not read it loses its records, counted, and is told of each;
// a segment of which an output was sent records that it has not settled stays, while another can go.
func TestFullLog(t *testing.T) {
	for name, o := range map[string]Options{
		"disk":   {Size: 5 * ten, SegmentSize: ten},
		"memory": {Memory: 5 * ten},
	} {
		t.Run(name, func(t *testing.T) {
			if o.Size > 0 {
				o.Directory = t.TempDir()
			}
			s := open(t, o)
			defer shut(t, s)
			slow, fast := s.Reader("slow"), s.Reader("fast")
			add(t, s, 1, 5)
			first := read(t, slow, 5, false) // sent, and not settled
			lost := add(t, s, 6, 500)
			if _, size := s.Usage(); size != o.Size && o.Size > 0 || s.used(o.Size == 0) > 6*ten {
				t.Errorf("%d bytes", s.used(o.Size == 0))
			}
			if o.Size > 0 && s.segments[0].number != 1 {
				t.Errorf("the first segment is %d", s.segments[0].number)
			}
			for r, want := range map[*Reader]uint64{slow: lost["slow"], fast: lost["fast"]} {
				g := read(t, r, 1000, true)
				if r == slow {
					for n := range first.read {
						g.read[n]++
					}
				}
				g.sum(t, 1, 500)
				if want != 2*uint64(len(g.told)) || want == 0 {
					t.Errorf("%d records lost, %d report packets told", want, len(g.told))
				}
			}
		})
	}
}

// TestLostOutlivesTheProcess: what was lost with segments is told by the next process, however this one ends,
// until its gap records have arrived; so is what was sent and not settled, if its segment had to go.
func TestLostOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir, Size: 3 * ten, SegmentSize: ten})
	r := s.Reader("out")
	add(t, s, 1, 30)
	read(t, r, 25, false) // all segments have records that are not settled
	add(t, s, 31, 60)
	kill(s)
	s = open(t, Options{Directory: dir, SegmentSize: ten})
	r = s.Reader("out")
	read(t, r, 1000, true).sum(t, 1, 60)
	kill(s)
	s = open(t, Options{Directory: dir, SegmentSize: ten})
	r = s.Reader("out")
	told := 0
	for range read(t, r, 1000, true).told {
		told++
	}
	if told == 0 {
		t.Error("forgotten before the gap records have arrived")
	}
	r.LostTold()
	shut(t, s)
	s = open(t, Options{Directory: dir, SegmentSize: ten})
	defer shut(t, s)
	if g := read(t, s.Reader("out"), 1000, true); len(g.told) > 0 {
		t.Error("told again")
	}
}

// kill ends a log as SIGKILL does: only what is in files stays.
func kill(s *Spool) {
	close(s.stop)
	<-s.stopped
	s.lock.Close()
}

// TestGapRecordsAreToldAgain: an output that loses a gap record is told of the report packets that it is for.
func TestGapRecordsAreToldAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir, SegmentSize: ten})
	s.Reader("out")
	add(t, s, 1, 3)
	text := fmt.Sprintf(`{"type":%d,"version":2,"node_id":3,"hw_id":5,"port":8555,"first":4,"last":6,"count":3}`, record.Gap)
	e := Entry{Kind: Note, From: netip.AddrPortFrom(sink.Addr(), 0), To: netip.AddrPortFrom(collector.Addr(), 0), Start: 1600000000e9, Records: 1, Payload: []byte(text)}
	if _, _, _, err := s.Append([]Entry{e}); err != nil {
		t.Fatal(err)
	}
	add(t, s, 7, 60)
	shut(t, s)
	os.Remove(segmentPath(dir, 1))
	s = open(t, Options{Directory: dir, SegmentSize: ten})
	defer shut(t, s)
	g := read(t, s.Reader("out"), 1000, true)
	g.sum(t, 1, 60)
	if g.told[5] != 1 || len(g.told) < 9 {
		t.Errorf("told %v", g.told)
	}
}

// TestNumbersOfTheLog: after a kill, the log knows the next number of each stream; not after a start of the machine, or where its
// end is missing, and not of switches that do not number their packets.
func TestNumbersOfTheLog(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Directory: dir, SegmentSize: ten})
	r := s.Reader("out")
	add(t, s, 1, 25)
	plain := packet(0)
	plain.From, plain.Sequence = netip.MustParseAddrPort("192.0.2.7:1"), 40
	s.Append([]Entry{plain})
	read(t, r, 22, true)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	add(t, s, 26, 29)
	kill(s)
	s = open(t, Options{Directory: dir, SegmentSize: ten})
	all, _, exact := s.States()
	if len(all) != 1 || all[0].Next != 30 || all[0].Exporter != sink.Addr() || all[0].Collector != collector || !exact {
		t.Errorf("%+v, exact %v", all, exact)
	}
	kill(s)
	os.Truncate(segmentPath(dir, 3), fileHeaderLen)
	s = open(t, Options{Directory: dir, SegmentSize: ten})
	defer kill(s)
	if all, _, exact := s.States(); len(all) != 1 || all[0].Next < 26 || exact {
		t.Errorf("%+v, exact %v", all, exact)
	}
}

// TestSwappedSegments, and others that are where they do not belong, are read.
func TestSwappedSegments(t *testing.T) {
	dir := old(t)
	a, b := segmentPath(dir, 4), segmentPath(dir, 5)
	if err := errors.Join(os.Rename(a, a+".x"), os.Rename(b, a), os.Rename(a+".x", b)); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{Directory: dir, SegmentSize: ten})
	defer shut(t, s)
	read(t, s.Reader("some"), 1000, true).sum(t, 24, 55)
}

// TestDiskThatTakesNothing: entries go on in memory, up to its bound; then the oldest go, counted and told. When the disk
// takes entries again, those in memory are written to it, and read in order.
func TestDiskThatTakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	s := open(t, Options{Directory: dir, SegmentSize: ten, Memory: 32 * ten})
	s.Reader("out")
	add(t, s, 1, 15)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	lost := uint64(0)
	for n := uint32(16); n <= 1000; n++ {
		_, _, dropped, _ := s.Append([]Entry{packet(n)})
		for _, d := range dropped {
			if lost += d.Records; d.Why != SpoolFailed {
				t.Errorf("%+v", d)
			}
		}
	}
	if s.Failing() == nil || lost == 0 {
		t.Errorf("failing: %v, %d records lost", s.Failing(), lost)
	}
	os.Rename(dir+".away", dir)
	s.retry = s.retry.Add(-diskRetry)
	add(t, s, 1001, 1010)
	if err := s.Sync(); err != nil || s.Failing() != nil || s.used(true) > 0 {
		t.Errorf("%v, failing: %v, %d bytes in memory", err, s.Failing(), s.used(true))
	}
	kill(s)
	s = open(t, Options{Directory: dir, SegmentSize: ten})
	defer shut(t, s)
	r := s.Reader("out")
	g := read(t, r, 2000, true)
	g.sum(t, 1, 1010)
	if lost != 2*uint64(len(g.told)) {
		t.Errorf("%d records lost, %d packets told", lost, len(g.told))
	}
}

// TestAbandon: what is in memory at the end, and the disk does not take, is counted and told by the next process.
func TestAbandon(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	s := open(t, Options{Directory: dir, SegmentSize: ten})
	r := s.Reader("out")
	add(t, s, 1, 10)
	read(t, r, 10, false)
	os.Rename(dir, dir+".away")
	s.Append([]Entry{packet(11), packet(12)})
	read(t, r, 1, false)
	r.Return(Position{1, fileHeaderLen})
	if err := s.Sync(); err == nil {
		t.Error("no error")
	}
	if dropped := s.Abandon(); len(dropped) != 1 || dropped[0] != (Dropped{"out", 4, Stopped}) {
		t.Errorf("%+v", dropped)
	}
	os.Rename(dir+".away", dir)
	shut(t, s)
	s = open(t, Options{Directory: dir, SegmentSize: ten})
	defer shut(t, s)
	read(t, s.Reader("out"), 100, true).sum(t, 1, 12)
}

// TestBadSectors: what the disk does not give back counts as damaged; an error of another kind refuses the start, or is tried again.
func TestBadSectors(t *testing.T) {
	dir := old(t)
	os.Remove(filepath.Join(dir, "index-0000000006.json"))
	defer func() { readFile = os.ReadFile }()
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EBADMSG, syscall.EACCES} {
		readFile = func(path string) ([]byte, error) {
			b, _ := os.ReadFile(path)
			return b[:fileHeaderLen+3*entrySize-20], errno
		}
		s, err := Open(Options{Directory: dir, Size: 1 << 30})
		if (err == nil) != (errno != syscall.EACCES) {
			t.Errorf("%v: %v", errno, err)
		}
		if err != nil {
			continue
		}
		if _, corrupt := s.Failures(); corrupt != 1 {
			t.Errorf("%d corrupt segments", corrupt)
		}
		kill(s)
	}
}

// TestRanges: what is lost less what is not.
func TestRanges(t *testing.T) {
	k := streams.Key{Exporter: sink.Addr(), Collector: collector, Node: 3, Version: 2}
	r := func(first, last uint64) Range {
		return Range{Gap: streams.Gap{Key: k, Start: 1, First: first, Last: last}, Packets: last - first + 1}
	}
	for _, c := range []struct{ all, others, want []Range }{
		{[]Range{r(1, 10)}, nil, []Range{r(1, 10)}},
		{[]Range{r(1, 10)}, []Range{r(1, 10)}, nil},
		{[]Range{r(1, 10)}, []Range{r(5, 6), r(1, 1)}, []Range{r(2, 4), r(7, 10)}},
		{[]Range{r(5, 10)}, []Range{r(1, 5), r(10, 12)}, []Range{r(6, 9)}},
		{[]Range{r(0, 3), r(6, 6)}, []Range{r(0, 0), r(3, 9)}, []Range{r(1, 2)}},
	} {
		if got := without(c.all, c.others); !slices.Equal(got, c.want) {
			t.Errorf("%v without %v: %v, want %v", c.all, c.others, got, c.want)
		}
	}
	var m merger
	for n := range uint64(3 * maxRanges) {
		m.add(r(2*n, 2*n))
	}
	if last := m.all[len(m.all)-1]; len(m.all) != maxRanges || last.Last != 6*maxRanges-2 || last.Packets != 2*maxRanges+1 {
		t.Errorf("%d ranges, the last %+v", len(m.all), last)
	}
}

// TestMissingAtAKill: what was missing when a process was killed is what its packets say was missing in front of them, without what
// came late or was told: also where the segments before are gone, and a late packet of one of them is in the last.
func TestMissingAtAKill(t *testing.T) {
	dir := t.TempDir()
	o := Options{Directory: dir, SegmentSize: ten}
	behind := func(n, skipped uint32) Entry {
		e := packet(n)
		e.Skipped = skipped
		return e
	}
	s := open(t, o)
	r := s.Reader("out")
	s.Append([]Entry{packet(1), packet(2), behind(4, 1), behind(8, 3), packet(5)})
	read(t, r, 5, true)
	s.Rotate()
	s.Append([]Entry{packet(3), packet(9), behind(20, 10), packet(15)})
	read(t, r, 1, true)
	for range 2 { // the first writes the index, so that the segment that is delivered goes
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(segmentPath(dir, 1)); err == nil {
		t.Fatal("the first segment is still there")
	}
	kill(s)
	s = open(t, o)
	defer kill(s)
	all, missing, _ := s.States()
	if len(all) != 1 || !all[0].Few {
		t.Errorf("nine packets may be no stream: %+v", all)
	}
	var got []string
	for _, g := range missing {
		got = append(got, fmt.Sprint(g.First, "-", g.Last))
	}
	if want := "6-7 10-14 16-19"; strings.Join(got, " ") != want {
		t.Errorf("%s are missing, want %s", got, want)
	}
}

// TestMemoryIsUsedAgain: segments in memory that go leave it to the next ones, unless a reader has a part of it.
func TestMemoryIsUsedAgain(t *testing.T) {
	s, err := Open(Options{Memory: 16 * 1000})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Reader("slow")
	memory := map[*byte]bool{}
	fill := func() {
		for n := range uint32(1000) {
			s.Append([]Entry{packet(n)})
			memory[&s.last().mem[0]] = true
		}
	}
	fill()
	if len(memory) > 20 {
		t.Errorf("%d pieces of memory for 16 segments", len(memory))
	}
	e, _, ok, err := r.Next(s.End())
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	read := slices.Clone(e.Payload)
	fill()
	if !slices.Equal(e.Payload, read) {
		t.Error("an entry has changed after it was read")
	}
}
