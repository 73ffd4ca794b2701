// History: the last configurations, with who put them into force, when, why and how that ended, over restarts.

// Package confighistory keeps the last configurations of a sink, each a file of the state folder, and answers
// /api/v1/config/history and /api/v1/config/diff. A rollback is a reload with the files of one of them.
package confighistory

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/control"
)

const (
	keep        = 20
	keepRefused = 5 // of these: whoever sends nonsense again and again does not drive out what was in force
	kind        = "config"
	version     = 1
	maxComment  = 200     // characters
	mostBytes   = 1 << 20 // of an entry
)

// Entry is a configuration that somebody put, or wanted to put, into force.
type Entry struct {
	Number     uint64         `json:"number"`
	Time       time.Time      `json:"time"`
	By         string         `json:"by"`
	Comment    string         `json:"comment,omitempty"`
	Config     string         `json:"config"` // what its files are called together
	SHA256     string         `json:"sha256"`
	Generation uint64         `json:"generation"` // since the start of then; 0: it was refused
	Result     string         `json:"result"`     // "in force", "on trial", "refused: ...", how the trial ended
	Remote     bool           `json:"remote"`     // it came over TCP
	Files      []control.File `json:"files,omitempty"`
}

// refused tells whether it never was in force.
func (e *Entry) refused() bool { return e.Generation == 0 }

// History is the list. Its methods are safe for concurrent use, and wait for no disk but at Open.
type History struct {
	dir string // "": nothing outlives the sink
	log func() *slog.Logger

	mu      sync.Mutex
	entries []*Entry // the oldest first
	last    uint64   // number of the newest
	jobs    chan func() error
}

// Open reads what the state folder dir has; "": there is none. What cannot be read is set aside, and told.
func Open(dir string, log func() *slog.Logger) *History {
	h := &History{log: log, jobs: make(chan func() error, 2*keep)}
	if dir != "" {
		h.dir = filepath.Join(dir, "configs")
		if err := os.Mkdir(h.dir, 0o700); err != nil && !os.IsExist(err) {
			log().Warn("configurations are not kept over a restart", "err", err)
			h.dir = ""
		}
	}
	if h.dir != "" {
		h.read()
		go h.work()
	}
	return h
}

func (h *History) read() {
	found, err := os.ReadDir(h.dir)
	if err != nil {
		h.log().Warn("configurations of before are not known", "err", err)
		return
	}
	for _, f := range found[:min(len(found), 10*keep)] {
		n, err := strconv.ParseUint(f.Name(), 10, 64)
		if err != nil {
			continue // one that was set aside, or is being written
		}
		if e, err := h.readEntry(n); err != nil {
			h.log().Warn("a configuration of before is not known", "err", err)
		} else {
			h.entries = append(h.entries, e)
		}
	}
	slices.SortFunc(h.entries, func(a, b *Entry) int { return int(int64(a.Number - b.Number)) })
	if n := len(h.entries); n > 0 {
		h.last = h.entries[n-1].Number
	}
}

func (h *History) path(n uint64) string { return filepath.Join(h.dir, fmt.Sprint(n)) }

func (h *History) readEntry(n uint64) (*Entry, error) {
	body, err := statefile.Read(h.path(n), kind, version)
	if err != nil {
		return nil, err
	}
	e := &Entry{}
	if err := json.Unmarshal(body, e); err != nil || e.Number != n {
		return nil, statefile.SetAside(h.path(n), fmt.Errorf("it is no configuration %d: %w", n, err))
	}
	return e, nil
}

// work does what is to be done on the disk, which may hang.
func (h *History) work() {
	for job := range h.jobs {
		if err := job(); err != nil {
			h.log().Warn("a configuration is not kept over a restart", "err", err)
		}
	}
}

// later has a job done. Where the disk has hung for so many, it is left out.
func (h *History) later(job func() error) {
	if h.dir == "" {
		return
	}
	select {
	case h.jobs <- job:
	default:
		h.log().Warn("a configuration is not kept over a restart", "err", "the disk takes nothing")
	}
}

// Add takes e up as the newest entry. One that is the newest already, as after a restart, is none.
func (h *History) Add(e Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.entries); n > 0 && h.entries[n-1].SHA256 == e.SHA256 && h.entries[n-1].Result == e.Result {
		return
	}
	if r := []rune(e.Comment); len(r) > maxComment {
		e.Comment = string(r[:maxComment])
	}
	h.last++
	e.Number = h.last
	h.entries = append(h.entries, &e)
	h.write(&e)
	refused := 0
	for _, e := range h.entries {
		if e.refused() {
			refused++
		}
	}
	for len(h.entries) > keep || refused > keepRefused {
		at := 0
		if refused > keepRefused {
			at = slices.IndexFunc(h.entries, (*Entry).refused)
			refused--
		} else if h.entries[0].refused() {
			refused--
		}
		path := h.path(h.entries[at].Number)
		h.entries = slices.Delete(h.entries, at, at+1)
		h.later(func() error { return os.Remove(path) })
	}
}

// write has the file of e written. An entry that is too large is kept without its text.
func (h *History) write(e *Entry) {
	path := h.path(e.Number)
	body, err := json.Marshal(e)
	if err == nil && len(body) > mostBytes {
		e.Files = nil
		body, err = json.Marshal(e)
	}
	h.later(func() error {
		if err != nil {
			return err
		}
		return statefile.Write(path, kind, version, body)
	})
}

// Ended says how the trial of the newest entry that is on one ended.
func (h *History) Ended(result string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range slices.Backward(h.entries) {
		if e.Result == OnTrial {
			e.Result = result
			h.write(e)
			return
		}
	}
}

// Results that are not written out.
const (
	InForce = "in force"
	OnTrial = "on trial"
)

// Entries are copies of all, without their texts, the newest first.
func (h *History) Entries() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []Entry{}
	for _, e := range slices.Backward(h.entries) {
		c := *e
		c.Files = nil
		all = append(all, c)
	}
	return all
}

// Entry returns entry n with its text, or an error that says what there is.
func (h *History) Entry(n uint64) (*Entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := slices.IndexFunc(h.entries, func(e *Entry) bool { return e.Number == n })
	switch {
	case at < 0 && len(h.entries) == 0:
		return nil, fmt.Errorf("there is no configuration %d: the history is empty", n)
	case at < 0:
		return nil, fmt.Errorf("there is no configuration %d: those from %d to %d are kept", n, h.entries[0].Number, h.last)
	case len(h.entries[at].Files) == 0:
		return nil, fmt.Errorf("of configuration %d the text was not kept: it was too large, or changed while it was read", n)
	}
	return new(*h.entries[at]), nil
}
