// Opens a spool that an earlier process left: cuts torn tails, counts records per segment,
// finds the readers' positions.

package spool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// recover reads the folder that an earlier process left: segments, positions and rests.
func (s *Spool) recover() error {
	positions, err := s.readPositions()
	if err != nil {
		return err
	}
	numbers, err := s.find()
	if err != nil {
		return err
	}
	for name, p := range positions.Outputs {
		s.readers[name] = &Reader{s: s, name: name, tag: Tag(name), holding: true, reading: true, acked: p, read: p, lost: positions.Lost[name]}
	}
	for i, n := range numbers {
		if err := s.scan(n, i == len(numbers)-1); err != nil {
			return err
		}
	}
	if err := s.openLast(); err != nil {
		return err
	}
	for _, r := range s.readers {
		r.settle()
		if err := r.loadRest(); err != nil {
			return err
		}
	}
	s.trim()
	return nil
}

// find returns the numbers of the segments in the folder, in rising order.
func (s *Spool) find() ([]uint64, error) {
	names, err := filepath.Glob(filepath.Join(s.o.Directory, "spool-*.pcap"))
	if err != nil {
		return nil, err
	}
	var all []uint64
	for _, name := range names {
		digits := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "spool-"), ".pcap")
		if n, err := strconv.ParseUint(digits, 10, 64); err == nil && s.path(n) == name {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// readFile reads a whole file: a variable, so that tests let it fail.
var readFile = os.ReadFile

// unreadable reports whether err says that the disk does not give back what it was given: a bad
// sector, or a file system that found itself damaged. Other errors may be mended by who runs the
// collector, such as a right that is missing, and nothing is passed over for them.
func unreadable(err error) bool {
	for _, e := range []error{syscall.EIO, syscall.ENODATA, syscall.EBADMSG, syscall.EUCLEAN} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// scan counts the records of a segment, and how many of them each output has read. Bytes that
// cannot be read any more are cut off the last segment, and passed over in the others. A segment
// that the disk does not give back ends there, and nothing is written to it any more.
func (s *Spool) scan(number uint64, last bool) error {
	path := s.path(number)
	b, failed := readFile(path)
	if failed != nil && !unreadable(failed) {
		return failed
	}
	if len(b) < fileHeaderLen {
		if last && failed == nil { // the process ended after it had made the file, before it wrote the header
			return os.Remove(path)
		}
		b = appendFileHeader(nil)
	}
	g := &segment{number: number, size: fileHeaderLen, ended: failed != nil}
	s.segments = append(s.segments, g)
	err := s.countEntries(g, b)
	if failed != nil {
		err = failed
	}
	if err == nil {
		return nil
	}
	s.o.Log("spool: a segment is cut where it cannot be read any more", "file", path, "byte", g.size, "bytes", int64(len(b))-g.size, "reason", err)
	s.corrupt++
	if last && failed == nil {
		return os.Truncate(path, g.size)
	}
	return nil
}

// countEntries counts the entries of b, a segment's file, in g up to the end, or to one that cannot
// be read, which is the error.
func (s *Spool) countEntries(g *segment, b []byte) error {
	for int(g.size) < len(b) {
		e, n, err := readEntry(b[g.size:])
		if err != nil {
			return err
		}
		g.count(&e)
		for _, r := range s.readers {
			if r.read.Segment == g.number && g.size < r.read.Offset && (e.Only == 0 || e.Only == r.tag) {
				r.consumed += uint64(e.Records)
			}
		}
		g.size += int64(n)
	}
	return nil
}

// openLast opens the segment that Append writes to.
func (s *Spool) openLast() error {
	if len(s.segments) == 0 || s.segments[len(s.segments)-1].ended {
		return s.startSegment()
	}
	f, err := os.OpenFile(s.path(s.end().Segment), os.O_RDWR, 0)
	s.file = f
	return err
}

// settle moves a position that lies before the first or behind the last entry to that entry.
func (r *Reader) settle() {
	first, end := r.s.segments[0].number, r.s.end()
	switch {
	case r.read.Segment < first:
		r.jump(Position{first, fileHeaderLen})
	case end.Before(r.read):
		r.read, r.consumed = end, r.s.written(r.tag)
	}
	r.read.Offset = max(r.read.Offset, fileHeaderLen)
	r.acked = r.read
}
