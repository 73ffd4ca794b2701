package degraded

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestParts: since when is kept while the reason changes; beginning and end are logged once each; what is no longer
// configured is forgotten.
func TestParts(t *testing.T) {
	now, log := time.Unix(100, 0), bytes.Buffer{}
	p := New(func() time.Time { return now }, func() *slog.Logger { return slog.New(slog.NewTextHandler(&log, nil)) })
	p.Set("http", "listen", nil)
	if p.Err() != nil || log.Len() > 0 {
		t.Errorf("%v, log %q", p.Err(), &log)
	}
	p.Set("http", "listen", errors.New("taken"))
	now = now.Add(time.Minute)
	p.Set("http", "listen", errors.New("not there"))
	p.Set("collector", "c", errors.New("no such host"))
	got := p.List()
	if len(got) != 2 || got[0].Part != "collector" || got[1] != (State{"http", "listen", "not there", time.Unix(100, 0)}) {
		t.Errorf("%+v", got)
	}
	if s := got[1].String(); s != "http listen: since 1970-01-01T00:01:40Z: not there" {
		t.Error(s)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 2 {
		t.Errorf("%d warnings of 2 beginnings: %s", n, &log)
	}
	if err := p.Err(); err == nil || err.Error() != "collector c: no such host\nhttp listen: not there" {
		t.Error(err)
	}
	p.Keep("collector", []string{"d"})
	p.Set("http", "listen", nil)
	if len(p.List()) != 0 || !strings.Contains(log.String(), "no longer degraded") {
		t.Errorf("%+v, log %s", p.List(), &log)
	}
	if (*Parts)(nil).List() != nil {
		t.Error("nil has something")
	}
}

// TestRetry: a try at each tick, at once where it is asked for, none after the stop.
func TestRetry(t *testing.T) {
	tick, tried := make(chan time.Time), make(chan bool)
	r := Retry(tick, func() { tried <- true })
	for range 3 {
		tick <- time.Time{}
		<-tried
	}
	r.Soon()
	<-tried
	r.Stop()
	select {
	case tick <- time.Time{}: // taken in the instant of the stop
		<-tried
	case <-time.After(10 * time.Millisecond):
	}
}
