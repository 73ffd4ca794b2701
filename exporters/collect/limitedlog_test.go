package collect

import (
	"log/slog"
	"testing"
	"time"
)

func TestLogIsLimited(t *testing.T) {
	var lines int
	now := time.Unix(0, 0)
	l := NewLog(slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) { lines++; return len(p), nil }), nil)))
	l.clock = func() time.Time { return now }
	for range 500 { // each line once, as each batch of a receiver that is away makes one
		l.Say("one", "err", "refused")
	}
	if lines != 1 {
		t.Errorf("%d lines that are the same", lines)
	}
	for n := range 500 {
		l.Say("one", "err", n)
	}
	l.Say("another")
	if lines != logLines+1 {
		t.Errorf("%d lines", lines)
	}
	now = now.Add(logPeriod)
	l.Say("one")
	if lines != logLines+2 {
		t.Errorf("%d lines", lines)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
