package mitigation

import (
	"bytes"
	"intsink/cmd/intsink/internal/packetmatch"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keptStore is a store over one worker that keeps its rules in dir, at a time of the wall clock; its own clock begins at 1 s.
func keptStore(t *testing.T, dir string, wall time.Time, links ...string) (*Store, *worker) {
	w := &worker{}
	s := NewStore([]*worker{w}, links, func() int64 { return 1e9 }, func() int64 { return wall.UnixNano() - 1e9 })
	s.Keep(dir)
	t.Cleanup(func() { s.mu.Lock(); s.closed = true; s.mu.Unlock() })
	return s, w
}

// drop is a rule that drops what goes to destination.
func drop(destination string, ttl time.Duration) *Request {
	return &Request{Match: packetmatch.Match{Destination: packetmatch.Texts{destination}}, Action: "drop", TTL: Life(ttl)}
}

func mustAdd(t *testing.T, s *Store, r *Request, a *attack) {
	t.Helper()
	if _, err := s.Add(r, "me", a); err != nil {
		t.Fatal(err)
	}
}

// TestRulesOutlastARestart: a sink that is killed has its rules again, for the rest of their time, under their ids, whose they
// are, and in their order; one that was removed or has ended does not come back; an attack is still known as one.
func TestRulesOutlastARestart(t *testing.T) {
	dir, begin := t.TempDir(), time.Unix(1e9, 0)
	s, _ := keptStore(t, dir, begin, "edge") // never closed, as one that is killed
	mustAdd(t, s, drop("192.0.2.1", time.Hour), nil)
	mustAdd(t, s, drop("192.0.2.2", time.Minute), nil)
	mustAdd(t, s, drop("192.0.2.3", time.Hour), nil)
	a, err := attackOf(map[string]string{"src_mac": "02:00:5e:00:53:01", "dst_ip": "192.0.2.4", "dst_port": "80"})
	if err != nil {
		t.Fatal(err)
	}
	mustAdd(t, s, drop("192.0.2.4", 10*time.Minute), a)
	s.Remove(func(e *entry) bool { return e.rule.ID == 3 })

	s, w := keptStore(t, dir, begin.Add(2*time.Minute), "edge")
	all := s.List().Rules
	if len(all) != 2 || all[0].ID != 1 || all[1].ID != 4 || all[0].By != "me" || !all[0].Created.Equal(begin) || !all[0].Expires.Equal(begin.Add(time.Hour)) {
		t.Fatalf("%+v", all)
	}
	for address, want := range map[string]bool{"192.0.2.1": true, "192.0.2.2": false, "192.0.2.3": false, "192.0.2.4": true} {
		if w.drops(address, 80, 0, 0, 2e9) != want {
			t.Errorf("%s: dropped %v", address, !want)
		}
	}
	mustAdd(t, s, drop("192.0.2.4", 10*time.Minute), a)
	mustAdd(t, s, drop("192.0.2.5", time.Hour), nil)
	if all := s.List().Rules; len(all) != 3 || !all[1].Expires.Equal(begin.Add(12*time.Minute)) || all[2].ID != 5 {
		t.Errorf("%+v", all)
	}
	s.Close() // an orderly stop forgets no more
	if s, _ := keptStore(t, dir, begin.Add(3*time.Minute), "edge"); len(s.List().Rules) != 3 {
		t.Errorf("after a stop: %+v", s.List().Rules)
	}
}

// TestClockSetBack: a rule lasts no longer than it was to, whatever the clock does.
func TestClockSetBack(t *testing.T) {
	dir, begin := t.TempDir(), time.Unix(1e9, 0)
	s, _ := keptStore(t, dir, begin, "edge")
	mustAdd(t, s, drop("192.0.2.1", time.Minute), nil)
	now := begin.Add(-24 * time.Hour)
	s, _ = keptStore(t, dir, now, "edge")
	if all := s.List().Rules; len(all) != 1 || all[0].Expires.After(now.Add(time.Minute)) || all[0].Created.After(now) {
		t.Errorf("%+v", all)
	}
}

// TestRulesNotTakenUp: what cannot be read, or holds nowhere, is told in the log, and the sink goes on without it.
func TestRulesNotTakenUp(t *testing.T) {
	was := slog.Default()
	t.Cleanup(func() { slog.SetDefault(was) })
	now := time.Unix(1e9, 0)
	for name, c := range map[string]struct {
		spoil func(path string)
		links []string
		want  string
	}{
		"torn": {func(path string) { os.Truncate(path, 100) }, []string{"edge"}, "it is now mitigations.bad"},
		"old": {func(path string) {
			text, _ := os.ReadFile(path)
			os.WriteFile(path, bytes.Replace(text, []byte("mitigations 1"), []byte("mitigations 0"), 1), 0o600)
		}, []string{"edge"}, "it is of version 0, this is 1"},
		"no link": {func(string) {}, nil, "left out: 1: no link has mitigation"},
	} {
		var log bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		dir := t.TempDir()
		s, _ := keptStore(t, dir, now, "edge")
		mustAdd(t, s, drop("192.0.2.1", time.Hour), nil)
		c.spoil(filepath.Join(dir, fileName))
		s, _ = keptStore(t, dir, now, c.links...)
		if rules := s.List().Rules; len(rules) != 0 || !strings.Contains(log.String(), c.want) {
			t.Errorf("%s: %d rules, %s", name, len(rules), log.String())
		}
	}
}

// TestNoRoomOnTheDisk: a folder that cannot be written keeps no rule from holding; the log says that it is not kept, once.
func TestNoRoomOnTheDisk(t *testing.T) {
	was := slog.Default()
	t.Cleanup(func() { slog.SetDefault(was) })
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	dir := filepath.Join(t.TempDir(), "gone")
	s, w := keptStore(t, dir, time.Unix(1e9, 0), "edge")
	mustAdd(t, s, drop("192.0.2.1", time.Hour), nil)
	mustAdd(t, s, drop("192.0.2.2", time.Hour), nil)
	if !w.drops("192.0.2.2", 80, 0, 0, 2e9) || strings.Count(log.String(), "cannot be kept over a restart") != 1 {
		t.Error(log.String())
	}
	if err := os.Mkdir(dir, 0o700); err != nil { // there is room again when the sink stops
		t.Fatal(err)
	}
	s.Close()
	if s, _ := keptStore(t, dir, time.Unix(1e9, 0), "edge"); len(s.List().Rules) != 2 {
		t.Errorf("after the stop: %+v", s.List().Rules)
	}
}
