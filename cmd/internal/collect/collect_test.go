package collect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/wire/report/reporttest"
	"intsink/internal/loopback"
)

// TestMain lets the tests run the command in a process of its own, to kill it.
func TestMain(m *testing.M) {
	if os.Getenv("COLLECT_TEST_MAIN") != "" {
		cmd := NewCommand("test")
		cmd.SilenceUsage = true
		if cmd.Execute() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is the command, running.
type process struct {
	t       testing.TB
	cmd     *exec.Cmd
	stderr  *lockedBuffer
	reports string // address
	metrics string
	conn    net.Conn
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// configure writes a configuration with two free ports in front of the rest.
func configure(t testing.TB, dir, rest string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "collect.hcl")
	text := fmt.Sprintf("listen \"reports\" {\n  address        = %q\n  receive_buffer = \"8MiB\"\n}\nhttp { listen = %q }\n", loopback.Address(t), loopback.Address(t))
	write(t, path, text+rest)
	return path
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var addresses = regexp.MustCompile(`(?:address|listen) +=\s*"([^"]+)"`)

// launch runs the command until it answers; stdout is its standard output, if there is one.
func launch(t testing.TB, config string, stdout ...*os.File) *process {
	t.Helper()
	return launchWith(t, config, func(cmd *exec.Cmd) {
		if len(stdout) > 0 {
			cmd.Stdout = stdout[0]
		}
	})
}

// launchWith is launch of a command that change has changed.
func launchWith(t testing.TB, config string, change func(*exec.Cmd)) *process {
	t.Helper()
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	found := addresses.FindAllStringSubmatch(string(text), -1)
	p := &process{t: t, cmd: exec.Command(os.Args[0], "--config", config), stderr: &lockedBuffer{}, reports: found[0][1], metrics: "http://" + found[1][1]}
	p.cmd.Env = append(os.Environ(), "COLLECT_TEST_MAIN=1")
	p.cmd.Stderr = p.stderr
	change(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	p.wait("it answers", func() bool { code, _ := p.get("/healthz"); return code == 200 })
	if p.conn, err = net.Dial("udp", p.reports); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) get(path string) (code int, body string) {
	resp, err := http.Get(p.metrics + path)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func (p *process) wait(what string, done func() bool) {
	p.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			_, metrics := p.get("/metrics")
			p.t.Fatalf("waited for: %s\n%s\n%s", what, p.stderr, metrics)
		}
	}
}

// metric is the value of a line of /metrics.
func (p *process) metric(series string) float64 {
	p.t.Helper()
	_, body := p.get("/metrics")
	for line := range strings.Lines(body) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return v
		}
	}
	p.t.Fatalf("no metric %s in\n%s", series, body)
	return 0
}

// send sends report packets, and waits until they are taken.
func (p *process) send(from, to uint32) {
	p.t.Helper()
	before := p.metric(`intcollect_datagrams_total{listen="reports"}`)
	for n := from; n < to; n++ {
		if _, err := p.conn.Write(reporttest.Packet(p.t, n, 2)); err != nil {
			p.t.Fatal(err)
		}
	}
	p.wait("the datagrams are taken", func() bool {
		return p.metric(`intcollect_datagrams_total{listen="reports"}`) == before+float64(to-from)
	})
}

// end sends a signal and returns the exit code.
func (p *process) end(s syscall.Signal) int {
	p.conn.Close()
	p.cmd.Process.Signal(s)
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// ids are the distinct ids of the reports in files.
func ids(t testing.TB, paths ...string) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var r struct{ ID, Type string }
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatalf("%v: %q", err, lines.Text())
			}
			if r.Type == "report" {
				all[r.ID]++
			}
		}
	}
	return all
}

