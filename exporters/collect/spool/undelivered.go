// Keeps the entries that an output had in memory at a stop: they are read first at the next
// start.

package spool

import (
	"fmt"
	"os"
	"path/filepath"
)

// The rest of an output are the entries that it had only in memory when its process stopped.
// They are in a file of their own, are read before all others, and stay until all of them are
// acknowledged.

func (s *Spool) restPath(tag uint32) string {
	return filepath.Join(s.o.Directory, fmt.Sprintf("rest-%08x.pcap", tag))
}

// KeepRest replaces the rest by entries. The reader keeps entries that are appended from now
// on as well.
func (r *Reader) KeepRest(entries []Entry) error {
	r.Hold()
	r.s.mu.Lock()
	entries = append(entries[:len(entries):len(entries)], r.rest...)
	r.s.mu.Unlock()
	path := r.s.restPath(r.tag)
	if len(entries) == 0 {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	b := appendFileHeader(nil)
	for i := range entries {
		b = appendEntry(b, &entries[i])
	}
	return WriteFile(path, b)
}

// loadRest reads the rest that the process before kept, and logs what of it cannot be read.
func (r *Reader) loadRest() error {
	path := r.s.restPath(r.tag)
	b, failed := readFile(path)
	if os.IsNotExist(failed) || failed == nil && len(b) < fileHeaderLen {
		return nil
	}
	if failed != nil && !unreadable(failed) {
		return failed
	}
	var err error
	for b = b[min(fileHeaderLen, len(b)):]; len(b) > 0; {
		e, n, bad := readEntry(b)
		if err = bad; err != nil {
			break
		}
		r.rest = append(r.rest, e)
		r.restLeft += uint64(e.Records)
		b = b[n:]
	}
	if failed != nil {
		err = failed
	}
	if err != nil {
		r.s.o.Log("spool: a file is cut where it cannot be read any more", "file", path, "bytes", len(b), "reason", err)
		r.s.corrupt++
	}
	return nil
}

// takeRest returns the next entry of the rest, if there is one.
func (r *Reader) takeRest() (e Entry, ok bool) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if len(r.rest) == 0 {
		return e, false
	}
	e = r.rest[0]
	r.rest = r.rest[1:]
	r.restLeft -= uint64(e.Records)
	return e, true
}

// InRest reports whether the next entry is one of the rest.
func (r *Reader) InRest() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return len(r.rest) > 0
}

// RestDone removes the file of the rest: all of it has arrived.
func (r *Reader) RestDone() {
	if err := os.Remove(r.s.restPath(r.tag)); err != nil && !os.IsNotExist(err) {
		r.s.o.Log("spool: not removed", "err", err)
	}
}
