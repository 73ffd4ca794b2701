package control_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/loopback"
)

// bed is a sink between two devices that always have packets, whose bypass switch is a file.
type bed struct {
	*sinktest.Sink
	dir, path, text string
}

// asked is where the switch's command notes what it was asked for.
func (b *bed) asked() string { return filepath.Join(b.dir, "asked") }

// newBed prepares a sink: hook is what its bypass command does after it has noted what it was asked for, and more goes
// into its configuration.
func newBed(t *testing.T, hook, more string) *bed {
	t.Helper()
	b := &bed{dir: t.TempDir()}
	command := sinktest.Write(t, filepath.Join(b.dir, "switch"), "#!/bin/sh\necho $1 >> "+b.asked()+"\n"+hook+"\n")
	if err := os.Chmod(command, 0o755); err != nil {
		t.Fatal(err)
	}
	http := loopback.Address(t)
	b.text = fmt.Sprintf(sinktest.Small, http) + sinktest.Config("udp_port = 5000") + fmt.Sprintf("bypass {\n  command = [%q]\n  after   = \"1m\" # whatever else the machine does\n  timeout = \"1m\"\n}\n", command) + more
	b.path = sinktest.Write(t, filepath.Join(b.dir, "c.hcl"), b.text)
	b.Sink = &sinktest.Sink{HTTP: http}
	return b
}

// change changes the configuration.
func (b *bed) change(t *testing.T, from, to string) {
	t.Helper()
	if !strings.Contains(b.text, from) {
		t.Fatalf("no %s in\n%s", from, b.text)
	}
	b.text = strings.ReplaceAll(b.text, from, to)
	sinktest.Write(t, b.path, b.text)
}

// start runs the sink with that standard error; nil: one that is read.
func (b *bed) start(t *testing.T, stderr *os.File, environment ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "run", "--config", b.path)
	cmd.Env = append(append(os.Environ(), "INTSINK_TEST_MAIN=1"), environment...)
	http := b.HTTP
	if stderr == nil {
		b.Sink = sinktest.StartCommand(t, cmd)
	} else {
		b.Sink = startSilent(t, cmd, stderr)
	}
	b.HTTP = http
}

// startSilent is startCommand with a standard error that the test does not read.
func startSilent(t *testing.T, cmd *exec.Cmd, stderr *os.File) *sinktest.Sink {
	t.Helper()
	r := &sinktest.Sink{Cmd: cmd, Stderr: &bytes.Buffer{}, Ended: make(chan struct{})}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { cmd.Wait(); close(r.Ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-r.Ended })
	return r
}

// passes waits until packets have passed since the call.
func (b *bed) passes(t *testing.T) {
	t.Helper()
	sum := func(p observetest.Exposition) (n float64) {
		for name, value := range p.Series {
			if strings.HasPrefix(name, "intsink_port_tx_packets_total{") {
				n += value
			}
		}
		return n
	}
	first := sum(observetest.Parse(t, b.Get(t, "/metrics")))
	b.Wait(t, "packets to pass", func(p observetest.Exposition) bool { return sum(p) > first })
}

// inline waits until the switch was asked for inline.
func (b *bed) inline(t *testing.T) {
	t.Helper()
	if !sinktest.Eventually(func() bool { text, _ := os.ReadFile(b.asked()); return strings.HasPrefix(string(text), "inline\n") }) {
		t.Fatalf("the switch was not asked for inline\n%s", b.Stderr)
	}
}

// ends sends SIGTERM, and checks that the process ends in time, with that code, and that packets go around it.
func (b *bed) ends(t *testing.T, code int) {
	t.Helper()
	if got := b.Stop(t, sinktest.Patience); got != code {
		t.Errorf("exit code %d, want %d\n%s", got, code, b.Stderr)
	}
	b.bypassed(t)
}

// bypassed checks that the switch was asked for bypass at last.
func (b *bed) bypassed(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(b.asked())
	if err != nil || !strings.HasSuffix(string(text), "bypass\n") {
		t.Errorf("the switch was asked for %q (%v), wanted bypass at last", text, err)
	}
}

// pipe is a pipe whose reader hangs: it is full, once fill has been called.
func pipe(t *testing.T) (reader, writer *os.File, fill func()) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w, func() {
		own, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", w.Fd()), unix.O_WRONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(own)
		for block := []byte("x"); err == nil; {
			_, err = unix.Write(own, block)
		}
	}
}

