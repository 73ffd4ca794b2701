package failopen

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// mustBegin is the mode to begin in.
func mustBegin(t *testing.T, mode, dir string, now time.Time) Asked {
	t.Helper()
	a, err := Begin(mode, dir, now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// keeps waits until the file of the mode is written: Ask waits for the disk for 200 ms at most.
func keeps(t *testing.T, dir string, mode Mode) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if a, err := load(filepath.Join(dir, fileName)); err == nil && a.Before && a.Mode == mode {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%v is not kept: %+v, %v", mode, a, err)
		}
	}
}

// TestModeOutlastsARestart: what was asked for is in force again, since when and by whom, also after a second restart; a mode
// that the start names wins, and is kept instead; full is no news.
func TestModeOutlastsARestart(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(5000, 0)
	b := newBench(t)
	b.Keep(dir) // never stopped, as one that is killed
	b.Ask(Strip, "me")
	keeps(t, dir, Strip)
	for range 2 {
		b = newBench(t)
		b.BeginIn(mustBegin(t, "", dir, now))
		b.Keep(dir)
		keeps(t, dir, Strip)
		if s := b.State(); s.Mode != "strip" || s.Asked != "strip" || s.Why != "asked for strip by me, before the restart" || s.Since.Unix() != 1000 {
			t.Errorf("%+v", s)
		}
	}
	if a := mustBegin(t, "", dir, time.Unix(500, 0)); a.Since.Unix() != 500 {
		t.Errorf("a clock that was set back: %+v", a)
	}
	b.BeginIn(mustBegin(t, "pass", dir, now))
	b.Keep(dir)
	keeps(t, dir, Pass)
	if a := mustBegin(t, "", dir, now); a.Mode != Pass || !a.Before {
		t.Errorf("%+v", a)
	}
	b.Ask(Full, "me")
	keeps(t, dir, Full)
	if a := mustBegin(t, "", dir, now); a != (Asked{Since: now}) {
		t.Errorf("%+v", a)
	}
	if _, err := Begin("fast", dir, now); err == nil {
		t.Error("there is a mode fast")
	}
}

// TestModeNotKnown: a file that cannot be used is set aside, and the sink begins in full; without a folder, too.
func TestModeNotKnown(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t)
	b.Keep(dir)
	b.Ask(Bypass, "me")
	keeps(t, dir, Bypass)
	if a := mustBegin(t, "", dir, time.Unix(5000, 0)); a.Mode != Bypass {
		t.Fatalf("%+v", a)
	}
	path := filepath.Join(dir, fileName)
	os.Truncate(path, 40)
	for _, dir := range []string{dir, "", filepath.Join(dir, "none")} {
		if a := mustBegin(t, "", dir, time.Unix(5000, 0)); a.Mode != Full || a.Before {
			t.Errorf("%q: %+v", dir, a)
		}
	}
	if _, err := os.Stat(path + ".bad"); err != nil {
		t.Error(err)
	}
}
