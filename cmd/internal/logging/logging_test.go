package logging

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"syscall"
	"testing"

	"intsink/conf"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		format conf.LogFormat
		want   string
	}{
		{"text", `^time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d) level=WARN msg="link is down" port=up0 why="no cable"\n$`},
		{"auto", `^time=\S+ level=WARN msg="link is down" port=up0 why="no cable"\n$`},
		{"json", `^\{"time":"[^"]+","level":"WARN","msg":"link is down","port":"up0","why":"no cable"\}\n$`},
		{"journal", `^<4>link is down port=up0 why="no cable"\n$`},
	} {
		t.Run(string(c.format), func(t *testing.T) {
			var b bytes.Buffer
			log := slog.New(New(conf.Log{Format: c.format, Level: "info"}, &b))
			log.Debug("not at this level")
			log.With("port", "up0").Warn("link is down", "why", "no cable")
			if !regexp.MustCompile(c.want).Match(b.Bytes()) {
				t.Errorf("%q, want %s", b.String(), c.want)
			}
		})
	}
}

func TestPrioritiesOfTheJournal(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(New(conf.Log{Format: "journal", Level: "debug"}, &b))
	log.Debug("a")
	log.Info("b")
	log.Warn("c")
	log.Error("two\nlines")
	if got, want := b.String(), "<7>a\n<6>b\n<4>c\n<3>two lines\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestJournalIsRecognised by the file that the log goes to, not by the variable alone,
// which children of a service inherit.
func TestJournalIsRecognised(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	info, err := w.Stat()
	if err != nil {
		t.Fatal(err)
	}
	s := info.Sys().(*syscall.Stat_t)
	for stream, want := range map[string]bool{fmt.Sprintf("%d:%d", s.Dev, s.Ino): true, "1:2": false, "": false} {
		t.Run(stream, func(t *testing.T) {
			if got := readByJournal(w, stream); got != want {
				t.Errorf("JOURNAL_STREAM=%q: %v, want %v", stream, got, want)
			}
		})
	}
}