// TestKill: what was received is delivered, however often the process is killed in the
// middle: in mode always nothing is lost, and ids repeat.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	config := configure(t, dir, "spool {\n  directory = \"spool\"\n  size = \"1GiB\"\n  mode = \"always\"\n}\nfile \"out\" { path = \"out.jsonl\" }\nfile \"socket\" { path = \"unix:socket\" }\n")
	sent := uint32(0)
	for range 5 {
		p := launch(t, config)
		p.send(sent, sent+3000)
		sent += 3000
		p.end(syscall.SIGKILL)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	copied := make(chan struct{})
	go func() { // a reader, which the process finds
		defer close(copied)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		f, err := os.Create(filepath.Join(dir, "read.jsonl"))
		if err != nil {
			return
		}
		io.Copy(f, conn)
		f.Close()
	}()
	p := launch(t, config)
	for _, output := range []string{"file out", "file socket"} {
		p.wait(output+" has caught up", func() bool {
			return p.metric(fmt.Sprintf("intcollect_output_behind{output=%q}", output)) == 0 && p.metric(fmt.Sprintf("intcollect_output_queued_records{output=%q}", output)) == 0
		})
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	<-copied
	for _, path := range []string{"out.jsonl", "read.jsonl"} {
		if n := len(ids(t, filepath.Join(dir, path))); n != 2*int(sent) {
			t.Errorf("%s: %d distinct ids of %d reports", path, n, 2*sent)
		}
	}
}

// TestReload: outputs, allow and names change; what needs a restart is refused and said.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	config := configure(t, dir, "file \"a\" { path = \"a.jsonl\" }\n")
	text, _ := os.ReadFile(config)
	p := launch(t, config)
	reloads := func(result string, n float64) {
		t.Helper()
		p.cmd.Process.Signal(syscall.SIGHUP)
		p.wait("a reload is "+result, func() bool { return p.metric(fmt.Sprintf("intcollect_config_reloads_total{result=%q}", result)) == n })
	}
	p.send(0, 100)
	if code, body := p.get("/api/v1/names"); code != 200 || body != "" {
		t.Errorf("names before there are any: %d %q", code, body)
	}
	write(t, filepath.Join(dir, "names.hcl"), "node \"spine 2\" {\n  id         = 202\n  interfaces = { 12 = \"Eth1/12\" }\n}\n")
	write(t, config, strings.Replace(string(text), `file "a" { path = "a.jsonl" }`, "file \"a\" { path = \"a2.jsonl\" }\nfile \"b\" { path = \"b.jsonl\" }\nnames { file = \"names.hcl\" }", 1))
	reloads("adopted", 1)
	if code, body := p.get("/api/v1/names"); code != 200 || body != "202\t4294967295\tspine 2\n202\t12\tEth1/12\n" {
		t.Errorf("names: %d %q", code, body)
	}
	p.send(100, 200)
	write(t, config, string(text)+"nonsense\n")
	reloads("refused", 1)
	write(t, config, strings.Replace(string(text), "8MiB", "4MiB", 1))
	reloads("refused", 2)
	p.wait("the refusal says what needs a restart", func() bool { // it is logged after it is counted
		return strings.Contains(p.stderr.String(), "needs a restart") && strings.Contains(p.stderr.String(), "listen, but for allow")
	})
	write(t, config, strings.Replace(string(text), "receive_buffer", "allow = [\"192.0.2.0/24\"]\n  receive_buffer", 1))
	reloads("adopted", 2)
	p.send(200, 300)
	if n := p.metric(`intcollect_refused_datagrams_total{listen="reports",reason="not_allowed"}`); n != 100 {
		t.Errorf("%v datagrams refused", n)
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	if a, b := ids(t, dir+"/a.jsonl", dir+"/a2.jsonl"), ids(t, dir+"/b.jsonl"); len(a) != 400 || len(b) != 200 {
		t.Errorf("%d ids in a, %d in b", len(a), len(b))
	}
}

// TestReadiness: 503 when nothing takes records and there is nowhere to keep them.
func TestReadiness(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, configure(t, dir, "file \"a\" { path = \"unix:nobody\" }\n"))
	if code, body := p.get("/readyz"); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	p.send(0, 1)
	p.wait("it is not ready, and says why", func() bool {
		code, body := p.get("/readyz")
		return code == 503 && strings.Contains(body, "file a")
	})
	for path, want := range map[string]string{"/": "/metrics", "/api/v1/schema": "/api/v1/schema/intsink.proto", "/api/v1/schema/intsink.proto": "message Report", "/healthz": "ok"} {
		if code, body := p.get(path); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.200s", path, code, body)
		}
	}
	if code, _ := p.get("/api/v1/schema/files.go"); code != 404 {
		t.Errorf("files.go: %d", code)
	}
	p.end(syscall.SIGTERM)
}

