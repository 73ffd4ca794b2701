package appliance

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/engine/usual"
)

// keeper starts one in a folder and returns it, with what it has logged.
func keeper(t *testing.T, dir string, sink uint64) (*usualKeeper, *usual.Usual, *bytes.Buffer) {
	u, log := usual.New(sink), new(bytes.Buffer)
	t.Cleanup(u.Close)
	return keepUsual(func(string) string { return dir }, sink, u, slog.New(slog.NewTextHandler(log, nil))), u, log
}

// TestUsualIsKept: what was usual before a stop is usual after the next start; another sink's file, a torn one, one that is
// none and one that cannot be read are set aside and told, and the start goes on.
func TestUsualIsKept(t *testing.T) {
	place := usual.Place{Kind: usual.Hop, Key: usual.HopKey(7, 1, 2)}
	dir, now := t.TempDir(), time.Now().UnixNano()
	k, u, log := keeper(t, dir, 5)
	for n := range int64(300) {
		u.Learn(now+n*1e9, []usual.Reading{{Place: place, Latency: 1700, Occupancy: 1<<32 - 1}})
	}
	if k.Stop(); log.Len() > 0 {
		t.Fatal(log)
	}
	path := filepath.Join(dir, usualFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file   []byte // nil: a folder
		sink   uint64
		logged string // "": the file is taken
	}{
		"the same sink": {good, 5, ""},
		"another sink":  {good, 6, "another sink's"},
		"torn":          {good[:len(good)-1], 5, "checksum"},
		"a folder":      {nil, 5, "no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, usualFile)
			if c.file == nil {
				os.Mkdir(path, 0o700)
			} else if err := os.WriteFile(path, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			k, u, log := keeper(t, dir, c.sink)
			k.Stop()
			v, known := u.Of(place)
			_, aside := os.Stat(path + ".bad")
			if taken := c.logged == ""; known != taken || v.Latency.Known != taken || !strings.Contains(log.String(), c.logged) || (log.Len() == 0) != taken || (aside != nil) != taken {
				t.Errorf("known %v, %+v, set aside: %v, log %s", known, v, aside, log)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("no file after the stop: %v", err)
			}
		})
	}
	if k, _, _ := keeper(t, "", 5); k != nil {
		t.Error("without a state folder something is kept")
	}
}
