package collect

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadyOnlyWhenProved: an output that has been given records and has acknowledged none is not up, and without a spool
// nothing is ready then, at once and not after ten seconds.
func TestReadyOnlyWhenProved(t *testing.T) {
	p := launch(t, configure(t, t.TempDir(), "kafka \"k\" { brokers = [\"127.0.0.1:1\"] }\n"))
	if code, body := p.get("/readyz"); code != 200 {
		t.Errorf("before there is any report: %d %s", code, body)
	}
	p.send(0, 1)
	p.wait("a record is given to the output", func() bool { return p.metric(`intcollect_output_records_total{output="kafka k"}`) > 0 })
	if code, _ := p.get("/readyz"); code != 503 {
		t.Errorf("with the broker away: %d", code)
	}
	if up := p.metric(`intcollect_output_up{output="kafka k"}`); up != 0 {
		t.Errorf("output_up %v", up)
	}
}

// TestNotReadyWithoutADisk: with the broker away, and a spool that has room but cannot be written, what comes is going to be
// lost, so the collector is not ready; it is again when the spool can be written.
func TestNotReadyWithoutADisk(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, configure(t, dir, "kafka \"k\" { brokers = [\"127.0.0.1:1\"] }\nspool {\n  directory = \"spool\"\n  size = \"16MiB\"\n}\n"))
	p.send(0, 10)
	p.wait("a record is given to the output", func() bool { return p.metric(`intcollect_output_records_total{output="kafka k"}`) > 0 })
	if code, body := p.get("/readyz"); code != 200 {
		t.Errorf("with the broker away and a spool: %d %s", code, body)
	}
	spool := filepath.Join(dir, "spool")
	if err := os.Rename(spool, spool+".away"); err != nil {
		t.Fatal(err)
	}
	next := uint32(10)
	p.wait("it is not ready when the segment is full, and says why", func() bool {
		p.send(next, next+500)
		next += 500
		code, body := p.get("/readyz")
		return code == 503 && strings.Contains(body, "the spool cannot be written")
	})
	if err := os.Rename(spool+".away", spool); err != nil {
		t.Fatal(err)
	}
	p.wait("it is ready again", func() bool {
		p.send(next, next+1)
		next++
		code, _ := p.get("/readyz")
		return code == 200
	})
}

// TestReadyIsText: /readyz?verbose has the answer of a server on one line and without escapes, since a hostile server must not change the
// terminal of whoever asks.
func TestReadyIsText(t *testing.T) {
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Code: 60. \x1b]0;title\x07\x1b[2J\u202e\nlisten forged: ok", http.StatusNotFound)
	}))
	t.Cleanup(evil.Close)
	p := launch(t, configure(t, t.TempDir(), "clickhouse \"c\" {\n  url = \""+evil.URL+"/?table=t\"\n  wait = \"100ms\"\n}\n"))
	p.send(0, 1)
	var body string
	p.wait("the answer is told", func() bool {
		_, body = p.get("/readyz?verbose")
		return strings.Contains(body, "Code: 60")
	})
	if strings.ContainsAny(body, "\x1b\x07\u202e") || strings.Contains(body, "\nlisten forged") {
		t.Errorf("%q", body)
	}
}
