// Spool: opens and locks the folder, syncs it, closes it.

package spool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Options configures a log.
type Options struct {
	Directory   string // "": all of it is in memory
	Size        int64  // most bytes of all files together
	Memory      int64  // most bytes in memory: of all of it without a directory, else of what the disk does not take; 0: DefaultMemory
	SegmentSize int64  // bytes of one file; 0: 64 MiB, or a sixteenth of Size if that is less
	Log         func(msg string, args ...any)
}

// DefaultMemory is how much of the log is in memory at most, unless Options.Memory is set.
const DefaultMemory = 64 << 20

// Position is a place in the log: the first byte of an entry.
type Position struct {
	Segment uint64 `json:"segment"`
	Offset  int64  `json:"offset"`
}

// Before reports whether p lies in front of q.
func (p Position) Before(q Position) bool {
	return p.Segment < q.Segment || p.Segment == q.Segment && p.Offset < q.Offset
}

// Spool is a log of entries in segments. Its methods may be called concurrently.
type Spool struct {
	o    Options
	lock *os.File // nil: the folder is not open (Detached), or there is none
	id   string

	syncing sync.Mutex // one Sync at a time; taken before mu

	mu       sync.Mutex
	segments []*segment // with rising numbers; entries are written to the last
	next     uint64     // number of the next segment
	file     *os.File   // of the last segment, while entries are written to it
	readers  map[string]*Reader
	again    bool   // the positions were lost: new readers begin with the first segment
	whole    bool   // what the process before had appended is all there
	moved    bool   // an output's position has changed since positions.json was written
	drops    uint64 // how often a segment was dropped
	closing  bool
	keep     func() // is called before segments go; may be nil
	buf      []byte
	spare    []byte    // memory of a segment that nobody reads any more; nil: none
	failing  error     // why the disk did not take the last entries
	retry    time.Time // the disk is not tried before

	disk    disk
	opening chan opened // of a detached log: its folder, when it is open; nil: nobody opens it

	unsynced int64 // bytes appended since the last sync
	kick     chan struct{}
	stop     chan struct{}
	stopped  chan struct{}
	failures uint64 // writes and syncs that failed
	corrupt  uint64 // segments of which something cannot be read
}

// Appended entries are synced after SyncEvery or after syncBytes, whichever comes first.
const (
	SyncEvery = 500 * time.Millisecond
	syncBytes = 1 << 20
)

func newSpool(o Options) *Spool {
	o.SegmentSize = cmp.Or(o.SegmentSize, min(64<<20, o.Size/16))
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	return &Spool{o: o, disk: disk{wait: patience}, next: 1, readers: map[string]*Reader{}, kick: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
}

// openPatience is how long Open waits for the folder.
const openPatience = 10 * time.Second

// Open makes the folder if it is missing, locks it, and reads what is in it. Where that takes too long, the log is
// detached, and OpenFolder waits for it.
func Open(o Options) (*Spool, error) { return openWithin(o, openPatience) }

func openWithin(o Options, wait time.Duration) (*Spool, error) {
	if o.Directory == "" {
		return newSpool(o), nil
	}
	opening := openLater(o)
	select {
	case r := <-opening:
		if r.err != nil {
			return nil, r.err
		}
		go r.s.syncLoop()
		return r.s, nil
	case <-time.After(wait):
	}
	s := Detached(o, ErrHangs)
	s.opening = opening
	return s, nil
}

// opened is a log whose folder is open, or why it is not.
type opened struct {
	s   *Spool
	err error
}

// openLater opens a folder, however long that takes.
func openLater(o Options) chan opened {
	done := make(chan opened, 1)
	go func() {
		s := newSpool(o)
		err := s.open()
		done <- opened{s, err}
	}()
	return done
}

// open is Open without the loop that syncs.
func (s *Spool) open() error {
	if err := os.MkdirAll(s.o.Directory, 0o750); err != nil {
		return fmt.Errorf("spool: %w; make the folder, owned by the user of the service", err)
	}
	lock, err := takeLock(filepath.Join(s.o.Directory, "lock"))
	if err != nil {
		return err
	}
	if err := s.recover(); err != nil {
		lock.Close()
		return fmt.Errorf("spool: %w", err)
	}
	s.lock = lock
	return nil
}

func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another process has it; give each its own spool.directory")
		}
		return nil, fmt.Errorf("spool: %s: %w", path, err)
	}
	return f, nil
}

