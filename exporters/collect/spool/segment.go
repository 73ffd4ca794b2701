// A segment file of the spool: Append writes entries to the last one, trims those read by
// all, makes room on a full disk.

package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// segment is one file, with the number of records in it.
type segment struct {
	number  uint64
	size    int64
	records uint64            // records in entries for all outputs
	only    map[uint32]uint64 // records in entries for one output, by its tag
	ended   bool              // the disk does not give back what is behind size
}

// wanted returns how many records of g are for the output with that tag.
func (g *segment) wanted(tag uint32) uint64 { return g.records + g.only[tag] }

func (g *segment) count(e *Entry) {
	if e.Only == 0 {
		g.records += uint64(e.Records)
		return
	}
	if g.only == nil {
		g.only = map[uint32]uint64{}
	}
	g.only[e.Only] += uint64(e.Records)
}

func (s *Spool) path(number uint64) string {
	return filepath.Join(s.o.Directory, fmt.Sprintf("spool-%010d.pcap", number))
}

// startSegment makes a new last segment.
func (s *Spool) startSegment() error {
	number := s.end().Segment
	if len(s.segments) > 0 {
		number++
	}
	f, err := os.OpenFile(s.path(number), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	if _, err := f.Write(appendFileHeader(nil)); err != nil {
		f.Close()
		os.Remove(f.Name())
		return err
	}
	s.finishFile()
	s.file = f
	s.segments = append(s.segments, &segment{number: number, size: fileHeaderLen})
	return nil
}

// finishFile syncs and closes the file of the last segment.
func (s *Spool) finishFile() {
	if s.file == nil {
		return
	}
	if err := datasync(s.file); err != nil {
		s.failures++
		s.o.Log("spool not synced", "file", s.file.Name(), "err", err)
	}
	s.file.Close()
	s.file = nil
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

// Append adds entries in order, all or none, and appends the position where each of them ends
// to ends. If the spool or the disk is full, it drops the oldest segment; dropped says how
// many records each output lost by that.
func (s *Spool) Append(entries []Entry, ends []Position) (_ []Position, dropped []Dropped, err error) {
	if len(entries) == 0 {
		return ends, nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = s.buf[:0]
	keep := len(ends)
	for i := range entries {
		s.buf = appendEntry(s.buf, &entries[i])
		ends = append(ends, Position{0, int64(len(s.buf))})
	}
	if end := s.end(); s.file == nil || end.Offset > fileHeaderLen && end.Offset+int64(len(s.buf)) > s.o.SegmentSize {
		if dropped, err = s.freeing(dropped, 1, s.startSegment); err != nil {
			s.failures++
			return ends[:keep], dropped, fmt.Errorf("spool: %w", err)
		}
	}
	for s.used()+int64(len(s.buf)) > s.o.Size && len(s.segments) > 1 {
		dropped = s.dropOldest(dropped)
	}
	if dropped, err = s.freeing(dropped, 2, s.write); err != nil {
		s.failures++
		return ends[:keep], dropped, fmt.Errorf("spool: %w", err)
	}
	last := s.segments[len(s.segments)-1]
	for i := range entries {
		last.count(&entries[i])
		ends[keep+i].Segment = last.number
		ends[keep+i].Offset += last.size
	}
	last.size += int64(len(s.buf))
	if s.unsynced += int64(len(s.buf)); s.unsynced >= syncBytes {
		s.syncSoon()
	}
	return ends, dropped, nil
}

// freeing calls do, which needs room on the disk. While the disk is full it drops the oldest
// segment and calls again, as long as there are atLeast segments or more.
func (s *Spool) freeing(dropped []Dropped, atLeast int, do func() error) ([]Dropped, error) {
	for {
		err := do()
		full := isFull(err)
		if !full || len(s.segments) < atLeast {
			return dropped, err
		}
		dropped = s.dropOldest(dropped)
	}
}

// write writes s.buf behind the last segment's end. If it fails, that end stays as it was.
func (s *Spool) write() error {
	last := s.segments[len(s.segments)-1]
	_, err := s.file.WriteAt(s.buf, last.size)
	if err != nil {
		s.file.Truncate(last.size) // if this fails, too, the bytes are overwritten, or cut at the next start
	}
	return err
}

// trim removes the segments that no output needs any more.
func (s *Spool) trim() {
	needed := s.end().Segment
	for _, r := range s.readers {
		if r.holding {
			needed = min(needed, r.acked.Segment)
		}
	}
	for len(s.segments) > 1 && s.segments[0].number < needed {
		s.remove(s.segments[0])
	}
}

func (s *Spool) remove(g *segment) {
	if err := os.Remove(s.path(g.number)); err != nil {
		s.failures++
		s.o.Log("spool segment not removed", "err", err)
	}
	s.gone = max(s.gone, g.number)
	s.segments = slices.DeleteFunc(s.segments, func(x *segment) bool { return x == g })
}
