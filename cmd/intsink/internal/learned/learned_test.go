package learned

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/engine/series"
	"intsink/engine/usual"
)

var aHop = usual.Place{Kind: usual.Hop, Key: usual.HopKey(7, 1, 2)}

func ofUsual(u *usual.Usual) File {
	return File{
		Name: "usual", Version: 3, What: "what is usual", Every: 5 * time.Minute, Oldest: 7 * 24 * time.Hour,
		Encode: func(int64) []byte { return u.Encode() }, Decode: u.Decode,
	}
}

func ofHistory(p *series.Places) File {
	return File{
		Name: "history", Version: 1, What: "the history", Every: time.Minute, Oldest: series.Minutes * time.Minute,
		Encode: func(int64) []byte { return p.Encode() }, Decode: p.Decode,
	}
}

// keep keeps what a sink learned in dir, and returns what is learned and what was logged.
func keep(t *testing.T, dir string, sink uint64) (stop func() bool, u *usual.Usual, p *series.Places, log *bytes.Buffer) {
	u, p, log = usual.New(sink), series.NewPlaces(sink), new(bytes.Buffer)
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { slog.SetDefault(was) })
	ran, end := Keep(dir, sink, ofUsual(u), ofHistory(p))
	stop = func() (stopped bool) {
		if stopped = end(); stopped { // else the disk of a machine with much to do still writes them
			t.Cleanup(u.Close)
			t.Cleanup(p.Close)
		}
		return stopped
	}
	if known := !ran.IsZero(); known && time.Since(ran) > time.Minute {
		t.Errorf("ran at %s", ran)
	}
	return stop, u, p, log
}

// learn has samples of a hop learned and kept in dir.
func learn(t *testing.T, dir string) *bytes.Buffer {
	stop, u, p, log := keep(t, dir, 5)
	for n, now := int64(0), time.Now().UnixNano(); n < 300; n++ {
		r := []usual.Reading{{Place: aHop, Latency: 1700, Occupancy: 1<<32 - 1}}
		for learned := false; !learned; { // what is being written lets samples go
			learned, _ = u.Learn(now+n*1e9, r)
		}
		for !p.Add(now-(300-n)*1e9, r) {
		}
	}
	stop()
	return log
}

// TestLearnedIsKept: what was usual, and what was, before a stop is known after the next start; another sink's files, torn
// ones, old ones and what is no file are set aside and told, and the start goes on.
func TestLearnedIsKept(t *testing.T) {
	dir := t.TempDir()
	if log := learn(t, dir); log.Len() > 0 {
		t.Fatal(log)
	}
	for name, c := range map[string]struct {
		spoil  func(path string)
		sink   uint64
		logged string // "": the files are taken
	}{
		"the same sink": {func(string) {}, 5, ""},
		"another sink":  {func(string) {}, 6, "another sink's"},
		"torn":          {func(path string) { os.Truncate(path, 300) }, 5, "checksum"},
		"a folder":      {func(path string) { os.Remove(path); os.Mkdir(path, 0o700) }, 5, "not a regular file"},
		"a pipe":        {func(path string) { os.Remove(path); unix.Mkfifo(path, 0o600) }, 5, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			to := t.TempDir()
			os.CopyFS(to, os.DirFS(dir))
			for _, f := range []string{"usual", "history"} {
				c.spoil(filepath.Join(to, f))
			}
			stop, u, p, log := keep(t, to, c.sink)
			stop()
			taken := c.logged == ""
			v, known := u.Of(aHop)
			keys, _ := p.Keys(usual.Hop, 0)
			if known != taken || v.Latency.Known != taken || (len(keys) == 1) != taken || !taken && strings.Count(log.String(), c.logged) < 2 || (log.Len() == 0) != taken {
				t.Errorf("known %v, %+v, %v, log %s", known, v, keys, log)
			}
			for _, f := range []string{"usual", "history"} {
				_, there := os.Stat(filepath.Join(to, f))
				_, aside := os.Stat(filepath.Join(to, f+".bad"))
				if there != nil || (aside == nil) == taken {
					t.Errorf("%s: %v, set aside: %v", f, there, aside)
				}
			}
		})
	}
	u := ofUsual(nil)
	if body, err := os.ReadFile(filepath.Join(dir, "usual")); err != nil || err == nil {
		_, err = u.take(body[bytes.IndexByte(body, '\n')+1:], 5, time.Now().Add(8*24*time.Hour))
		if err == nil {
			t.Error("what was usual a week ago is taken")
		}
	}
}

// TestLearnedOnAFullDisk: it is told; the start and the stop go on, and what was there before stays.
func TestLearnedOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Fatal("tmpfs: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	learn(t, dir)
	before, err := os.ReadFile(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	full, _ := os.Create(filepath.Join(dir, "full"))
	for err == nil {
		_, err = full.Write(make([]byte, 4096))
	}
	full.Close()
	log := learn(t, dir)
	after, err := os.ReadFile(filepath.Join(dir, "history"))
	if all, _ := os.ReadDir(dir); !strings.Contains(log.String(), "no space left") || err != nil || !bytes.Equal(after, before) || len(all) != 3 {
		t.Errorf("%v, %d files, log %s", err, len(all), log)
	}
}
