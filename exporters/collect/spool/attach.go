// Detached: a log whose folder cannot be opened yet is in memory; OpenFolder and Attach add the folder while it is in use.

package spool

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Detached returns a log on disk whose folder could not be opened, for the reason why: it is in memory until it is
// attached to the folder.
func Detached(o Options, why error) *Spool {
	s := newSpool(o)
	s.failing = why
	// Its segments stand behind those that the folder may have: an output that an earlier process left in front of one
	// of those, by its number, reads all of these.
	s.next = uint64(time.Now().UnixMilli())
	return s
}

// attached reports whether the folder is open; false also where there is none.
func (s *Spool) attached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lock != nil
}

// Detached reports whether there is a folder, and it is still to be opened.
func (s *Spool) Detached() bool { return s.o.Directory != "" && !s.attached() }

// Folder is the open folder of a detached log.
type Folder struct{ log *Spool }

// Close unlocks a folder that is not attached.
func (f *Folder) Close() error { return f.log.lock.Close() }

// OpenFolder opens and reads the folder of a detached log, for Attach. Where that takes long, it returns ErrHangs, and a later
// call has the folder. Calls are of one goroutine.
func (s *Spool) OpenFolder() (*Folder, error) {
	wait := time.Duration(0)
	if s.opening == nil {
		s.opening, wait = openLater(s.o), s.disk.wait
	}
	r := opened{err: ErrHangs}
	select {
	case r = <-s.opening:
		s.opening = nil
	case <-time.After(wait):
	}
	if r.err != nil {
		s.notAttached(r.err)
		return nil, r.err
	}
	return &Folder{r.s}, nil
}

func (s *Spool) notAttached(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = err
}

// Attach makes f the folder of a detached log. What an earlier process left in f stands behind what is in memory. A reader that has
// delivered all of the log goes on where f has its position; one that has not gets everything in f, also what the
// earlier process had delivered to it. more is how many records each reader has still to read of f. Where Attach fails, f is
// closed, and the log is detached as before.
func (s *Spool) Attach(f *Folder) (more map[string]uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if more, err = s.takeOver(f.log); err != nil {
		s.failing = err
		return nil, errors.Join(err, f.Close())
	}
	go s.syncLoop()
	s.syncSoon()
	return more, nil
}

// takeOver makes the segments and the lock of old those of s. At each moment the folder is one that a process can open, and
// that has all: an output whose position is in a segment that was given another number reads on with the next one.
func (s *Spool) takeOver(old *Spool) (more map[string]uint64, err error) {
	first := s.end().Segment
	if len(s.segments) > 0 {
		first = s.segments[0].number
	}
	if old.next > first {
		return nil, fmt.Errorf("spool: %s has segments with numbers up to %d, which are newer than the clock: restart the collector to go on with them", s.o.Directory, old.next-1)
	}
	begin := s.next
	if err := s.renumber(old); err != nil {
		return nil, err
	}
	more = map[string]uint64{}
	for name, r := range s.readers {
		was := old.Reader(name)
		r.lost = merge(r.lost, was.lost)
		if r.advance() == nil && !r.behindRecords() && r.acked == r.read { // it has delivered all
			at := was.acked
			at.Segment = begin + uint64(old.indexOf(at.Segment))
			r.acked, r.read = at, at
			r.done, r.doneRecs, r.consumed = was.done, was.doneRecs, was.consumed
			more[name] = was.Left()
			continue
		}
		for _, g := range old.segments {
			more[name] += g.records
		}
	}
	for i, g := range old.segments {
		g.number = begin + uint64(i)
		s.segments = append(s.segments, g)
	}
	s.lock, s.id, s.failing, s.moved = old.lock, old.id, nil, true
	s.failures += old.failures
	s.corrupt += old.corrupt
	return more, nil
}

// renumber gives the files of old's segments the next numbers of s, or leaves them as they are.
func (s *Spool) renumber(old *Spool) error {
	rename := func(from, to uint64) error {
		return errors.Join(ignoreMissing(os.Rename(s.indexPath(from), s.indexPath(to))), ignoreMissing(os.Rename(s.path(from), s.path(to))))
	}
	for i, g := range old.segments {
		if err := rename(g.number, s.next+uint64(i)); err != nil {
			for ; i >= 0; i-- { // as far as that is possible
				rename(s.next+uint64(i), old.segments[i].number)
			}
			return fmt.Errorf("spool: %w", err)
		}
	}
	s.next += uint64(len(old.segments))
	return nil
}
