// Opens a log that an earlier process left: finds segments, indexes and positions, whatever of them is there.

package spool

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"intsink/exporters/collect/streams"
)

// recover reads the folder that an earlier process left. What follows goes into a new segment.
func (s *Spool) recover() error {
	p, found, err := s.readPositions()
	if err != nil {
		return err
	}
	numbers, err := s.numbers()
	if err != nil {
		return err
	}
	whole := true // every entry that was written is in its file
	var own []string
	for _, n := range numbers {
		s.next = n + 1
		if x, ok := s.readIndex(n); ok {
			own = append(own, x.Spool)
		}
		if whole, err = s.load(n); err != nil {
			return err
		}
	}
	if len(own) > 0 && found && p.Spool != "" && !slices.Contains(own, p.Spool) {
		p, found = positionsFile{}, false // of another log
	}
	s.id = cmp.Or(p.Spool, cmp.Or(own...), rand.Text())
	s.whole = whole && found && p.Boot == bootID()
	for name, at := range p.Outputs {
		s.next = max(s.next, at.Segment+1)
		r := &Reader{s: s, name: name, acked: at, lost: p.Lost[name], doneRecs: p.Done[name].Records}
		r.done.addAll(p.Done[name].Ranges)
		found = s.settle(r) && found
		s.readers[name] = r
	}
	if !found {
		s.deliverAgain(p)
	}
	for _, old := range s.others("rest-*.pcap") {
		s.o.Log("spool: a file of an earlier version is not read; intsink decode shows what is in it", "file", old)
	}
	return nil
}

// deliverAgain lets every output begin with the first segment: where it was is not known.
func (s *Spool) deliverAgain(p positionsFile) {
	if s.again = len(s.segments) > 0; !s.again {
		return
	}
	n := uint64(0)
	for _, g := range s.segments {
		n += g.records
	}
	first := Position{s.segments[0].number, fileHeaderLen}
	for name := range p.Outputs {
		s.readers[name] = &Reader{s: s, name: name, acked: first, read: first, lost: p.Lost[name]}
	}
	s.o.Log("spool: there are no positions of these segments: all of them are delivered again to every output", "file", s.positionsPath(), "records", n)
}

func (s *Spool) others(pattern string) []string {
	names, err := filepath.Glob(filepath.Join(s.o.Directory, pattern))
	if err != nil { // of a pattern
		panic(err)
	}
	return names
}

