package clickhouse

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
)

// hand is an output that the test drives by a clock of its own, with deliveries of a collector.
type hand struct {
	*Output
	t    *testing.T
	s    *server
	bed  *collecttest.Bed
	from *collecttest.Hand
	now  time.Time
	log  *lines
}

// lines collects what the collector logs.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// newHand starts a collector and makes an output to s with the table t.
func newHand(t *testing.T, s *server, c Config) *hand {
	t.Helper()
	if c.URL == "" {
		c.URL = s.URL + "/?table=t"
	}
	h := &hand{t: t, s: s, from: collecttest.NewHand(collect.Columns), now: time.Unix(1700000000, 0), log: &lines{}}
	h.Output = output(t, c)
	h.clock = func() time.Time { return h.now }
	log := collect.NewLog(slog.New(slog.NewTextHandler(h.log, nil)))
	h.bed = collecttest.New(t, collect.Options{Log: log, Flush: time.Nanosecond}, 0, h.from)
	t.Cleanup(h.bed.Stop)
	t.Cleanup(func() { h.Close() })
	return h
}

// packets sends so many report packets of two reports each to the collector, and each of them to
// the output as a delivery. It returns the bytes of memory of these deliveries.
func (h *hand) packets(n int) (bytes int) {
	h.t.Helper()
	h.bed.Send(n)
	for range n {
		d := h.from.Next(h.t)
		bytes += d.Size()
		h.Send(d)
	}
	return bytes
}

// pass lets time pass and calls Tick.
func (h *hand) pass(d time.Duration) {
	h.now = h.now.Add(d)
	h.Tick()
}

// answered waits for the answer to the attempt under way, and lets the output take it.
func (h *hand) answered() {
	h.t.Helper()
	h.arrived()
	h.Tick()
}

// arrived waits for the answer to the attempt under way.
func (h *hand) arrived() {
	h.t.Helper()
	if h.way == nil || h.way.done == nil {
		h.t.Fatal("no attempt is under way")
	}
	select {
	case err := <-h.way.done:
		h.way.done <- err
	case <-time.After(time.Minute):
		h.t.Fatal("no answer")
	}
}

// wantPosts fails the test unless the server has had inserts with so many rows each.
func (h *hand) wantPosts(rows ...int) {
	h.t.Helper()
	if got := h.rows(); !slices.Equal(got, rows) {
		h.t.Errorf("inserts of %v rows, want %v", got, rows)
	}
}

func (h *hand) rows() (rows []int) {
	for _, p := range h.s.received() {
		rows = append(rows, p.rows)
	}
	return rows
}

// wantAccounts fails the test unless so many records are delivered, in memory, and were sent again.
func (h *hand) wantAccounts(delivered, queued, retried uint64) {
	h.t.Helper()
	o := h.bed.C.Snapshot().Outputs[0]
	if o.Delivered != delivered || o.Queued != queued || o.Retried != retried {
		h.t.Errorf("%d delivered, %d in memory, %d sent again; want %d, %d, %d", o.Delivered, o.Queued, o.Retried, delivered, queued, retried)
	}
}

func refuse(status int, text string) answer {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, text, status)
		return false
	}
}

func store(http.ResponseWriter, *http.Request) bool { return true }

// away does not answer before the client has given up.
func away(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return false
}

// TestBlocks: a block is sent as soon as it is full, or when Wait has passed since its first record.
func TestBlocks(t *testing.T) {
	t.Run("full", func(t *testing.T) {
		h := newHand(t, newServer(t), Config{Rows: 6})
		h.packets(2)
		h.wantPosts()
		h.packets(1)
		h.answered()
		h.wantPosts(6)
		h.wantAccounts(6, 0, 0)
	})
	t.Run("late", func(t *testing.T) {
		h := newHand(t, newServer(t), Config{})
		h.pass(time.Hour) // an empty block does not age
		h.packets(1)
		h.pass(h.c.Wait / 2)
		h.packets(1)
		h.pass(h.c.Wait/2 - 1)
		if h.way != nil {
			t.Error("sent before Wait has passed")
		}
		h.pass(1)
		h.answered()
		h.wantPosts(4)
		h.wantAccounts(4, 0, 0)
		h.pass(time.Hour)
		if h.way != nil {
			t.Error("an empty block was sent")
		}
	})
}

// TestOneRecord: a block of one record is sent when Wait has passed, and by Flush.
func TestOneRecord(t *testing.T) {
	h := newHand(t, newServer(t), Config{})
	one := func() {
		h.bed.Write(collecttest.Packet(h.bed.Next, 1))
		h.bed.Next++
		h.Send(h.from.Next(h.t))
	}
	one()
	h.pass(h.c.Wait)
	h.answered()
	one()
	h.Flush(context.Background())
	h.wantPosts(1, 1)
	h.wantAccounts(2, 0, 0)
}

