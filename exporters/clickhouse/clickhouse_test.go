package clickhouse

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
)

func output(t *testing.T, c Config) *Output {
	t.Helper()
	if c.Rows == 0 {
		c.Rows = 100
	}
	if c.Wait == 0 {
		c.Wait = 20 * time.Millisecond
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	o, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func delivered(b *collecttest.Bed) func() bool {
	return func() bool { o := b.C.Snapshot().Outputs[0]; return o.Live && o.Queued == 0 && o.Waiting == 0 }
}

// TestInsert: a collector's records are all inserted, in full blocks, with the query, settings and
// login that are configured.
func TestInsert(t *testing.T) {
	s := newServer(t)
	password := filepath.Join(t.TempDir(), "password")
	os.WriteFile(password, []byte("secret\r\n"), 0o600)
	b := collecttest.New(t, collect.Options{}, 0, output(t, Config{URL: s.URL + "/?table=int.reports&max_insert_threads=1", User: "intsink", PasswordFile: password, Wait: time.Minute}))
	b.Send(1000)
	b.Stop()
	if rows, ids := s.count(); rows != 2000 || ids != 2000 {
		t.Errorf("%d rows, %d ids", rows, ids)
	}
	posts := s.received()
	last := posts[len(posts)-1]
	q := last.URL.Query()
	if q.Get("query") != "INSERT INTO `int`.`reports` FORMAT Native" || q.Has("table") || q.Get("max_insert_threads") != "1" {
		t.Errorf("query %v", q)
	}
	if q.Get("decompress") != "1" || q.Get("input_format_skip_unknown_fields") != "1" {
		t.Errorf("settings %v", q)
	}
	if h := last.Header; last.Method != http.MethodPost || h.Get("X-ClickHouse-User") != "intsink" || h.Get("X-ClickHouse-Key") != "secret" {
		t.Errorf("%s with header %v", last.Method, h)
	}
	if len(posts) > 2000/50 {
		t.Errorf("%d inserts of 100 rows for 2000", len(posts))
	}
}

// TestRestartWhileAway: rows that the server has not taken are kept for the next process.
func TestRestartWhileAway(t *testing.T) {
	refuses, s := newServer(t), newServer(t) // two: a request may be handled after its client has ended
	refuses.set(refuse(http.StatusServiceUnavailable, ""))
	b := collecttest.New(t, collect.Options{Flush: 100 * time.Millisecond}, 1<<30, output(t, Config{URL: refuses.URL + "/?table=t"}))
	b.Send(200)
	b.Stop()
	b.Start(collect.Options{}, 1<<30, output(t, Config{URL: s.URL + "/?table=t"}))
	b.Wait("all is delivered", delivered(b))
	b.Stop()
	if rows, ids := s.count(); rows != 400 || ids != 400 {
		t.Errorf("%d rows, %d ids", rows, ids)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://ch:8123/", "names no table"},
		{"http://ch:8123/%zz?table=t", "invalid URL escape"},
	} {
		if _, err := New(Config{URL: c.url}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.url, err, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ name, url, parameter, want string }{
		{"of the URL win", "/?table=t&input_format_skip_unknown_fields=0", "input_format_skip_unknown_fields", "0"},
		{"blocks are not merged", "/?table=t", "optimize_on_insert", "0"},
		{"of the URL win", "/?table=t&optimize_on_insert=1", "optimize_on_insert", "1"},
		{"blocks do not wait in a queue", "/?table=t", "async_insert", "0"},
		{"of the URL win although empty", "/?table=t&input_format_skip_unknown_fields=", "input_format_skip_unknown_fields", ""},
		{"a query of the URL does not", "/?table=t&query=DROP", "query", "INSERT INTO `t` FORMAT Native"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := output(t, Config{URL: "http://ch:8123" + c.url})
			if got := o.insert.Query()[c.parameter]; len(got) != 1 || got[0] != c.want {
				t.Errorf("%s is %q, want %q", c.parameter, got, c.want)
			}
		})
	}
	if q := quote("a`b\\c.d"); q != "`a\\`b\\\\c`.`d`" {
		t.Error(q)
	}
}
