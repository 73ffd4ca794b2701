package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/exporters/record"
)

// describe is an answer to DESCRIBE TABLE with these columns.
func describe(columns []string) string {
	var b strings.Builder
	for _, c := range columns {
		fmt.Fprintf(&b, "{\"name\":%q,\"type\":\"String\",\"default_type\":\"\"}\n", c)
	}
	return b.String()
}

// TestLackingColumns: what the table of the server has no place for is told, and no answer that is none is taken for a
// table without columns.
func TestLackingColumns(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"all there", describe(record.Fields), ""},
		{"one more", describe(append([]string{"mine"}, record.Fields...)), ""},
		{"an older table", describe(record.Fields[:len(record.Fields)-2]), strings.Join(record.Fields[len(record.Fields)-2:], " ")},
		{"nothing", "", ""},
		{"another answer", "Ok.\n", ""},
		{"cut", describe(record.Fields)[:200], ""},
	} {
		if got := strings.Join(lacking([]byte(c.answer)), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestTableIsCompared: once when it takes rows, and again when it takes rows after it has refused some, since it may have
// been made anew.
func TestTableIsCompared(t *testing.T) {
	var mu sync.Mutex
	asked, away := 0, false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		io.Copy(io.Discard, r.Body)
		switch {
		case r.URL.Query().Get("query") == "DESCRIBE TABLE `int`.`reports` FORMAT JSONEachRow":
			asked++
			io.WriteString(w, describe(record.Fields[1:]))
		case away:
			w.Header().Set("X-ClickHouse-Exception-Code", "60")
			http.Error(w, "Code: 60. DB::Exception: Table int.reports doesn't exist", 404)
		}
	}))
	defer s.Close()
	var said []string
	o, err := New(Config{URL: s.URL + "/?table=int.reports", Rows: 100, Wait: time.Millisecond, Timeout: time.Minute, Log: func(msg string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprint(append([]any{msg}, args...)...))
	}})
	if err != nil {
		t.Fatal(err)
	}
	b := collecttest.New(t, collect.Options{}, 1<<30, o)
	reached := func(n int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return asked == n && len(said) == n
		}
	}
	b.Send(10)
	b.Wait("the columns are compared", reached(1))
	b.Send(10)
	b.Wait("all is delivered", delivered(b))
	mu.Lock()
	away = true
	mu.Unlock()
	b.Send(10)
	b.Wait("the table is gone", func() bool { return b.C.Snapshot().Outputs[0].Retried > 0 })
	mu.Lock()
	away = false
	mu.Unlock()
	b.Wait("the columns are compared again", reached(2))
	b.Stop()
	if !strings.Contains(said[0], "lacks columns") || !strings.Contains(said[0], "columns"+record.Fields[0]) && !strings.Contains(said[0], "columns "+record.Fields[0]) {
		t.Errorf("said %q", said)
	}
}

// TestErrorsSayWhatToDo: what, where, and what to do.
func TestErrorsSayWhatToDo(t *testing.T) {
	o, err := New(Config{URL: "http://ch:8123/?table=int.reports", Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{refused{"60", "404 Not Found: Code: 60"}, "table int.reports: 404 Not Found: Code: 60; there is no such table: create it with deploy/collect/clickhouse.sql"},
		{refused{"516", "403 Forbidden"}, "see user and password_file"},
		{refused{"", "503 Service Unavailable: "}, "table int.reports at ch:8123: 503 Service Unavailable"},
		{&url.Error{Op: "Post", URL: "x", Err: context.DeadlineExceeded}, "no answer from ch:8123 within timeout (30s)"},
		{io.EOF, "ch:8123 closed the connection without an answer"},
		{errors.New("connection refused"), "table int.reports at ch:8123: connection refused"},
	} {
		got := o.explain(c.err)
		if !strings.Contains(got.Error(), c.want) || !errors.Is(got, c.err) {
			t.Errorf("%v, want %q", got, c.want)
		}
	}
}

// old answers as a server of a version does that refuses all inserts.
func old(t *testing.T, version string, refuse bool) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch q := r.URL.Query().Get("query"); {
		case q == "SELECT version()":
			io.WriteString(w, version+"\n")
		case strings.HasPrefix(q, "DESCRIBE"):
			io.WriteString(w, describe(record.Fields))
		case refuse:
			w.Header().Set("X-ClickHouse-Exception-Code", "10")
			http.Error(w, "Code: 10. DB::Exception: Not found column stats.received", 500)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestOldServer: a server that is too old for the tables is told at the first insert, once, and with each insert that it refuses.
func TestOldServer(t *testing.T) {
	for _, c := range []struct {
		version string
		refuse  bool
		said    int
		want    string // in the error; "": rows are taken
	}{
		{"23.10.3.5", false, 1, ""},
		{"23.10.3.5", true, 1, "the server is ClickHouse 23.10.3.5: the tables of deploy/collect/clickhouse.sql (GET /api/v1/schema/clickhouse.sql) need 24.8 or later"},
		{"24.8.4.1", true, 0, "Not found column"},
		{"26.9.2.1", false, 0, ""},
		{"a proxy", false, 0, ""},
	} {
		var mu sync.Mutex
		said := 0
		o, err := New(Config{URL: old(t, c.version, c.refuse).URL + "/?table=int.reports", Rows: 100, Wait: time.Millisecond, Timeout: time.Minute, Log: func(msg string, _ ...any) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(msg, "need 24.8 or later") {
				said++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		b := collecttest.New(t, collect.Options{}, 1<<30, o)
		b.Send(10)
		b.Wait("an answer", func() bool { s := b.C.Snapshot().Outputs[0]; return s.Retried > 0 || s.Delivered > 0 })
		if why := b.C.Snapshot().Outputs[0].Why; c.want != "" && (why == nil || !strings.Contains(why.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.version, why, c.want)
		}
		b.Stop()
		if said != c.said {
			t.Errorf("%s: said %d times", c.version, said)
		}
	}
}

// TestTry: what --check tells of a server, without an insert.
func TestTry(t *testing.T) {
	for _, c := range []struct{ name, version, want string }{
		{"all is there", "25.8.2.1", ""},
		{"too old", "22.3", "need 24.8 or later"},
	} {
		s := old(t, c.version, true)
		o, err := New(Config{URL: s.URL + "/?table=int.reports"})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Try(t.Context()); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	o, _ := New(Config{URL: "http://127.0.0.1:1/?table=t", Replicas: []string{"127.0.0.1:2"}})
	if err := o.Try(t.Context()); err == nil || strings.Count(err.Error(), "connection refused") != 2 {
		t.Errorf("two servers that are away: %v", err)
	}
}
