// What a start finds: torn tails, counts per segment, positions.json.

package spool

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// recover reads what an earlier process left.
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

// find lists the numbers of the segments, rising.
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

// scan counts what is in a segment, and what of it each output has had. What cannot be
// read any more is cut off in the last one, and passed over in the others.
func (s *Spool) scan(number uint64, last bool) error {
	path := s.path(number)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(b) < fileHeaderLen {
		if last { // made, and not yet begun
			return os.Remove(path)
		}
		b = appendFileHeader(nil)
	}
	g := &segment{number: number, size: fileHeaderLen}
	for int(g.size) < len(b) {
		e, n, err := readEntry(b[g.size:])
		if err != nil {
			s.o.Log("spool: a segment is cut where it cannot be read any more", "file", path, "byte", g.size, "bytes", int64(len(b))-g.size, "reason", err)
			s.corrupt++
			if last {
				if err := os.Truncate(path, g.size); err != nil {
					return err
				}
			}
			break
		}
		g.count(&e)
		for _, r := range s.readers {
			if r.read.Segment == number && g.size < r.read.Offset && (e.Only == 0 || e.Only == r.tag) {
				r.consumed += uint64(e.Records)
			}
		}
		g.size += int64(n)
	}
	s.segments = append(s.segments, g)
	return nil
}

// openLast opens the segment that Append writes to.
func (s *Spool) openLast() error {
	if len(s.segments) == 0 {
		return s.startSegment()
	}
	f, err := os.OpenFile(s.path(s.end().Segment), os.O_RDWR, 0)
	s.file = f
	return err
}

// settle puts a position that points beside the segments at the nearest entry.
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