// TestRoom: a block has room up to Config.Rows and its bytes. One that has no more is sent as soon as
// the one before it is acknowledged; until then there is no room.
func TestRoom(t *testing.T) {
	s := newServer(t)
	acknowledge := make(chan struct{})
	s.set(func(http.ResponseWriter, *http.Request) bool { <-acknowledge; return true })
	h := newHand(t, s, Config{Rows: 6})
	if !h.Room(7, int(BlockBytes(6))+1) {
		t.Error("an empty block takes no delivery that is larger than a block")
	}
	h.packets(3)
	size := h.packets(2) // while the first block is on its way
	for _, c := range []struct {
		rows, bytes int
		want        bool
	}{
		{2, int(BlockBytes(6)) - size, true},
		{2, int(BlockBytes(6)) - size + 1, false},
		{3, 0, false},
		{1, 0, true},
	} {
		if got := h.Room(c.rows, c.bytes); got != c.want {
			t.Errorf("room for %d rows of %d bytes: %v", c.rows, c.bytes, got)
		}
	}
	close(acknowledge)
	h.arrived()
	if !h.Room(3, 0) {
		t.Error("no room although the block before is acknowledged")
	}
	h.answered()
	size = h.packets(1)
	if !h.Room(1, int(BlockBytes(6))-size+1) { // more bytes than fit: the block is sent
		t.Error("no room in an empty block")
	}
	h.answered()
	h.wantPosts(6, 4, 2)
	h.wantAccounts(12, 0, 0)
}

// TestFailures: a block that the server does not take is sent again, unchanged and with the same
// token, until it is taken; each row is stored once. The log says what the server answered.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer answer
		log    string
	}{
		{"500", refuse(500, "Code: 241. Memory limit exceeded\n"), `500 Internal Server Error: Code: 241. Memory limit exceeded"`},
		{"404", refuse(404, "Code: 60"), "404 Not Found: Code: 60"},
		{"503 and stored", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(503); return true }, "503 Service Unavailable"},
		{"204", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(204); return false }, "204 No Content"},
		{"a redirect to nowhere", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(302); return false }, `302 Found: "`},
		{"closed", func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, "closed the connection without an answer: EOF"},
		{"no answer", away, "context deadline exceeded"},
		{"late exception", func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("X-ClickHouse-Exception-Code", "252")
			io.WriteString(w, "Too many parts\n")
			return false
		}, `exception 252: Too many parts; `},
		{"long answer", refuse(500, strings.Repeat("x", maxAnswer)+"y"), ": " + strings.Repeat("x", maxAnswer) + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			s.set(c.answer)
			conf := Config{}
			if c.name == "no answer" {
				conf.Timeout = 20 * time.Millisecond
			}
			h := newHand(t, s, conf)
			h.packets(3)
			h.pass(h.c.Wait)
			for n := range 2 {
				h.answered()
				h.wantAccounts(0, 6, uint64(6*(n+1)))
				h.pass(time.Second)
			}
			h.arrived()
			s.set(nil)
			h.c.Timeout = time.Minute // of the attempts that succeed
			h.Tick()
			h.packets(2) // they wait for the block before
			h.pass(time.Second)
			h.answered()
			h.answered()
			h.wantAccounts(10, 0, 18)
			if c.name != "no answer" { // there an attempt may be over before the server has read it
				h.wantPosts(6, 6, 6, 6, 4)
			}
			if rows, ids := s.count(); rows != 10 || ids != 10 {
				t.Errorf("%d rows, %d ids", rows, ids)
			}
			var tokens []string
			for _, p := range s.received() {
				tokens = append(tokens, p.token)
			}
			if tokens = slices.Compact(tokens); len(tokens) != 2 || len(tokens[0]) != 32 {
				t.Errorf("tokens %q of two blocks", tokens)
			}
			if !strings.Contains(h.log.String(), c.log) {
				t.Errorf("the log does not say %q:\n%s", c.log, h.log)
			}
		})
	}
}

