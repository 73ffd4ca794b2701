//go:build engines

package faults

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"

	"intsink/exporters/record/nativetest"
	"intsink/internal/loopback"
)

// server is a server of ClickHouse, Debian's 18.16, behind a proxy that fails. It tests inserts by
// HTTP: its table has only the columns that tell records apart.
type server struct {
	*httptest.Server // the proxy
	t                testing.TB
	dir, url         string
	cmd              *exec.Cmd

	mu      sync.Mutex
	inserts int
	faults  map[string]int // how often the proxy failed, by kind of failure
}

const serverConfig = `<yandex>
<logger><level>warning</level><log>DIR/log</log><errorlog>DIR/errors</errorlog></logger>
<http_port>HTTP</http_port><tcp_port>TCP</tcp_port><interserver_http_port>INTER</interserver_http_port><listen_host>127.0.0.1</listen_host>
<path>DIR/data/</path><tmp_path>DIR/tmp/</tmp_path>
<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>5368709</mark_cache_size>
</yandex>
`

const serverUsers = `<yandex>
<profiles><default/></profiles><quotas><default/></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
</yandex>
`

func startServer(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), faults: map[string]int{}}
	port := func() string { return strconv.Itoa(loopback.Port(t)) }
	http, tcp, inter := port(), port(), port()
	s.url = "http://127.0.0.1:" + http
	config := strings.NewReplacer("DIR", s.dir, "HTTP", http, "TCP", tcp, "INTER", inter).Replace(serverConfig)
	for name, text := range map[string]string{"config.xml": config, "users.xml": serverUsers} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.run()
	t.Cleanup(s.kill)
	s.ask("CREATE TABLE faults (id String, type String, exporter String, node_id UInt32, hw_id UInt8, sequence UInt64, `index` UInt16) ENGINE = MergeTree ORDER BY (node_id, hw_id, sequence, `index`)")
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// run starts the server and waits until it answers.
func (s *server) run() {
	s.t.Helper()
	s.cmd = exec.Command("/usr/sbin/clickhouse-server", "--config-file="+filepath.Join(s.dir, "config.xml"))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("%v: make deps-engines installs it", err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(s.url)
		if err == nil {
			resp.Body.Close()
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("the server of ClickHouse does not answer: %v", err)
		}
	}
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// ask runs a query on the server, past the proxy.
func (s *server) ask(sql string) string {
	s.t.Helper()
	resp, err := http.Post(s.url, "text/plain", strings.NewReader(sql))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%v %s: %s\n%s", err, resp.Status, b, sql)
	}
	return string(b)
}

// ServeHTTP is the proxy: each tenth insert fails, before or after the server has it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.inserts++
	fault := ""
	if s.inserts%10 == 0 {
		fault = []string{"503", "no answer in time", "stored, then 500", "stored, then closed"}[s.inserts/10%4]
		s.faults[fault]++
	}
	s.mu.Unlock()
	switch fault {
	case "503":
		http.Error(w, "overloaded", http.StatusServiceUnavailable)
		return
	case "no answer in time":
		<-r.Context().Done()
		return
	}
	q := r.URL.Query()
	for _, later := range []string{"insert_deduplication_token", "optimize_on_insert", "async_insert", "deduplicate_blocks_in_dependent_materialized_views"} { // than 18.16
		q.Del(later)
	}
	if body, err = textRows(q, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to, err := http.NewRequestWithContext(r.Context(), r.Method, s.url+"/?"+q.Encode(), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	to.Header = r.Header.Clone()
	to.Header.Del("Accept-Encoding") // what the server says is a text
	resp, err := http.DefaultClient.Do(to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	switch fault {
	case "stored, then 500":
		http.Error(w, "replica is lost", http.StatusInternalServerError)
	case "stored, then closed":
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
	}
}

// textRows turns an insert of columns into one of text, in the same frames: 18.16 has few of the columns' types.
func textRows(q url.Values, body []byte) ([]byte, error) {
	query, ok := strings.CutSuffix(q.Get("query"), "FORMAT Native")
	if !ok {
		return body, nil
	}
	q.Set("query", query+"FORMAT JSONEachRow")
	rows, err := nativetest.Inserted(bytes.NewReader(body), "id", "type", "exporter", "node_id", "hw_id", "sequence", "index")
	if err != nil {
		return nil, err
	}
	var text []byte
	for _, row := range rows {
		text = append(append(text, row...), '\n')
	}
	frame := compress.NewWriter(compress.LevelZero, compress.LZ4)
	err = frame.Compress(text)
	return frame.Data, err
}

// failed returns how often the proxy failed, by kind.
func (s *server) failed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d inserts: %v", s.inserts, s.faults)
}
