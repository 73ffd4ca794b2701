// A segment of the log, on disk or in memory: Append writes to the last one; those that all have read go,
// and the oldest where the log is full.

package spool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"intsink/exporters/collect/streams"
)

// segment is a run of entries: a file, or memory where there is no folder or the disk takes nothing.
type segment struct {
	number  uint64
	size    int64 // of the header and the entries
	records uint64
	mem     []byte // its contents; nil: they are in its file
	lent    bool   // somebody else may hold mem
	sum     merger // what is lost without it; only of a file
	missing merger // numbers that were missing at its begin, or behind a packet in it; some of them came later
	indexed int64  // size that its index on the disk is for
	final   bool   // its index says that it is complete
	bad     bool   // something in it cannot be read
}

func (s *Spool) path(number uint64) string { return s.name("spool-%010d.pcap", number) }

func (s *Spool) name(format string, number uint64) string {
	return filepath.Join(s.o.Directory, fmt.Sprintf(format, number))
}

// last returns the segment that was begun last, nil if there is none.
func (s *Spool) last() *segment {
	if len(s.segments) == 0 {
		return nil
	}
	return s.segments[len(s.segments)-1]
}

// find returns the segment of that number, or else the next one; nil if there is none.
func (s *Spool) find(number uint64) *segment {
	if i := s.indexOf(number); i < len(s.segments) {
		return s.segments[i]
	}
	return nil
}

// indexOf is where find finds the segment, or how many there are.
func (s *Spool) indexOf(number uint64) int {
	i, _ := slices.BinarySearchFunc(s.segments, number, func(g *segment, n uint64) int { return cmp.Compare(g.number, n) })
	return i
}

// end returns the position of the next entry, or of the segment that will have it.
func (s *Spool) end() Position {
	if g := s.last(); g != nil {
		return Position{g.number, g.size}
	}
	return Position{s.next, fileHeaderLen}
}

// used returns the bytes of segments in files, or in memory.
func (s *Spool) used(memory bool) (n int64) {
	for _, g := range s.segments {
		if (g.mem != nil) == memory {
			n += g.size
		}
	}
	return n
}

// diskRetry is how long the disk is left alone after a failure.
const diskRetry = time.Second

// Append adds entries in order and returns where they begin and end. Where the disk does not take them,
// err says why, and they are in memory. dropped says what outputs lost because the log was full.
func (s *Spool) Append(entries []Entry) (start, end Position, dropped []Dropped, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, size := false, 0
	if s.o.Directory != "" {
		if err = s.failing; s.lock != nil && (err == nil || time.Now().After(s.retry)) {
			s.buf = s.buf[:0]
			for i := range entries {
				s.buf = appendEntry(s.buf, &entries[i])
			}
			size = len(s.buf)
			err = s.toFile(&dropped)
			file = err == nil
			s.failed(err)
		}
	}
	if !file {
		size = s.toMemory(entries, &dropped)
	}
	g := s.last()
	start = Position{g.number, g.size}
	for i := range entries {
		g.records += uint64(entries[i].Records)
		g.noteMissing(&entries[i])
		if file {
			g.sum.addEntry(&entries[i])
		}
	}
	if g.size += int64(size); file {
		if s.unsynced += int64(size); s.unsynced >= syncBytes {
			s.syncSoon()
		}
	}
	return start, Position{g.number, g.size}, dropped, err
}

// failed notes that the disk took entries, or why it did not.
func (s *Spool) failed(err error) {
	if s.failing = err; err == nil {
		return
	}
	s.failures++
	s.retry = time.Now().Add(diskRetry)
	s.finishFile()
}

// toFile writes s.buf to the last file, or to a new one. While the log or the disk is full, the oldest file goes.
func (s *Spool) toFile(dropped *[]Dropped) error {
	if g := s.last(); s.file != nil && g.size > fileHeaderLen && g.size+int64(len(s.buf)) > s.o.SegmentSize {
		s.finishFile()
	}
	for s.used(false)+int64(len(s.buf)) > s.o.Size && s.dropOldest(false, SpoolFull, dropped) {
	}
	for {
		err := s.write()
		if full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT); !full || !s.dropOldest(false, SpoolFull, dropped) {
			return err
		}
	}
}

// write writes s.buf behind the end of the last file; the end stays as it is.
func (s *Spool) write() error {
	if s.file == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	file, b, size := s.file, s.buf, s.last().size
	undo := func() { file.Truncate(size) } // what was written of the entries is in memory, too
	err := s.disk.do(func() error {
		_, err := file.WriteAt(b, size)
		if err != nil {
			undo()
		}
		return err
	}, func() {
		undo()
		file.Close()
	})
	if err == ErrHangs {
		s.file, s.buf = nil, nil // the call has them
	}
	return err
}

// create begins a segment in a new file.
func (s *Spool) create() error {
	path, file := s.path(s.next), (*os.File)(nil)
	remove := func() {
		file.Close()
		os.Remove(path)
	}
	err := s.disk.do(func() (err error) {
		if file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640); err != nil {
			return err
		}
		if _, err = file.Write(appendFileHeader(nil)); err != nil {
			remove()
		}
		return err
	}, func() {
		if file != nil {
			remove()
		}
	})
	if err == ErrHangs {
		s.next++ // until the file is removed, its name is taken
	}
	if err != nil {
		return err
	}
	s.file = file
	s.begin(&segment{size: fileHeaderLen})
	return nil
}