// TestRedirects: none is followed, also not one of those that keep the method and the rows. The block is
// sent again, no other server hears of it, and the log says where the redirect leads, without parameters.
func TestRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			asked := make(chan *http.Request, 10)
			login := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r })) // answers 200
			defer login.Close()
			s := newServer(t)
			s.set(func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, login.URL+"/login?password=hunter2", status)
				return false
			})
			h := newHand(t, s, Config{Rows: 2})
			h.packets(1)
			h.answered()
			h.wantAccounts(0, 2, 2)
			if log := h.log.String(); !strings.Contains(log, fmt.Sprint(status)) || !strings.Contains(log, login.URL+", which is not followed") || strings.Contains(log, "hunter2") {
				t.Errorf("logged %s", log)
			}
			s.set(nil)
			h.pass(time.Second)
			h.answered()
			h.wantAccounts(2, 0, 2)
			h.wantPosts(2, 2)
			if len(asked) > 0 {
				t.Errorf("the other server was asked: %v", (<-asked).Header)
			}
		})
	}
}

// TestExceptionCodeOfNone: the header of ClickHouse may say that there was no exception.
func TestExceptionCodeOfNone(t *testing.T) {
	s := newServer(t)
	s.set(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-ClickHouse-Exception-Code", "0")
		return true
	})
	h := newHand(t, s, Config{Rows: 2})
	h.packets(1)
	h.answered()
	h.wantAccounts(2, 0, 0)
}

// TestWaitsBetweenAttempts: attempts begin 0.2, 0.4, 0.8 ... and at last every 10 seconds after the
// failure of the one before; the next block begins anew.
func TestWaitsBetweenAttempts(t *testing.T) {
	s := newServer(t)
	s.set(refuse(500, ""))
	h := newHand(t, s, Config{Rows: 2})
	h.packets(1)
	for n, wait := range []time.Duration{200, 400, 800, 1600, 3200, 6400, 10000, 10000} {
		h.answered()
		h.pass(wait*time.Millisecond - 1)
		if h.way.done != nil {
			t.Fatalf("an attempt began before %d ms had passed", wait)
		}
		if n == 7 {
			s.set(nil)
		}
		h.pass(1)
	}
	h.answered()
	h.wantAccounts(2, 0, 16)
}

// TestReplicas: a block that one server does not take goes to the next one at once, the same under the same token, and later
// blocks stay there. When none takes it, all are tried after each wait.
func TestReplicas(t *testing.T) {
	first, second := newServer(t), newServer(t)
	first.set(refuse(500, "Code: 242. Table is in readonly mode"))
	h := newHand(t, first, Config{Rows: 2, Replicas: []string{strings.TrimPrefix(second.URL, "http://")}})
	sent := func(s *server, n int) {
		t.Helper()
		if got := len(s.received()); got != n {
			t.Errorf("%d attempts, want %d", got, n)
		}
	}
	h.packets(1)
	h.answered()
	h.Tick() // no time passes
	h.answered()
	h.wantAccounts(2, 0, 2)
	if a, b := first.received(), second.received(); a[0].token != b[0].token || !slices.Equal(a[0].ids, b[0].ids) {
		t.Errorf("%q of %q, then %q of %q", a[0].token, a[0].ids, b[0].token, b[0].ids)
	}
	first.set(nil)
	h.packets(1)
	h.answered()
	sent(first, 1) // though it is well again
	sent(second, 2)
	h.wantAccounts(4, 0, 2)

	first.set(refuse(503, ""))
	second.set(refuse(503, ""))
	h.packets(1)
	h.answered()
	h.Tick()
	h.answered()
	h.pass(firstWait - 1)
	if h.way.done != nil {
		t.Error("tried again before the wait, though no server takes it")
	}
	h.pass(1)
	h.answered()
	second.set(nil)
	first.set(nil)
	h.Tick()
	h.answered()
	sent(first, 3)
	sent(second, 4)
	h.wantAccounts(6, 0, 8)
	for _, server := range []*server{first, second} {
		if name := strings.TrimPrefix(server.URL, "http://"); !strings.Contains(h.log.String(), name) {
			t.Errorf("the log does not name %s: %s", name, h.log)
		}
	}
}

// TestAgain: of a delivery that was partly settled, the block has only the records to send again, and
// counts only these.
func TestAgain(t *testing.T) {
	s := newServer(t)
	h := newHand(t, s, Config{Rows: 3})
	h.bed.Send(1)
	d := h.from.Next(h.t)
	d.Delivered(1)
	d.Failed(1, fmt.Errorf("of another output"))
	d = h.from.Next(h.t)
	h.Send(d)
	if h.way != nil {
		t.Fatal("one record of two makes a block of three full")
	}
	h.packets(1)
	h.answered()
	h.wantPosts(3)
	h.wantAccounts(4, 0, 1)
	if ids := s.received()[0].ids; len(ids) != 3 || !strings.HasSuffix(ids[0], "-0-1") || !strings.HasSuffix(ids[1], "-1-0") {
		t.Errorf("inserted %v", ids)
	}
}

