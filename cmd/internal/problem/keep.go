// Keeps problems over a restart, in a file of the state folder.

package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"intsink/cmd/internal/statefile"
)

// What the file is called, and what it is.
const (
	fileName    = "problems"
	fileKind    = "problems"
	fileVersion = 1
	mostBytes   = 1 << 20
	saveEvery   = 10 * time.Second
)

// endedByStop is why a problem ended that was open when the sink stopped.
const endedByStop = "the sink stopped"

// kept is the body of the file.
type kept struct {
	Saved    time.Time  `json:"saved"`
	ID       uint64     `json:"id"`
	Problems []*Problem `json:"problems"` // the oldest first
}

// Keep takes up what the state folder dir has, and writes what changes there until the function that it returns is
// called. Without a folder nothing is kept. What cannot be read or written is a line in the log: a disk holds nothing up.
func (l *List) Keep(dir string) (stop func()) {
	if dir == "" {
		return func() {}
	}
	path := filepath.Join(dir, fileName)
	if err := l.Load(path, time.Now()); err != nil {
		l.log().Warn("problems of before are not known", "err", err)
	}
	k := statefile.KeepEvery(saveEvery, "problems", func() error { return l.Save(path, time.Now()) })
	return func() { k.Stop() }
}

// Load takes up what the file at path has. A file that cannot be used is set aside, which the error says.
func (l *List) Load(path string, now time.Time) error {
	body, err := statefile.Read(path, fileKind, fileVersion)
	if err != nil || body == nil {
		return err
	}
	var k kept
	if err := json.Unmarshal(body, &k); err != nil {
		return statefile.SetAside(path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	future := 0
	for _, p := range k.Problems {
		if p == nil || !p.Kind.Known() {
			continue // of a version that had other kinds
		}
		if p.Until == nil {
			p.Until, p.Ended = &k.Saved, endedByStop
		}
		if p.Until.After(now) { // the clock was wrong, or is
			future++
			continue
		}
		l.ended = append(l.ended, p)
	}
	l.id = max(l.id, k.ID)
	l.forget(now)
	if future > 0 {
		return fmt.Errorf("%s: %d problems ended later than now and are left out: is the clock right?", path, future)
	}
	return nil
}

// Save writes the file at path where something has changed since it was last written.
func (l *List) Save(path string, now time.Time) error {
	l.mu.Lock()
	if !l.changed {
		l.mu.Unlock()
		return nil
	}
	l.changed = false
	k := kept{Saved: now.UTC(), ID: l.id, Problems: l.all()}
	l.mu.Unlock()
	err := k.write(path)
	if err != nil {
		l.mu.Lock()
		l.changed = true
		l.mu.Unlock()
	}
	return err
}

// write leaves out the oldest problems where there is no room for all.
func (k *kept) write(path string) error {
	for {
		body, err := json.Marshal(k)
		if err != nil {
			return err
		}
		if len(body) <= mostBytes {
			return statefile.Write(path, fileKind, fileVersion, body)
		}
		if len(k.Problems) == 0 {
			return errors.New("problems: no room for any")
		}
		k.Problems = k.Problems[(len(k.Problems)+7)/8:]
	}
}

// all are copies of all problems, those that have ended first. The caller holds l.mu.
func (l *List) all() []*Problem {
	all := make([]*Problem, 0, len(l.ended))
	for _, p := range l.ended {
		all = append(all, new(*p))
	}
	return append(all, l.openNow()...)
}