// TestTheLogDecidesNothing: whatever becomes of who reads the log, packets pass, a reload comes into force, the sink stops, and
// its switch is turned; the lines that were lost are counted.
func TestTheLogDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		stderr func(t *testing.T) (stderr *os.File, fails func())
	}{
		"the reader hangs":                {func(t *testing.T) (*os.File, func()) { _, w, fill := pipe(t); return w, fill }},
		"the reader hangs from the start": {func(t *testing.T) (*os.File, func()) { _, w, fill := pipe(t); fill(); return w, func() {} }},
		"the reader ends":                 {func(t *testing.T) (*os.File, func()) { r, w, _ := pipe(t); return w, func() { r.Close() } }},
		"the disk is full": {func(t *testing.T) (*os.File, func()) {
			f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return f, func() {}
		}},
		"the journal hangs": {func(t *testing.T) (*os.File, func()) {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			f, other := os.NewFile(uintptr(fds[0]), "journal"), os.NewFile(uintptr(fds[1]), "reader")
			t.Cleanup(func() { f.Close(); other.Close() })
			return f, func() {
				for err := error(nil); err == nil; {
					err = unix.Send(fds[0], []byte("x"), unix.MSG_DONTWAIT)
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, "", "")
			stderr, fails := c.stderr(t)
			b.start(t, stderr)
			b.passes(t)
			b.inline(t)
			fails()
			b.change(t, "sample = 100", "sample = 50")
			b.Cmd.Process.Signal(syscall.SIGHUP)
			b.Wait(t, "the reload", func(p observetest.Exposition) bool { return p.Series["intsink_config_generation"] == 2 })
			b.passes(t)
			if name == "the reader ends" || name == "the disk is full" {
				b.Wait(t, "lost lines to be counted", func(p observetest.Exposition) bool { return p.Series["intsink_log_lines_dropped_total"] > 0 })
			}
			began := time.Now()
			b.ends(t, 0)
			t.Logf("ended within %v", time.Since(began))
		})
	}
}

// TestFilesThatNeverEnd: a reload, over TCP and by SIGHUP, whose configuration names pipes, devices and descriptors of the process as
// its certificate says at once what is degraded, and why; the next reload, and the stop, find nothing in their way.
func TestFilesThatNeverEnd(t *testing.T) {
	b := newBed(t, "", "")
	text, socket := sinktest.AddSocket(t, strings.Replace(b.text, b.HTTP, "%s", 1))
	b.text = fmt.Sprintf(text, b.HTTP)
	sinktest.Write(t, b.path, b.text)
	b.start(t, nil)
	b.passes(t)
	fifo := filepath.Join(b.dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{fifo, "/dev/zero", b.dir}
	for _, f := range files {
		if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", b.Cmd.Process.Pid, f.Name())); !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "/dev/null") {
			paths = append(paths, "/proc/self/fd/"+f.Name())
		}
	}
	for _, path := range paths {
		secure := fmt.Sprintf("http {\n  tls {\n    certificate = %q\n    key = %q\n  }", path, path)
		next := sinktest.Write(t, filepath.Join(b.dir, "next.hcl"), strings.Replace(b.text, "http {", secure, 1))
		if out := sinktest.Must(t, "reload", "--config", next, "--socket", socket); !strings.Contains(out, "degraded: http listen: ") || !strings.Contains(out, "not a regular file") && !strings.Contains(out, "no such file") { // the endpoint's own descriptors are closed
			t.Errorf("%s: %s", path, out)
		}
	}
	sinktest.Must(t, "reload", "--config", sinktest.Write(t, filepath.Join(b.dir, "next.hcl"), b.text), "--socket", socket)
	if err := os.Remove(b.path); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(b.path, 0o600); err != nil {
		t.Fatal(err)
	}
	b.Cmd.Process.Signal(syscall.SIGHUP)
	if !sinktest.Eventually(func() bool {
		return strings.Contains(b.Get(t, "/readyz?verbose"), "by SIGHUP: "+b.path+" is not valid")
	}) {
		t.Error("SIGHUP was not answered")
	}
	b.passes(t)
	b.ends(t, 0)
}

// silentManager is systemd's socket, which takes nothing any more.
func silentManager(t *testing.T) (environment string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for err == nil {
		err = unix.Sendto(fd, []byte("x"), unix.MSG_DONTWAIT, &unix.SockaddrUnix{Name: path})
	}
	return "NOTIFY_SOCKET=" + path
}