// TestStopDuringTheStart: a signal to stop ends the process while it reads the spool.
func TestStopDuringTheStart(t *testing.T) {
	dir := t.TempDir()
	segment := filepath.Join(dir, "spool", "spool-0000000001.pcap")
	if err := errors.Join(os.Mkdir(filepath.Dir(segment), 0o700), syscall.Mkfifo(segment, 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "--config", configure(t, dir, "file \"a\" { path = \"a.jsonl\" }\nspool { directory = \"spool\" }\n"))
	cmd.Env = append(os.Environ(), "COLLECT_TEST_MAIN=1")
	stderr := &lockedBuffer{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	pipe, err := os.OpenFile(segment, os.O_WRONLY, 0) // waits until the process reads, which then has no end
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it goes on reading")
	}
	if err != nil || strings.Contains(stderr.String(), "collecting") {
		t.Errorf("%v\n%s", err, stderr)
	}
}

// TestClosedPipe: where the reader of standard output has gone, that output fails as others do, also
// at the stop, and the others go on.
func TestClosedPipe(t *testing.T) {
	dir := t.TempDir()
	config := configure(t, dir, "file \"pipe\" { path = \"-\" }\nfile \"disk\" { path = \"a.jsonl\" }\n")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	p := launch(t, config, w)
	w.Close()
	p.send(0, 10)
	p.wait("the other output has them", func() bool { return p.metric(`intcollect_output_delivered_records_total{output="file disk"}`) >= 10 })
	p.wait("the output is away", func() bool { return p.metric(`intcollect_output_up{output="file pipe"}`) == 0 })
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	if n := len(ids(t, filepath.Join(dir, "a.jsonl"))); n != 20 {
		t.Errorf("%d reports", n)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	run := func(text string, args ...string) (string, error) {
		path := filepath.Join(dir, "c.hcl")
		write(t, path, "listen \"r\" { address = \"127.0.0.1:8555\" }\n"+text)
		cmd := NewCommand("test")
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{"--config", path}, args...))
		err := cmd.Execute()
		return out.String(), err
	}
	if out, err := run("file \"a\" { path = \"-\" }\n", "--check", "--dump"); err != nil || !strings.Contains(out, "receive_buffer") {
		t.Errorf("%v %s", err, out)
	}
	if out, err := run("file \"a\" { path = \"-\" }\n", "--check"); err != nil || out != filepath.Join(dir, "c.hcl")+" is valid\n" {
		t.Errorf("%v %s", err, out)
	}
	if _, err := run("file \"a\" { path = \"-\" }\n", "--dump"); err == nil {
		t.Error("--dump without --check")
	}
	if _, err := run("nothing = 1\n", "--check"); err == nil || !strings.Contains(err.Error(), "is not valid: 2 errors") {
		t.Error(err)
	}
}

// TestMetricsHaveHelp: every series has a help and a type in front of it, once, and is in
// docs/collect.md.
func TestMetricsHaveHelp(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, configure(t, dir, "spool { directory = \"spool\" }\nfile \"a\" { path = \"a.jsonl\" }\n"))
	p.send(0, 10)
	_, body := p.get("/metrics")
	doc, err := os.ReadFile("../../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	helped, typed := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(body) {
		word := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "# HELP"):
			if strings.HasPrefix(word[2], "intcollect_") && !strings.Contains(string(doc), "`"+word[2]) {
				t.Errorf("docs/collect.md lacks %s", word[2])
			}
			if helped[word[2]] {
				t.Errorf("%s has two helps", word[2])
			}
			helped[word[2]] = true
		case strings.HasPrefix(line, "# TYPE"):
			typed[word[2]] = true
		case strings.HasPrefix(line, "intcollect_"):
			name, _, _ := strings.Cut(word[0], "{")
			base := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				base = strings.TrimSuffix(base, suffix)
			}
			if !helped[name] && !helped[base] || !typed[name] && !typed[base] {
				t.Errorf("%s has no help or type", name)
			}
		}
	}
	p.end(syscall.SIGTERM)
}

// TestShippedPair: the two files of deploy/collect are sound, and belong together.
func TestShippedPair(t *testing.T) {
	c, err := load("../../../deploy/collect/collect.hcl")
	if err != nil {
		t.Fatal(err)
	}
	sink, err := cli.LoadConfigElsewhere("../../../deploy/collect/sink.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if to := sink.Collectors[0].Address; to.Port() != 8555 || !strings.HasSuffix(c.Listens[0].Address, ":8555") || !sink.Report.Explain {
		t.Errorf("the sink sends to %s, collect listens on %s", to, c.Listens[0].Address)
	}
}