// BeforeRemoval sets a function that is called before segments go that all outputs have delivered.
func (s *Spool) BeforeRemoval(keep func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = keep
}

// Rotate lets the next entries begin a new segment.
func (s *Spool) Rotate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishFile()
}

// End returns the position of the next entry.
func (s *Spool) End() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end()
}

// Usage returns the bytes on disk and the most that there may be.
func (s *Spool) Usage() (used, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used(false), s.o.Size
}

// Failing returns why the disk did not take the last entries; nil: it did.
func (s *Spool) Failing() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failing
}

// Failures returns how many writes and syncs failed, and of how many segments something cannot be read.
func (s *Spool) Failures() (failed, corrupt uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures, s.corrupt
}

// syncSoon makes the loop sync at once.
func (s *Spool) syncSoon() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// syncLoop syncs what was appended and writes positions.json, until Close.
func (s *Spool) syncLoop() {
	defer close(s.stopped)
	tick := time.NewTicker(SyncEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.kick:
		case <-s.stop:
			return
		}
		if err := s.Sync(); err != nil {
			s.o.Log("spool not synced", "err", err)
		}
	}
}

// Sync waits until appended entries and the positions are on the disk, and removes what all have
// delivered. Calls come one after the other: a second one must not return while the first is still
// writing its positions. Without a folder it does nothing.
func (s *Spool) Sync() error {
	if !s.attached() {
		return s.Failing()
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	rescued := s.rescue()
	s.mu.Lock()
	file, dirty, moved := s.file, s.unsynced > 0, s.moved
	s.unsynced, s.moved = 0, false
	positions, drops := s.positions(), s.drops
	s.mu.Unlock()
	errs := []error{rescued}
	if dirty && file != nil {
		// A file that is closed belongs to a segment that was finished, and synced, meanwhile.
		if err := s.disk.do(func() error { return datasync(file) }, nil); err != nil && !errors.Is(err, os.ErrClosed) {
			errs = append(errs, fmt.Errorf("%s: %w", file.Name(), err))
		}
	}
	errs = append(errs, s.writeIndexes())
	if moved {
		errs = append(errs, s.writePositions(positions, drops))
	}
	err := errors.Join(errs...)
	if err != nil {
		s.mu.Lock()
		s.failures++
		s.moved = s.moved || moved
		s.mu.Unlock()
	}
	s.removeDelivered()
	return err
}

func (s *Spool) removeDelivered() {
	s.mu.Lock()
	n, keep := s.readBy(), s.keep
	s.mu.Unlock()
	if n == 0 {
		return
	}
	if keep != nil {
		keep()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim()
}

// rescue writes the segments in memory to files, where the disk takes them again.
func (s *Spool) rescue() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.segments {
		if g.mem == nil {
			continue
		}
		path, contents := s.path(g.number), g.mem
		g.lent = true
		err := s.disk.do(func() error {
			err := writeSynced(path, contents)
			if err != nil {
				os.Remove(path)
			}
			return err
		}, func() { os.Remove(path) }) // it is still in memory, and longer by now
		if err != nil {
			return err
		}
		walk(g.mem, fileHeaderLen, g.size, func(e *Entry, _ int64, _ int) { g.sum.addEntry(e) })
		g.mem, s.moved = nil, true
	}
	return nil
}

// Close syncs the log and unlocks the folder.
func (s *Spool) Close() error {
	if !s.attached() {
		return nil
	}
	close(s.stop)
	<-s.stopped
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	err := s.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if file := s.file; file != nil {
		s.disk.do(file.Close, nil)
	}
	for _, r := range s.readers {
		r.closeFile()
	}
	s.disk.do(s.lock.Close, nil)
	return err
}