// fault is something beside the packets that hangs or fails.
type fault struct {
	hook, more  string                     // as newBed takes them
	timeout     string                     // of the bypass command, where it is not to succeed
	environment func(t *testing.T) string  // of the process
	during      func(t *testing.T, b *bed) // happens while the sink runs
}

// clients are API clients that ask and never read, or never finish what they ask, and one that listens to events and does not read.
func clients(t *testing.T, b *bed) {
	t.Helper()
	for _, request := range []string{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "POST /api/v1/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", "GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n", "GET /he"} {
		c, err := net.Dial("tcp", b.HTTP)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, strings.Repeat(request, map[bool]int{true: 50, false: 1}[strings.HasPrefix(request, "GET /m")]))
	}
}

// TestFaults: with each of these packets pass, a reload comes into force, SIGTERM ends the process in time, and the bypass switch is
// in bypass then.
func TestFaults(t *testing.T) {
	child := "sleep 600 & echo $! >> " + filepath.Join(t.TempDir(), "children")
	t.Cleanup(func() {
		text, _ := os.ReadFile(strings.Fields(child)[len(strings.Fields(child))-1])
		for _, pid := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(pid)
			unix.Kill(n, unix.SIGKILL)
		}
	})
	for name, f := range map[string]fault{
		"nothing": {},
		"a hook that leaves a child": {hook: child, during: func(t *testing.T, b *bed) {
			p := b.Wait(t, "the command", func(p observetest.Exposition) bool { return p.Series[`intsink_bypass_commands_total{result="ok"}`] > 0 })
			if n := p.Series[`intsink_bypass_commands_total{result="failed"}`]; n != 0 {
				t.Errorf("%v commands failed", n)
			}
		}},
		"a hook that hangs in line":    {hook: `[ $1 = bypass ] || sleep 600`},
		"a hook that hangs in bypass":  {hook: `[ $1 = inline ] || sleep 600`, timeout: "2s"},
		"a hook that fails":            {hook: `exit 1`, timeout: "2s"},
		"systemd does not read":        {environment: silentManager},
		"API clients that do not read": {during: clients},
		"a collector that is away":     {more: "collector \"none\" { address = \"127.0.0.1:1\" }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, f.hook, f.more)
			if f.timeout != "" {
				b.change(t, `timeout = "1m"`, fmt.Sprintf("timeout = %q", f.timeout))
			}
			var environment []string
			if f.environment != nil {
				environment = append(environment, f.environment(t))
			}
			b.start(t, nil, environment...)
			b.passes(t)
			b.inline(t)
			if f.during != nil {
				f.during(t, b)
			}
			b.change(t, "sample = 100", "sample = 50")
			b.Cmd.Process.Signal(syscall.SIGHUP)
			b.Wait(t, "the reload", func(p observetest.Exposition) bool { return p.Series["intsink_config_generation"] >= 2 })
			b.passes(t)
			began := time.Now()
			b.ends(t, 0)
			t.Logf("ended within %v", time.Since(began))
		})
	}
}

// TestAStopThatHangs: a worker does not come back from its driver. The switch is turned first; the process ends within
// its time, or at a second signal, and says what is lost.
func TestAStopThatHangs(t *testing.T) {
	for name, second := range map[string]bool{"one signal": false, "a second signal": true} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, "", "")
			b.change(t, `"net_null0"`, `"net_ring0"`) // idle: stopThread finds the worker asleep
			b.change(t, `"net_null1"`, `"net_ring1"`)
			b.change(t, `timeout = "1m"`, `timeout = "10s"`) // which the stop may take, and ten seconds more
			b.start(t, nil)
			b.inline(t)
			resume := stopThread(t, b.Cmd.Process.Pid, workerThread(t, b.Cmd.Process.Pid))
			defer resume()
			b.Cmd.Process.Signal(syscall.SIGTERM)
			want := "ended, as the stop took too long"
			if !sinktest.Eventually(func() bool { text, _ := os.ReadFile(b.asked()); return strings.HasSuffix(string(text), "bypass\n") }) {
				t.Error("the switch was not turned")
			}
			if second {
				time.Sleep(time.Second) // signals at once count as one
				b.Cmd.Process.Signal(syscall.SIGTERM)
				want = "ended at once by a second signal"
			} else {
				b.change(t, "sample = 100", "sample = 50")
				b.Cmd.Process.Signal(syscall.SIGHUP)
			}
			if !sinktest.Eventually(func() bool { return !alive(b.Cmd.Process.Pid) }) {
				t.Fatal("it has not ended")
			}
			resume()
			<-b.Ended
			if code := b.Cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(b.Stderr.String(), want) {
				t.Errorf("exit code %d\n%s", code, b.Stderr)
			}
			b.bypassed(t)
		})
	}
}

