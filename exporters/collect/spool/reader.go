// Reader: one output's position in the spool: Next, Ack, Hold.

package spool

import (
	"fmt"
	"io"
	"os"
)

// Reader is one output's way through the spool. Next is for one goroutine; the others may
// be called by any.
//
// A reader that holds needs every segment from its acknowledged position on. One that
// reads takes entries with Next; the output of a collector that writes everything to the
// spool holds without reading, as long as it gets entries from memory.
type Reader struct {
	s    *Spool
	name string
	tag  uint32

	// Under s.mu.
	holding  bool
	acked    Position
	reading  bool
	read     Position
	consumed uint64 // records of read.Segment that were read, or are not ours to read
	rest     []Entry
	restLeft uint64  // records in rest
	lost     []Range // went with dropped segments, and the output was not told
	telling  []Range // of these, what TakeLost returned

	// Of Next.
	file   *os.File
	number uint64 // of file
	buf    []byte
	at     Position // of buf[0]
}

const readSize = 256 << 10

// Reader returns the reader of an output: the one that was found at the start, or a new
// one that holds nothing.
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

// Forget ends a reader: its output is gone for good.
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

// Outputs are the names of all readers.
func (s *Spool) Outputs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for name := range s.readers {
		all = append(all, name)
	}
	return all
}

// Left are the records that are still to be read, 0 where nothing is read.
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

// Hold keeps segments from the end on.
func (r *Reader) Hold() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if !r.holding {
		r.holding, r.acked, r.s.moved = true, r.s.end(), true
		r.s.syncSoon()
	}
}

// Start makes Next give what is appended from now on.
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

// Finish ends the reading, and returns true, where everything was read.
func (r *Reader) Finish() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.reading && (len(r.rest) > 0 || r.read.Before(r.s.end())) {
		return false
	}
	r.reading = false
	return true
}

// Ack says that the output needs nothing before p any more.
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

// Release lets go of all segments. It does nothing while there is something to read.
func (r *Reader) Release() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.holding && !r.reading {
		r.holding, r.s.moved = false, true
		r.s.trim()
	}
}

// jump goes on reading at p.
func (r *Reader) jump(p Position) { r.read, r.consumed = p, 0 }

// Next returns the next entry that is for this output, and where it ends: zero for what
// KeepRest kept. ok is false where there is none yet.
func (r *Reader) Next() (e Entry, end Position, ok bool, err error) {
	if e, ok := r.takeRest(); ok {
		return e, end, true, nil
	}
	for {
		r.s.mu.Lock()
		if r.read != r.at { // Start, or a segment was dropped
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

// limit is how far the segment at hand can be read, and whether it is the last.
func (r *Reader) limit() (int64, bool) {
	end := r.s.end()
	for _, g := range r.s.segments {
		if g.number == r.read.Segment {
			return g.size, g.number == end.Segment
		}
	}
	return 0, r.read.Segment >= end.Segment
}

// leave goes on with the segment behind number.
func (r *Reader) leave(number uint64) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.read.Segment != number {
		return // dropped meanwhile
	}
	for _, g := range r.s.segments {
		if g.number > number {
			r.jump(Position{g.number, fileHeaderLen})
			return
		}
	}
}

// dropped reports whether the segment at hand is gone, or was left.
func (r *Reader) dropped() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.read != r.at
}

// take goes past an entry of n bytes, and reports whether it is for this output.
func (r *Reader) take(e *Entry, n int) bool {
	mine := e.Only == 0 || e.Only == r.tag
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.read != r.at {
		return false // its segment was dropped, and this entry counted with it
	}
	r.read.Offset += int64(n)
	if mine {
		r.consumed += uint64(e.Records)
	}
	r.at, r.buf = r.read, r.buf[n:]
	return mine
}

// fill reads more of the segment at hand, at least one entry where it has one.
func (r *Reader) fill(limit int64) error {
	if r.file == nil || r.number != r.at.Segment {
		r.closeFile()
		f, err := os.Open(r.s.path(r.at.Segment))
		if err != nil {
			return err
		}
		r.file, r.number = f, r.at.Segment
	}
	buf := make([]byte, min(readSize, limit-r.at.Offset)) // entries that were given out keep the old one
	n, err := r.file.ReadAt(buf, r.at.Offset)
	r.buf = buf[:n]
	if err == io.EOF && n > 0 {
		err = nil
	}
	return err
}

// giveUp leaves the segment at hand, of which no more can be read, and says how many
// records were in it.
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

// LostError says how many records of an output cannot be read any more.
type LostError struct {
	Records uint64
	Err     error
}

func (e *LostError) Error() string { return e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }
