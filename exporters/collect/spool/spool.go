// Spool: opens and locks the folder, syncs it, closes it.

package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Options configures a spool.
type Options struct {
	Directory   string
	Size        int64 // most bytes of all segments together
	SegmentSize int64 // bytes of one segment; 0: 64 MiB, or a quarter of Size if that is less
	Log         func(msg string, args ...any)
}

// Position is a place in the spool: the first byte of an entry.
type Position struct {
	Segment uint64 `json:"segment"`
	Offset  int64  `json:"offset"`
}

// Before reports whether p lies in front of q.
func (p Position) Before(q Position) bool {
	return p.Segment < q.Segment || p.Segment == q.Segment && p.Offset < q.Offset
}

// Spool is one folder of segments. Its methods may be called concurrently.
type Spool struct {
	o    Options
	lock *os.File

	syncing sync.Mutex // one Sync at a time; taken before mu

	mu       sync.Mutex
	segments []*segment // with rising numbers; entries are written to the last
	gone     uint64     // number of the newest segment that was removed
	file     *os.File   // of the last segment; nil: there is none
	readers  map[string]*Reader
	moved    bool   // an output's position has changed since positions.json was written
	drops    uint64 // how often a segment was dropped that an output needed
	buf      []byte

	unsynced int64 // bytes appended since the last sync
	kick     chan struct{}
	stop     chan struct{}
	stopped  chan struct{}
	failures uint64 // writes and syncs that failed
	corrupt  uint64 // segments that ended too early
}

// Appended entries are synced after SyncEvery or after syncBytes, whichever comes first.
const (
	SyncEvery = 500 * time.Millisecond
	syncBytes = 1 << 20
)

// Open makes the folder if it is missing and locks it, cuts a torn tail and reads the outputs'
// positions.
func Open(o Options) (*Spool, error) {
	if o.SegmentSize == 0 {
		o.SegmentSize = min(64<<20, o.Size/4)
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if err := os.MkdirAll(o.Directory, 0o750); err != nil {
		return nil, fmt.Errorf("spool: %w; make the folder, owned by the user of the service", err)
	}
	lock, err := takeLock(filepath.Join(o.Directory, "lock"))
	if err != nil {
		return nil, err
	}
	s := &Spool{o: o, lock: lock, readers: map[string]*Reader{}, kick: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
	if err := s.recover(); err != nil {
		lock.Close()
		return nil, fmt.Errorf("spool: %w", err)
	}
	go s.syncLoop()
	return s, nil
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

// end returns the position of the next entry.
func (s *Spool) end() Position {
	if len(s.segments) == 0 {
		return Position{s.gone + 1, fileHeaderLen}
	}
	last := s.segments[len(s.segments)-1]
	return Position{last.number, last.size}
}

// written returns how many records of the last segment are for the output with that tag.
func (s *Spool) written(tag uint32) uint64 {
	if len(s.segments) == 0 {
		return 0
	}
	return s.segments[len(s.segments)-1].wanted(tag)
}

// Usage returns the bytes on disk and the most that there may be.
func (s *Spool) Usage() (used, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used(), s.o.Size
}

func (s *Spool) used() (n int64) {
	for _, g := range s.segments {
		n += g.size
	}
	return n
}

// Failures returns how many writes and syncs failed, and how many segments ended too early.
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

// syncLoop syncs appended entries and writes positions.json, until Close.
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

// Sync waits until appended entries and the positions are on the disk. Calls come one after
// the other: a second one must not return while the first is still writing its positions.
func (s *Spool) Sync() error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.mu.Lock()
	file, dirty, moved := s.file, s.unsynced > 0, s.moved
	s.unsynced, s.moved = 0, false
	positions, drops := s.positions(), s.drops
	s.mu.Unlock()
	var errs []error
	if dirty && file != nil {
		// A file that is closed belongs to a segment that was finished, and synced, meanwhile.
		if err := datasync(file); err != nil && !errors.Is(err, os.ErrClosed) {
			errs = append(errs, fmt.Errorf("%s: %w", file.Name(), err))
		}
	}
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
	return err
}

// Close syncs the spool and unlocks the folder.
func (s *Spool) Close() error {
	close(s.stop)
	<-s.stopped
	err := s.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
	}
	for _, r := range s.readers {
		r.closeFile()
	}
	s.lock.Close()
	return err
}