// TestAStartThatFails: whatever the process before has left, packets go around a sink that does not start; one that another
// sink holds is left alone.
func TestAStartThatFails(t *testing.T) {
	for name, c := range map[string]struct{ from, to string }{
		"port":   {`"net_null0"`, `"net_pcap0,rx_pcap=/nowhere/x.pcap"`},
		"EAL":    {"mbufs      = 4096", "mbufs = 8192\n  eal_args = [\"--help\"]"},
		"memory": {"mbufs      = 4096", "mbufs = 67108864"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, "", "")
			b.change(t, c.from, c.to)
			if _, stderr, code := sinktest.Run(t, "run", "--config", b.path); code != 1 {
				t.Errorf("exit code %d\n%s", code, stderr)
			}
			b.bypassed(t)
		})
	}
	t.Run("beside one that runs", func(t *testing.T) {
		b := newBed(t, "", "")
		b.start(t, nil)
		b.inline(t)
		other := sinktest.Write(t, filepath.Join(b.dir, "other.hcl"), strings.Replace(b.text, `"net_null0"`, `"net_pcap0,rx_pcap=/nowhere/x.pcap"`, 1))
		if _, stderr, code := sinktest.Run(t, "run", "--config", other); code != 1 {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
		if text, _ := os.ReadFile(b.asked()); string(text) != "inline\n" {
			t.Errorf("the switch was asked for %q", text)
		}
		b.ends(t, 0)
	})
}

// alive tells whether a process runs: one that has ended, and whose threads are being traced, does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// TestNameThatDoesNotResolve: packets pass from the first on while a collector's name has no address, at start and by a reload; status says what
// is degraded, and an address in its place ends that. check warns, and with --strict refuses, as run does.
func TestNameThatDoesNotResolve(t *testing.T) {
	b := newBed(t, "", "")
	named := b.text + "collector \"named\" { address = \"no-such.invalid:8555\" }\n"
	sinktest.Write(t, b.path, named)
	if _, stderr, code := sinktest.Run(t, "check", "--config", b.path); code != 0 || !strings.Contains(stderr, "the host name does not resolve") {
		t.Errorf("check: exit code %d\n%s", code, stderr)
	}
	if _, stderr, code := sinktest.Run(t, "check", "--strict", "--config", b.path); code != 1 || !strings.Contains(stderr, "no address for no-such.invalid:8555") {
		t.Errorf("check --strict: exit code %d\n%s", code, stderr)
	}
	if _, stderr, code := sinktest.Run(t, "run", "--strict", "--config", b.path); code != 1 || !strings.Contains(stderr, "no-such.invalid") {
		t.Errorf("run --strict: exit code %d\n%s", code, stderr)
	}
	b.start(t, nil)
	b.passes(t)
	const degraded = `intsink_degraded{part="collector",name="named"}`
	b.Wait(t, "the name to be told", func(p observetest.Exposition) bool { return p.Series[degraded] == 1 })
	sinktest.Write(t, b.path, strings.Replace(named, "sample = 100", "sample = 50", 1))
	b.Cmd.Process.Signal(syscall.SIGHUP)
	b.Wait(t, "the reload", func(p observetest.Exposition) bool { return p.Series["intsink_config_generation"] == 2 })
	b.passes(t)
	sinktest.Write(t, b.path, strings.Replace(named, "no-such.invalid", "localhost", 1))
	b.Cmd.Process.Signal(syscall.SIGHUP)
	b.Wait(t, "the name to be found", func(p observetest.Exposition) bool {
		return p.Series["intsink_config_generation"] == 3 && p.Series[degraded] == 0
	})
	b.passes(t)
	if s := b.Get(t, "/api/v1/status"); !strings.Contains(s, `"address":"127.0.0.1:8555"`) && !strings.Contains(s, `"address": "127.0.0.1:8555"`) {
		t.Error(s)
	}
	b.ends(t, 0)
}
