// Keeps the mode that was asked for over a restart, in a file of the state folder.

package failopen

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"time"

	"intsink/cmd/internal/statefile"
)

// What the file is called, which is also what it is.
const (
	fileName    = "mode"
	fileVersion = 1
)

// Asked is a mode that somebody asked for.
type Asked struct {
	Mode   Mode
	Since  time.Time
	Why    string // who asked
	Before bool   // of Mode: before a restart
}

// kept is the body of the file.
type kept struct {
	Mode  string    `json:"mode"`
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// Begin is the mode to begin in: mode where it is named, else the one that the state folder dir has, else full. A file that
// cannot be used is a line in the log.
func Begin(mode, dir string, now time.Time) (Asked, error) {
	if mode != "" {
		m, err := ParseMode(mode)
		return Asked{Mode: m, Since: now, Why: "asked for at start"}, err
	}
	full := Asked{Mode: Full, Since: now}
	if dir == "" {
		return full, nil
	}
	a, err := load(filepath.Join(dir, fileName))
	if err != nil {
		slog.Warn("mode: the one that was asked for before the restart is not known", "err", err)
	}
	if err != nil || a.Mode == Full {
		return full, nil
	}
	if a.Since.After(now) { // the clock was wrong, or is
		a.Since = now
	}
	slog.Warn("mode: "+a.Mode.String()+", as before the restart", "since", a.Since.Format(time.RFC3339), "why", a.Why, "end_it_with", "intsink mode full")
	return a, nil
}

func load(path string) (Asked, error) {
	body, err := statefile.Read(path, fileName, fileVersion)
	if err != nil || body == nil {
		return Asked{}, err
	}
	var k kept
	err = json.Unmarshal(body, &k)
	var m Mode
	if err == nil {
		m, err = ParseMode(k.Mode)
	}
	if err != nil {
		return Asked{}, statefile.SetAside(path, err)
	}
	return Asked{Mode: m, Since: k.Since, Why: k.Why, Before: true}, nil
}

// Keep writes the mode that is asked for into the state folder dir, whenever it changes, until stop. Without a folder it is
// not kept.
func (c *Controller) Keep(dir string) (stop func()) {
	if dir == "" {
		return func() {}
	}
	path := filepath.Join(dir, fileName)
	c.keeper = statefile.Keep("the mode that is asked for", func() error { return c.save(path) })
	c.keeper.Changed()
	return func() { c.keeper.Stop() }
}

func (c *Controller) save(path string) error {
	c.mu.Lock()
	k := kept{c.asked.Mode.String(), c.asked.Since.UTC(), c.asked.Why}
	c.mu.Unlock()
	body, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return statefile.Write(path, fileName, fileVersion, body)
}
