// Reader: one output's position in the log. Next and Skip read, Ack says what was delivered; passes over what
// cannot be read.

package spool

import (
	"fmt"
	"io"
	"os"
)

// Reader is one output's place in the log: it has delivered everything in front of its acknowledged
// position. Next is for one goroutine; the other methods may be called by any.
type Reader struct {
	s    *Spool
	name string

	// Fields that s.mu guards.
	acked    Position // everything in front of it is delivered
	done     merger   // what is delivered of segment acked.Segment
	doneRecs uint64   // records of it
	read     Position
	consumed uint64  // records of segment read.Segment that were read, or counted as lost
	gaveUp   uint64  // segment of which something cannot be read; it is counted and in lost
	lost     []Range // the output has no gap record of them yet
	telling  []Range // the part of lost that TakeLost has returned
	held     []Range // sent and not settled, of segments that are gone

	// Fields that only Next uses.
	file   *os.File
	number uint64 // segment that file is
	buf    []byte
	at     Position // where buf[0] stands in the log
}

const readSize = 256 << 10

// Reader returns the reader of an output: the one that Open found, or a new one. That begins at the end;
// where the positions of the outputs were lost, with everything that there is.
func (s *Spool) Reader(output string) *Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.readers[output]
	if r == nil {
		at := s.end()
		if s.again {
			at = Position{s.segments[0].number, fileHeaderLen}
		}
		r = &Reader{s: s, name: output, acked: at, read: at}
		if g := s.last(); g != nil && g.number == at.Segment && !s.again {
			r.consumed, r.doneRecs = g.records, g.records
			r.done.addAll(g.sum.all)
		}
		s.readers[output] = r
		s.moved = true
	}
	return r
}

// Forget removes a reader whose output is gone for good.
func (s *Spool) Forget(output string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, output)
	s.moved = true
	s.syncSoon()
}

// Outputs returns the names of all readers.
func (s *Spool) Outputs() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.readers {
		all = append(all, name)
	}
	return all
}

// Left returns how many records the reader has still to read.
func (r *Reader) Left() (n uint64) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, g := range r.s.segments {
		if g.number >= r.read.Segment {
			n += g.records - r.consumedOf(g)
		}
	}
	return n
}

// consumedOf returns how many records of g are read, or lost.
func (r *Reader) consumedOf(g *segment) uint64 {
	if g.number == r.read.Segment {
		return min(r.consumed, g.records)
	}
	return 0
}

// doneIn returns what of g is delivered.
func (r *Reader) doneIn(g *segment) []Range {
	if g.number != r.acked.Segment {
		return nil
	}
	return r.done.all
}

// leave moves the positions that are in a segment behind it.
func (r *Reader) leave(number uint64) {
	next := Position{number + 1, fileHeaderLen}
	if r.read.Segment == number {
		r.read, r.consumed = next, 0
	}
	if r.acked.Segment == number {
		r.ackTo(next)
	}
}

// ackTo moves the acknowledged position forward.
func (r *Reader) ackTo(p Position) {
	if !r.acked.Before(p) {
		return
	}
	if p.Segment != r.acked.Segment {
		r.done, r.doneRecs = merger{}, 0
	}
	r.acked, r.s.moved = p, true
}

// Position returns where the reader reads on.
func (r *Reader) Position() Position {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.advance()
	return r.read
}

// advance goes to the next segment at the end of one that is finished. It returns the segment to read
// from, nil if there is nothing to read.
func (r *Reader) advance() *segment {
	for {
		g := r.s.find(r.read.Segment)
		if g == nil {
			return nil
		}
		if g.number != r.read.Segment { // those between are gone
			r.read, r.consumed = Position{g.number, fileHeaderLen}, 0
		}
		if r.read.Offset < g.size {
			return g
		}
		if g == r.s.last() || r.consumed < g.records {
			return nil
		}
		r.read, r.consumed = Position{g.number + 1, fileHeaderLen}, 0
	}
}

// Skip moves the reader over entries that it got from elsewhere. It returns false if it does not stand at from.
func (r *Reader) Skip(from, end Position, records int) bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.read != from {
		return false
	}
	r.moveTo(end, uint64(records))
	return true
}

func (r *Reader) moveTo(end Position, records uint64) {
	r.read = end
	r.consumed += records
	if r.s.o.Directory == "" {
		r.acked = end
	}
}

// Ack acknowledges everything in front of end: the entries are the last of it, all of one segment.
func (r *Reader) Ack(end Position, entries []Entry) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if len(r.held) > 0 {
		var m merger
		for i := range entries {
			m.addEntry(&entries[i])
		}
		r.held, r.s.moved = without(r.held, m.all), true
	}
	if !r.acked.Before(end) {
		return
	}
	r.ackTo(end)
	if r.s.o.Directory == "" {
		return
	}
	for i := range entries {
		r.done.addEntry(&entries[i])
		r.doneRecs += uint64(entries[i].Records)
	}
}

// Durable reports whether the next process reads on where this reader is.
func (r *Reader) Durable() bool { return r.s.o.Directory != "" }