func (s *Spool) begin(g *segment) {
	g.missing = s.missingBefore()
	g.number = s.next
	s.next++
	s.segments = append(s.segments, g)
}

// missingBefore returns the numbers that are missing when a segment begins behind the last one.
func (s *Spool) missingBefore() (m merger) {
	if g := s.last(); g != nil {
		m.addAll(g.stillMissing())
	}
	return m
}

// Explained takes note of report packets that are missing here and need no telling by the next process: another collector has
// them, or a record says that it is not known. Of those from before the segment that is written, it remembers nothing.
func (s *Spool) Explained(gaps []streams.Gap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.last()
	if g == nil {
		return
	}
	var ranges []Range
	for _, x := range gaps {
		ranges = append(ranges, Range{Gap: streams.Gap{Key: x.Key, Start: x.Start, First: x.First, Last: x.Last}, Packets: x.Last - x.First + 1})
	}
	left := without(g.missing.all, ranges)
	g.missing = merger{}
	g.missing.addAll(left)
}

// noteMissing takes note of the numbers that e says are missing in front of it. They are few: gap records tell of them
// within a second. What stays longer, such as the number of a packet that came late and could not be decoded, goes in the end.
func (g *segment) noteMissing(e *Entry) {
	if e.Skipped > 0 && len(g.missing.all) >= maxRanges {
		still := g.stillMissing()
		g.missing = merger{}
		g.missing.addAll(still[len(still)/2:])
	}
	g.missing.addSkipped(e)
}

// stillMissing returns the numbers that are missing at the end of g: neither came, nor does a gap record tell of them.
func (g *segment) stillMissing() []Range {
	if len(g.missing.all) == 0 {
		return nil
	}
	sum := g.sum
	if g.mem != nil {
		walk(g.mem, fileHeaderLen, g.size, func(e *Entry, _ int64, _ int) { sum.addEntry(e) }) // it is empty before
	}
	return without(g.missing.all, sum.all)
}

// toMemory appends entries to the last segment in memory, or to a new one, and returns how many bytes they take. While there are
// too many bytes of segments, the oldest goes.
func (s *Spool) toMemory(entries []Entry, dropped *[]Dropped) int {
	most := 0
	for i := range entries {
		most += maxEntry - 1<<16 + len(entries[i].Payload)
	}
	g := s.last()
	if g == nil || g.mem == nil || len(g.mem)+most > cap(g.mem) {
		s.trim()
		mem := s.spare
		if s.spare = nil; cap(mem) < fileHeaderLen+most {
			mem = make([]byte, 0, max(s.memorySegment(), fileHeaderLen+most))
		}
		g = &segment{mem: append(mem, appendFileHeader(nil)...), size: fileHeaderLen}
		s.begin(g)
	}
	before := len(g.mem)
	for i := range entries {
		g.mem = appendEntry(g.mem, &entries[i])
	}
	size := len(g.mem) - before
	why := SpoolFailed
	if s.o.Directory == "" {
		why = QueueFull
	}
	for s.used(true)+int64(size) > s.o.Memory && s.dropOldest(true, why, dropped) {
	}
	return size
}

// memorySegment is the size of a segment in memory: the oldest one goes as a whole.
func (s *Spool) memorySegment() int { return int(min(4<<20, s.o.Memory/16)) }

// finishFile syncs and closes the last file: what follows goes into a new one.
func (s *Spool) finishFile() {
	if s.file == nil {
		return
	}
	file := s.file
	s.file = nil
	err := s.disk.do(func() error { return errors.Join(datasync(file), file.Close()) }, nil)
	if err != nil {
		s.failures++
		s.o.Log("spool not synced", "file", file.Name(), "err", err)
	}
}

// datasync calls fdatasync(2). The file cannot be closed meanwhile; if it was closed before,
// the error is os.ErrClosed.
func datasync(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if closed := raw.Control(func(fd uintptr) { err = syscall.Fdatasync(int(fd)) }); closed != nil {
		return os.ErrClosed // Control fails for a closed file only, with an error that is not exported
	}
	return err
}

// trim removes the segments that every output has delivered; without a folder, has read. The last one stays.
func (s *Spool) trim() {
	for n := s.readBy(); n > 0 && (s.segments[0].mem != nil || !s.disk.hangs()); n-- {
		s.remove(s.segments[0])
	}
}

// readBy returns how many segments trim removes.
func (s *Spool) readBy() (n int) {
	needed := s.end().Segment
	for _, r := range s.readers {
		needed = min(needed, r.acked.Segment)
	}
	for n < len(s.segments)-1 && s.segments[n].number < needed {
		n++
	}
	return n
}

// remove forgets a segment. Its index goes first: an index without its file says that the file was lost.
func (s *Spool) remove(g *segment) {
	s.segments = slices.DeleteFunc(s.segments, func(x *segment) bool { return x == g })
	if g.mem != nil {
		if !g.lent && cap(g.mem) <= s.memorySegment() {
			s.spare = g.mem[:0]
		}
		return
	}
	bad, index, path, aside := g.bad, s.indexPath(g.number), s.path(g.number), s.name("damaged-%010d.pcap", g.number)
	err := s.disk.do(func() error {
		err := ignoreMissing(os.Remove(index))
		if bad {
			s.putAside(path, aside)
			return err
		}
		return errors.Join(err, ignoreMissing(os.Remove(path)))
	}, nil)
	if err != nil {
		s.failures++
		s.o.Log("spool segment not removed", "err", err)
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
