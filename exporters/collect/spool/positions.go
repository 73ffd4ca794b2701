// Writes and reads positions.json: how far each output has read, and the ranges that it lost and
// has no gap records of.

package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// positionsFile is the shape of positions.json.
type positionsFile struct {
	Version int                 `json:"version"`
	Outputs map[string]Position `json:"outputs"`
	// Lost has, by output, the ranges lost with dropped segments that it has no gap record of.
	Lost map[string][]Range `json:"lost,omitempty"`
}

// positions returns the positions of all readers. A reader that needs no segment, but has lost
// ranges, gets the position of the end.
func (s *Spool) positions() positionsFile {
	all := positionsFile{Version: 1, Outputs: map[string]Position{}, Lost: map[string][]Range{}}
	for name, r := range s.readers {
		if len(r.telling)+len(r.lost) > 0 {
			all.Lost[name], all.Outputs[name] = merge(r.telling, r.lost), s.end()
		}
		if r.holding {
			all.Outputs[name] = r.acked
		}
	}
	return all
}

func (s *Spool) positionsPath() string { return filepath.Join(s.o.Directory, "positions.json") }

func (s *Spool) readPositions() (p positionsFile, err error) {
	b, err := os.ReadFile(s.positionsPath())
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil || p.Version != 1 {
		return p, fmt.Errorf("%s: not the positions of this version (%v); move it away to begin anew with what comes", s.positionsPath(), err)
	}
	return p, nil
}

// writePositions replaces positions.json and waits until it is on the disk. It does nothing if
// s.drops is no longer drops: noteDropped has then written newer positions.
func (s *Spool) writePositions(p positionsFile, drops uint64) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	fresh := s.positionsPath() + ".new"
	if err := writeSynced(fresh, b); err != nil {
		return err
	}
	s.mu.Lock()
	if s.drops == drops {
		err = os.Rename(fresh, s.positionsPath())
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return syncFolder(s.o.Directory)
}

// noteDropped replaces positions.json in one step. It waits until the new contents are on the disk,
// although receivers wait for it: a name on the disk without its contents would be an empty file
// after a power failure, and no position left. This is once for a segment, whose end is waited
// for, too. That the new name is on the disk the next Sync waits for: until then it has the
// older positions.
func (s *Spool) noteDropped() error {
	b, err := json.Marshal(s.positions())
	if err != nil {
		return err
	}
	s.drops++
	s.moved = true
	fresh := s.positionsPath() + ".dropped"
	if err := writeSynced(fresh, b); err != nil {
		os.Remove(fresh)
		return err
	}
	return os.Rename(fresh, s.positionsPath())
}

// WriteFile replaces a file in one step that survives a power failure: it writes a file
// beside it, syncs and renames that, and syncs the folder.
func WriteFile(path string, b []byte) error {
	if err := writeSynced(path+".new", b); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
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
	return fsync(dir)
}