// Return takes back everything that is not acknowledged, at the end. It returns false if what ends at that
// position is no longer in the log.
func (r *Reader) Return(end Position) bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if !r.Durable() {
		return false
	}
	r.read, r.consumed = r.acked, r.doneRecs
	g := r.s.find(end.Segment)
	return g != nil && g.number == end.Segment
}

// Next returns the next entry in front of limit, and the position where it ends. ok is false if there is none.
func (r *Reader) Next(limit Position) (e Entry, end Position, ok bool, err error) {
	for {
		r.s.mu.Lock()
		g := r.advance()
		if r.read != r.at {
			r.at, r.buf = r.read, r.buf[:0]
		}
		atEnd := g == nil && r.behindRecords()
		var size int64
		var mem []byte
		if g != nil {
			size, mem, g.lent = g.size, g.mem, true
		}
		r.s.mu.Unlock()
		if !r.at.Before(limit) || g == nil && !atEnd {
			return e, end, false, nil
		}
		n := 0
		if err = errTorn; g != nil {
			e, n, err = r.nextIn(mem, size)
		}
		if err != nil {
			if !damaged(err) || r.s.away(err) {
				return e, end, false, err
			}
			if err = r.giveUp(err); err == nil {
				continue
			}
			return e, end, false, err
		}
		if r.take(&e, n) {
			return e, r.at, true, nil
		}
	}
}

// behindRecords reports whether the reader stands at the end of a segment and has not seen all records that it had.
func (r *Reader) behindRecords() bool {
	g := r.s.find(r.read.Segment)
	return g != nil && g.number == r.read.Segment && r.read.Offset >= g.size && r.consumed < g.records
}

// nextIn reads the entry at r.at from r.buf, which it fills from mem or the file.
func (r *Reader) nextIn(mem []byte, size int64) (e Entry, n int, err error) {
	if e, n, err = readEntry(r.buf); err != errTorn {
		return e, n, err
	}
	if err = r.fill(mem, size); err != nil {
		return e, 0, err
	}
	return readEntry(r.buf)
}

// take moves the position past an entry of n bytes, and reports whether it is still there to be read.
func (r *Reader) take(e *Entry, n int) bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.read != r.at {
		return false // the segment was dropped meanwhile; what is lost with it includes this entry
	}
	r.moveTo(Position{r.at.Segment, r.at.Offset + int64(n)}, uint64(e.Records))
	r.at, r.buf = r.read, r.buf[n:]
	return true
}

// fill reads the next bytes of the segment into r.buf, up to size.
func (r *Reader) fill(mem []byte, size int64) error {
	if mem != nil {
		r.buf = mem[r.at.Offset:size]
		return nil
	}
	if r.file == nil || r.number != r.at.Segment {
		r.closeFile()
		if err := r.open(); err != nil {
			return err
		}
	}
	buf := make([]byte, min(readSize, size-r.at.Offset)) // payloads of returned entries lie in the old one
	file, at, n := r.file, r.at.Offset, 0
	err := r.s.disk.do(func() (err error) {
		n, err = file.ReadAt(buf, at)
		return err
	}, func() { file.Close() })
	if err == ErrHangs {
		r.file = nil // the call has it
		return err
	}
	r.buf = buf[:n]
	if err == io.EOF && n > 0 {
		err = nil
	}
	return err
}

// open opens the file of the segment to read from.
func (r *Reader) open() error {
	path, file := r.s.path(r.at.Segment), (*os.File)(nil)
	err := r.s.disk.do(func() (err error) {
		file, err = os.Open(path)
		return err
	}, func() { file.Close() }) // of nil it does nothing
	if err == nil {
		r.file, r.number = file, r.at.Segment
	}
	return err
}

// giveUp goes on at the next whole entry, and returns a LostError with the number of records that are
// lost of this segment. What they were is told by TakeLost. It returns nil if the segment was dropped meanwhile.
func (r *Reader) giveUp(cause error) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	g := r.s.find(r.read.Segment)
	if r.read != r.at || g == nil || g.number != r.at.Segment {
		return nil
	}
	lost := &LostError{Err: fmt.Errorf("%s at byte %d: %w", r.s.path(g.number), r.at.Offset, cause)}
	b, _ := r.s.contents(g)
	next, ahead := g.size, uint64(0)
	if at, to := r.at.Offset, min(g.size, int64(len(b))); at < to {
		next = at + int64(resync(b[at:to]))
		walk(b, next, to, func(e *Entry, _ int64, _ int) { ahead += uint64(e.Records) })
		if next == to {
			next = g.size
		}
	}
	if lost.Records = g.records - min(g.records, r.consumed+ahead); lost.Records > 0 {
		r.gaveUp = 0
		r.lost = merge(r.lost, r.s.rangesOf(g, g.size, r))
		r.consumed += lost.Records
	}
	r.gaveUp = g.number
	if r.read.Offset, r.s.moved = next, true; !g.bad {
		g.bad = true
		r.s.corrupt++
	}
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