// TestClose: blocks that the server has not acknowledged are given back, an acknowledged one counts as
// delivered, and no connection stays open.
func TestClose(t *testing.T) {
	for _, c := range []struct {
		name      string
		answer    answer
		before    func(h *hand) // what happens before Close
		delivered uint64        // of four records in the block on its way, and two in the next
	}{
		{"while the server works", away, func(*hand) {}, 0},
		{"after the server has stored", store, func(h *hand) { h.arrived() }, 4},
		{"after the server has refused", refuse(500, ""), func(h *hand) { h.arrived() }, 0},
		{"between two attempts", refuse(500, ""), func(h *hand) { h.answered() }, 0},
		{"while nothing is on its way", store, func(h *hand) { h.answered() }, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			sent := make(chan struct{}) // until then no answer comes
			s.set(func(w http.ResponseWriter, r *http.Request) bool {
				<-sent
				return c.answer(w, r)
			})
			h := newHand(t, s, Config{Rows: 4})
			h.packets(3)
			close(sent)
			c.before(h)
			if err := h.Output.Close(); err != nil {
				t.Error(err)
			}
			if o := h.bed.C.Snapshot().Outputs[0]; o.Delivered != c.delivered || o.Queued != 6-c.delivered {
				t.Errorf("%+v", o)
			}
			if log := h.log.String(); strings.Contains(log, collect.ErrStopped.Error()) {
				t.Errorf("the log tells of the stop: %s", log)
			}
			for n := uint64(0); n < 6-c.delivered; { // the feed gets back what is not delivered
				n += uint64(h.from.Next(h.t).Count())
			}
			for range s.connections() {
				select {
				case <-s.closed:
				case <-time.After(time.Minute):
					t.Fatal("a connection stays open")
				}
			}
			h.Tick()
			if err := h.Output.Close(); err != nil || h.way != nil || h.Output.rows != 0 || h.size != 0 {
				t.Errorf("after a second Close: %v, %d rows of %d bytes", err, h.Output.rows, h.size)
			}
		})
	}
}

// TestFlush sends what is gathered and waits for the answers; it ends with its context.
func TestFlush(t *testing.T) {
	s := newServer(t)
	h := newHand(t, s, Config{Rows: 4})
	h.Flush(context.Background()) // nothing is there
	h.packets(3)
	h.Flush(context.Background())
	h.wantPosts(4, 2)
	h.wantAccounts(6, 0, 0)
	s.set(refuse(500, ""))
	h.packets(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h.Flush(ctx)
	h.wantAccounts(6, 2, 0)
}

// TestOneConnection: attempts share a connection, whatever the length of the answers.
func TestOneConnection(t *testing.T) {
	s := newServer(t)
	s.set(refuse(500, strings.Repeat("x", 600<<10)))
	h := newHand(t, s, Config{Rows: 2})
	h.packets(1)
	for range 3 {
		h.answered()
		h.pass(time.Minute)
	}
	h.arrived()
	if n := s.connections(); n != 1 {
		t.Errorf("%d connections for %d attempts", n, len(s.received()))
	}
}

// TestPassword: the password's file is read for each attempt, and an error names the option. Without
// user and file no login is sent.
func TestPassword(t *testing.T) {
	s := newServer(t)
	path := filepath.Join(t.TempDir(), "password")
	h := newHand(t, s, Config{Rows: 2, PasswordFile: path})
	h.packets(1)
	h.answered()
	if log := h.log.String(); !strings.Contains(log, "password_file: open "+path) {
		t.Error(log)
	}
	h.wantPosts()
	os.WriteFile(path, []byte(" secret \r\n"), 0o600)
	h.pass(time.Second)
	h.answered()
	header := s.received()[0].Header
	if _, user := header["X-Clickhouse-User"]; user || header.Get("X-ClickHouse-Key") != "secret" {
		t.Errorf("header %v", header)
	}
	h.c.PasswordFile = ""
	h.packets(1)
	h.answered()
	if _, key := s.received()[1].Header["X-Clickhouse-Key"]; key {
		t.Error("a password is sent although none is configured")
	}
	h.wantAccounts(4, 0, 2)
}

// TestErrorsHaveNoURL: the URL may have a password, which does not belong into the log.
func TestErrorsHaveNoURL(t *testing.T) {
	s := newServer(t)
	h := newHand(t, s, Config{URL: "http://intsink:hunter2@127.0.0.1:1/?table=t&password=hunter2", Rows: 2})
	h.packets(1)
	h.answered()
	if log := h.log.String(); !strings.Contains(log, "connection refused") || strings.Contains(log, "hunter2") {
		t.Error(log)
	}
}