// numbers returns the numbers of the segments and indexes in the folder, in rising order.
func (s *Spool) numbers() (all []uint64, err error) {
	if _, err := os.ReadDir(s.o.Directory); err != nil {
		return nil, err
	}
	for _, name := range append(s.others("spool-*.pcap"), s.others("index-*.json")...) {
		_, digits, _ := strings.Cut(filepath.Base(name), "-")
		digits, _, _ = strings.Cut(digits, ".")
		n, err := strconv.ParseUint(digits, 10, 64)
		if err == nil && (s.path(n) == name || s.indexPath(n) == name) && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// readFile reads a whole file: a variable, so that tests let it fail.
var readFile = os.ReadFile

// damaged reports whether err says that a segment, or a part of it, is not there any more: it ends too early, or
// the disk does not give it back. Other errors may be mended by who runs the collector, such as a right
// that is missing, and nothing is passed over for them.
func damaged(err error) bool {
	for _, e := range []error{errTorn, errCorrupt, io.EOF, os.ErrNotExist, syscall.EIO, syscall.ENODATA, syscall.EBADMSG, syscall.EUCLEAN} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// away reports whether err comes of a folder that is not there at all: its disk is not mounted, say.
func (s *Spool) away(err error) bool {
	if !errors.Is(err, os.ErrNotExist) {
		return false
	}
	return s.disk.do(func() error {
		_, err := os.Stat(s.o.Directory)
		return err
	}, nil) != nil
}

// load adds a segment. Where its index says how much is in the file, it is not read now: what cannot be
// read is found by those that need it. It returns whether the file is as long as it was.
func (s *Spool) load(number uint64) (whole bool, err error) {
	g := &segment{number: number, size: fileHeaderLen}
	x, indexed := s.readIndex(number)
	if indexed {
		g.size, g.indexed, g.final, g.records = x.Size, x.Size, x.Final, x.Records
		g.sum.addAll(x.Ranges)
		g.missing.addAll(x.Missing)
	} else {
		g.missing = s.missingBefore()
	}
	size := int64(-1)
	if info, err := os.Stat(s.path(number)); err == nil {
		size = info.Size()
	} else if !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	s.segments = append(s.segments, g)
	switch {
	case indexed && size == x.Size:
		return true, nil
	case indexed && size < x.Size:
		g.bad = size >= 0
		s.corrupt++
		s.o.Log("spool: a segment is missing, or a part of it", "file", s.path(number), "bytes", x.Size-max(size, 0), "records_in_it", g.records)
		return x.Final, nil
	}
	b, failed := readFile(s.path(number))
	if failed != nil && !damaged(failed) {
		return false, failed
	}
	end, passed := walk(b, g.size, int64(len(b)), func(e *Entry, _ int64, _ int) {
		g.records += uint64(e.Records)
		g.sum.addEntry(e)
		g.noteMissing(e)
	})
	g.size = max(g.size, end)
	if passed > 0 || failed != nil {
		g.bad = true
		s.corrupt++
		s.o.Log("spool: a part of a segment cannot be read", "file", s.path(number), "bytes", passed, "err", failed)
	}
	return failed == nil, nil
}

// settle finds how much a reader has read of its segment. It returns false if its position is none of this log.
func (s *Spool) settle(r *Reader) bool {
	g := s.find(r.acked.Segment)
	switch {
	case g == nil:
		r.read, r.done, r.doneRecs = r.acked, merger{}, 0
		return len(s.segments) == 0
	case g.number != r.acked.Segment: // it has delivered the segment, which is gone
		r.acked = Position{g.number, fileHeaderLen}
		r.read, r.done, r.doneRecs = r.acked, merger{}, 0
		return true
	}
	r.acked.Offset = max(r.acked.Offset, fileHeaderLen)
	if r.read = r.acked; r.acked.Offset > g.size {
		return false
	}
	r.consumed = r.doneRecs
	return true
}

// States returns, of each stream in the log, the number behind its last one, and the numbers that were missing when the process
// before was killed: no gap record tells of them yet. exact says that no report packet came that is not in the log.
func (s *Spool) States() (all []streams.State, missing []streams.Gap, exact bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, packets, unnumbered := map[run]uint64{}, map[run]uint64{}, map[run]bool{}
	add := func(ranges []Range) {
		for _, r := range ranges {
			k := run{r.Key, r.Start}
			next[k] = max(next[k], r.Last+1)
			packets[k] += r.Packets
			unnumbered[k] = unnumbered[k] || r.Unnumbered
		}
	}
	for _, g := range s.segments {
		add(g.sum.all)
	}
	for _, r := range s.readers {
		add(r.done.all)
		add(r.lost)
	}
	newest := map[streams.Key]run{}
	for k := range next {
		// A few packets with a start of their own may be noise, which is no stream yet.
		sure, old := packets[k] >= streams.Enough, newest[k.key]
		oldSure := packets[old] >= streams.Enough
		if old.start == 0 || sure && (!oldSure || old.start < k.start) || !sure && !oldSure && k.start < old.start {
			newest[k.key] = k
		}
	}
	for k, at := range newest {
		if unnumbered[at] || packets[at] == 1 && k.Instance == 0 { // that of a switch that does not number its packets looks like this one
			continue
		}
		all = append(all, streams.State{Exporter: k.Exporter, Collector: k.Collector, Node: k.Node, HwID: k.HwID, Version: k.Version, Start: at.start, Next: next[at], Instance: k.Instance, Began: k.Began, Few: packets[at] < streams.Enough})
	}
	if g := s.last(); g != nil {
		for _, r := range g.stillMissing() {
			missing = append(missing, r.Gap)
		}
	}
	return all, missing, s.whole
}
