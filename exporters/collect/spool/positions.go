// Writes and reads positions.json: how far each output has delivered, and what it lost and was not told of;
// and the index of each segment, which says what is lost without it.

package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// positionsFile is the shape of positions.json.
type positionsFile struct {
	Version int                 `json:"version"`
	Spool   string              `json:"spool"` // says that the positions are of the segments with that name in their index
	Boot    string              `json:"boot"`  // of the machine, when it was written
	Outputs map[string]Position `json:"outputs"`
	// Done has, by output, what it has delivered of the segment that it is in: more than the position says, if the segment is lost.
	Done map[string]extent `json:"done,omitempty"`
	// Lost has, by output, the ranges that it lost and has no gap record of.
	Lost map[string][]Range `json:"lost,omitempty"`
}

// extent is a part of a segment.
type extent struct {
	Records uint64  `json:"records"`
	Ranges  []Range `json:"ranges"`
}

// indexFile is the shape of a segment's index.
type indexFile struct {
	Spool string `json:"spool"`
	Size  int64  `json:"size"`
	Final bool   `json:"final"` // nothing is written behind Size any more
	extent
	Missing []Range `json:"missing,omitempty"` // at Size: neither in the log nor told
}

func (s *Spool) positions() positionsFile {
	all := positionsFile{Version: 1, Spool: s.id, Boot: bootID(), Outputs: map[string]Position{}, Done: map[string]extent{}, Lost: map[string][]Range{}}
	for name, r := range s.readers {
		all.Outputs[name] = r.acked
		if r.doneRecs > 0 || len(r.done.all) > 0 {
			all.Done[name] = extent{r.doneRecs, append([]Range(nil), r.done.all...)}
		}
		if len(r.telling)+len(r.lost)+len(r.held) > 0 {
			all.Lost[name] = merge(merge(r.telling, r.lost), r.held)
		}
	}
	return all
}

// bootID names the start of the machine: what an earlier process of the same start has written is there.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(b)
}

func (s *Spool) positionsPath() string { return filepath.Join(s.o.Directory, "positions.json") }

// readPositions returns the positions of the process before. ok is false if there are none that can be
// read: a file that cannot is put aside.
func (s *Spool) readPositions() (p positionsFile, ok bool, err error) {
	b, err := os.ReadFile(s.positionsPath())
	if err != nil {
		return p, false, ignoreMissing(err)
	}
	if err := json.Unmarshal(b, &p); err == nil && p.Version == 1 {
		return p, true, nil
	}
	s.putAside(s.positionsPath(), s.positionsPath()+".damaged")
	return positionsFile{}, false, nil
}

// putAside renames a file that cannot be read, or not to its end.
func (s *Spool) putAside(path, to string) {
	if err := os.Rename(path, to); err != nil {
		s.o.Log("spool: a damaged file is not kept", "file", path, "err", err)
		return
	}
	s.o.Log("spool: a damaged file is kept aside; remove it when it is of no use", "file", to)
}

// writePositions replaces positions.json and waits until it is on the disk. It does nothing if
// s.drops is no longer drops: noteDropped has then written newer positions.
func (s *Spool) writePositions(p positionsFile, drops uint64) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	fresh := s.positionsPath() + ".new"
	if err := s.disk.do(func() error { return writeSynced(fresh, b) }, nil); err != nil {
		return err
	}
	s.mu.Lock()
	if s.drops == drops {
		err = s.rename(fresh, s.positionsPath())
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.disk.do(func() error { return syncFolder(s.o.Directory) }, nil)
}

// noteDropped replaces positions.json in one step. It waits until the new contents are on the disk,
// although receivers wait for it: a name on the disk without its contents would be an empty file
// after a power failure, and no position left. This is once for a segment, whose end is waited
// for, too. That the new name is on the disk the next Sync waits for: until then it has the
// older positions.
func (s *Spool) noteDropped() error {
	if s.lock == nil {
		return nil
	}
	b, err := json.Marshal(s.positions())
	if err != nil {
		return err
	}
	s.drops++
	s.moved = true
	fresh := s.positionsPath() + ".dropped"
	return s.disk.do(func() error {
		if err := writeSynced(fresh, b); err != nil {
			os.Remove(fresh)
			return err
		}
		return os.Rename(fresh, s.positionsPath())
	}, nil)
}

func (s *Spool) rename(from, to string) error {
	return s.disk.do(func() error { return os.Rename(from, to) }, nil)
}

func (s *Spool) indexPath(number uint64) string { return s.name("index-%010d.json", number) }

// writeIndexes writes the index of each segment that has grown since.
func (s *Spool) writeIndexes() error {
	type index struct {
		g     *segment
		size  int64
		final bool
		b     []byte
	}
	var all []index
	s.mu.Lock()
	for _, g := range s.segments {
		final := s.closing || g != s.last() || s.file == nil
		if g.mem == nil && (g.indexed < g.size || final && !g.final) {
			b, err := json.Marshal(indexFile{s.id, g.size, final, extent{g.records, g.sum.all}, g.stillMissing()})
			if err != nil {
				s.mu.Unlock()
				return err
			}
			all = append(all, index{g, g.size, final, b})
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, x := range all {
		fresh := s.indexPath(x.g.number) + ".new"
		if err := s.disk.do(func() error { return os.WriteFile(fresh, x.b, 0o640) }, nil); err != nil {
			errs = append(errs, err)
			continue
		}
		s.mu.Lock()
		if s.find(x.g.number) == x.g { // else it is gone
			errs = append(errs, s.rename(fresh, s.indexPath(x.g.number)))
			x.g.indexed, x.g.final = x.size, x.final
		} else {
			s.disk.do(func() error { return os.Remove(fresh) }, nil)
		}
		s.mu.Unlock()
	}
	return errors.Join(errs...)
}

// readIndex returns the index of a segment; ok is false if there is none that can be read.
func (s *Spool) readIndex(number uint64) (x indexFile, ok bool) {
	b, err := os.ReadFile(s.indexPath(number))
	return x, err == nil && json.Unmarshal(b, &x) == nil && x.Size >= fileHeaderLen
}

// WriteFile replaces a file in one step that survives a power failure: it writes a file
// beside it, syncs and renames that, and syncs the folder.
func (s *Spool) WriteFile(path string, b []byte) error {
	return s.disk.do(func() error {
		if err := writeSynced(path+".new", b); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
		return syncFolder(filepath.Dir(path))
	}, nil)
}

// ReadFile reads a whole file.
func (s *Spool) ReadFile(path string) ([]byte, error) {
	var b []byte
	err := s.disk.do(func() (err error) {
		b, err = os.ReadFile(path)
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// fsync calls fsync(2): a variable, so that tests see what is synced, and let it fail.
var fsync = (*os.File).Sync

// writeSynced writes a file and waits until it is on the disk.
func writeSynced(path string, b []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = fsync(f)
	}
	return errors.Join(err, f.Close())
}

// syncFolder waits until a folder's names are on the disk.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := fsync(dir); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
