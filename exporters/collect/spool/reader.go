// Reader: one output's position in the spool: Hold, Start, Next, Ack, Finish, Release; leaves
// segments that cannot be read.

package spool

import (
	"fmt"
	"io"
	"os"
)

// Reader is one output's position in the spool. Next is for one goroutine; the other methods
// may be called by any.
//
// A reader that holds needs every segment from its acknowledged position on. A reader that
// reads takes entries with Next. If a collector writes everything to the spool, the readers
// of outputs that get their entries from memory hold without reading.
type Reader struct {
	s    *Spool
	name string
	tag  uint32

	// Fields that s.mu guards.
	holding  bool
	acked    Position
	reading  bool
	read     Position
	consumed uint64  // records of segment read.Segment that were read, or were there before Start
	rest     []Entry // entries that KeepRest of the process before kept
	restLeft uint64  // records in rest
	lost     []Range // ranges lost with dropped segments; the output has no gap record of them yet
	telling  []Range // the part of lost that TakeLost has returned

	// Fields that only Next uses.
	file   *os.File
	number uint64 // segment that file is
	buf    []byte
	at     Position // where buf[0] stands in the spool
}

const readSize = 256 << 10

// Reader returns the reader of an output: the one that Open found, or a new one that holds
// nothing.
func (s *Spool) Reader(output string) *Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.readers[output]
	if r == nil {
		r = &Reader{s: s, name: output, tag: Tag(output)}
		s.readers[output] = r
	}
	return r
}

// Forget removes a reader whose output is gone for good.
func (s *Spool) Forget(output string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.readers[output]; r != nil {
		r.RestDone()
		delete(s.readers, output)
		s.moved = true
		s.trim()
	}
}

// Outputs returns the names of all readers.
func (s *Spool) Outputs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for name := range s.readers {
		all = append(all, name)
	}
	return all
}

// Left returns how many records the reader has still to read, 0 if it does not read.
func (r *Reader) Left() uint64 {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if !r.reading {
		return 0
	}
	var n uint64
	for _, g := range r.s.segments {
		if g.number >= r.read.Segment {
			n += g.wanted(r.tag)
		}
	}
	return n - r.consumed + r.restLeft
}

// Reading reports whether entries are to be taken with Next.
func (r *Reader) Reading() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.reading
}

// Hold keeps the segments from the current end on.
func (r *Reader) Hold() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if !r.holding {
		r.holding, r.acked, r.s.moved = true, r.s.end(), true
		r.s.syncSoon()
	}
}

// Start makes Next return the entries that are appended from now on.
func (r *Reader) Start() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	end := r.s.end()
	if !r.holding {
		r.holding, r.acked, r.s.moved = true, end, true
		r.s.syncSoon()
	}
	r.reading, r.read = true, end
	r.consumed = r.s.written(r.tag)
}

// Finish ends the reading and returns true if every entry was read, else false.
func (r *Reader) Finish() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.reading && (len(r.rest) > 0 || r.read.Before(r.s.end())) {
		return false
	}
	r.reading = false
	return true
}

// Ack says that the output has acknowledged all entries before p.
func (r *Reader) Ack(p Position) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.holding && r.acked.Before(p) {
		segment := r.acked.Segment
		r.acked, r.s.moved = p, true
		if segment != p.Segment {
			r.s.trim()
		}
	}
}

// Release ends holding: no segment is kept for this reader. It does nothing while the reader
// reads.
func (r *Reader) Release() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.holding && !r.reading {
		r.holding, r.s.moved = false, true
		r.s.trim()
	}
}

// jump sets the position to read from to p, the start of a segment.
func (r *Reader) jump(p Position) { r.read, r.consumed = p, 0 }

// Next returns the next entry for this output and the position where it ends, which is zero
// for an entry that KeepRest kept. ok is false if there is none yet.
func (r *Reader) Next() (e Entry, end Position, ok bool, err error) {
	if e, ok := r.takeRest(); ok {
		return e, end, true, nil
	}
	for {
		r.s.mu.Lock()
		if r.read != r.at { // Start was called, or a segment was dropped
			r.at, r.buf = r.read, r.buf[:0]
		}
		limit, last := r.limit()
		r.s.mu.Unlock()
		if r.at.Offset >= limit {
			if last {
				return e, end, false, nil
			}
			r.leave(r.at.Segment)
			continue
		}
		e, n, err := readEntry(r.buf)
		if err == errTorn {
			if err = r.fill(limit); err == nil {
				e, n, err = readEntry(r.buf)
			}
		}
		if err != nil {
			if r.dropped() {
				continue
			}
			return e, end, false, r.giveUp(err)
		}
		if r.take(&e, n) {
			return e, r.at, true, nil
		}
	}
}

// limit returns the size of the segment that is being read, and whether it is the last.
func (r *Reader) limit() (int64, bool) {
	end := r.s.end()
	for _, g := range r.s.segments {
		if g.number == r.read.Segment {
			return g.size, g.number == end.Segment
		}
	}
	return 0, r.read.Segment >= end.Segment
}

// leave jumps to the segment after number.
func (r *Reader) leave(number uint64) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.read.Segment != number {
		return // the segment was dropped meanwhile
	}
	for _, g := range r.s.segments {
		if g.number > number {
			r.jump(Position{g.number, fileHeaderLen})
			return
		}
	}
}

// dropped reports whether the segment that is being read was dropped meanwhile.
func (r *Reader) dropped() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.read != r.at
}

// take moves the position past an entry of n bytes, and reports whether it is for this output.
func (r *Reader) take(e *Entry, n int) bool {
	mine := e.Only == 0 || e.Only == r.tag
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.read != r.at {
		return false // the segment was dropped meanwhile; its lost records include this entry's
	}
	r.read.Offset += int64(n)
	if mine {
		r.consumed += uint64(e.Records)
	}
	r.at, r.buf = r.read, r.buf[n:]
	return mine
}

// fill reads the next bytes of the segment into r.buf: whole entries, up to limit.
func (r *Reader) fill(limit int64) error {
	if r.file == nil || r.number != r.at.Segment {
		r.closeFile()
		f, err := os.Open(r.s.path(r.at.Segment))
		if err != nil {
			return err
		}
		r.file, r.number = f, r.at.Segment
	}
	buf := make([]byte, min(readSize, limit-r.at.Offset)) // payloads of returned entries lie in the old one
	n, err := r.file.ReadAt(buf, r.at.Offset)
	r.buf = buf[:n]
	if err == io.EOF && n > 0 {
		err = nil
	}
	return err
}

// giveUp jumps to the next segment, since the rest of this one cannot be read, and returns a
// LostError with the number of records in that rest.
func (r *Reader) giveUp(cause error) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	lost := &LostError{Err: fmt.Errorf("%s at byte %d: %w", r.s.path(r.at.Segment), r.at.Offset, cause)}
	for i, g := range r.s.segments {
		if g.number != r.at.Segment {
			continue
		}
		lost.Records = g.wanted(r.tag) - r.consumed
		if i+1 < len(r.s.segments) {
			r.jump(Position{r.s.segments[i+1].number, fileHeaderLen})
		} else {
			r.read, r.consumed = r.s.end(), g.wanted(r.tag)
		}
	}
	r.s.corrupt++
	return lost
}

func (r *Reader) closeFile() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

// LostError says how many records of an output were in a part of a segment that cannot be read.
type LostError struct {
	Records uint64
	Err     error
}

func (e *LostError) Error() string { return e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }
