package control_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/status"
	"intsink/internal/netns"
)

// upgradable is a sink whose program has a folder of its own, on trial of others.
type upgradable struct {
	*sinktest.Sink
	own, socket string
	numbers     *numbered
}

// newUpgradable starts a sink between the wires a and b of the test, with more in its configuration.
func newUpgradable(t *testing.T, text string) *upgradable {
	t.Helper()
	dir := t.TempDir()
	u := &upgradable{own: filepath.Join(dir, "intsink")}
	netns.Sh(t, fmt.Sprintf("chmod 755 $(dirname %[1]s) %[1]s; cp %[2]s %[3]s; chmod 755 %[3]s", dir, os.Args[0], u.own))
	t.Setenv("STATE_DIRECTORY", t.TempDir())
	text, u.socket = sinktest.AddSocket(t, text)
	cmd := exec.Command(u.own, "run", "--config", sinktest.Write(t, filepath.Join(dir, "c.hcl"), strings.Replace(text, "%s", "", 1)))
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	u.Sink = sinktest.StartCommand(t, cmd)
	u.until(t, "ready", func(s *status.Status) bool { return s.Ready == "ok" })
	u.numbers = newNumbered(t)
	return u
}

// status is what the sink tells of itself; nil: nobody answers.
func (u *upgradable) status(t *testing.T) *status.Status {
	t.Helper()
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", u.socket)
	}}}
	r, err := client.Get("http://intsink/api/v1/status")
	if err != nil {
		return nil
	}
	defer r.Body.Close()
	var s status.Status
	if json.NewDecoder(r.Body).Decode(&s) != nil {
		return nil
	}
	return &s
}

func (u *upgradable) until(t *testing.T, what string, is func(*status.Status) bool) *status.Status {
	t.Helper()
	var s *status.Status
	for end := time.Now().Add(sinktest.Patience / 4); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if s = u.status(t); s != nil && is(s) {
			return s
		}
	}
	t.Fatalf("not %s: %+v\n%s", what, s, u.Stderr)
	return nil
}

// program is another program beside the sink's: what a script does before, or in place of, the test's program.
func (u *upgradable) program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new")
	if script == "" {
		netns.Sh(t, "cp "+u.own+" "+path)
		return path
	}
	sinktest.Write(t, path, strings.ReplaceAll("#!/bin/sh\nexport INTSINK_TEST_MAIN=1\ncase $1 in run) ;; *) exec OWN \"$@\";; esac\n"+script+"\n", "OWN", u.own))
	os.Chmod(path, 0o755)
	return path
}

// numbered are packets with a number each, sent at a fixed pace, and those of them that came through.
type numbered struct {
	sent, arrived, last, longest atomic.Int64 // last and longest in ns
	stop                         func()
}

// numberedEvery is the pace.
const numberedEvery = 200 * time.Microsecond

func newNumbered(t *testing.T) *numbered {
	t.Helper()
	n := &numbered{}
	in, mark := sinktest.OpenWire(t, "a-near"), []byte("numbered")
	endReceiving := sinktest.Receive(t, sinktest.OpenWire(t, "b-far"), func(f []byte) {
		if !bytes.Contains(f, mark) {
			return
		}
		now := time.Now().UnixNano()
		if last := n.last.Swap(now); last != 0 {
			n.longest.Store(max(n.longest.Load(), now-last))
		}
		n.arrived.Add(1)
	})
	var stopped atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		begin := time.Now()
		for !stopped.Load() {
			for due := int64(time.Since(begin) / numberedEvery); n.sent.Load() < due; n.sent.Add(1) {
				f := append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5}, mark...)
				f = append(binary.BigEndian.AppendUint64(f, uint64(n.sent.Load())), make([]byte, 60)...)
				in.Send(f)
			}
			time.Sleep(numberedEvery)
		}
	}()
	n.stop = func() {
		stopped.Store(true)
		<-done
		time.Sleep(200 * time.Millisecond)
		endReceiving()
	}
	t.Cleanup(func() { stopped.Store(true); <-done })
	return n
}

// TestUpgrade: another program takes over with hardly a packet lost, is confirmed and installed, and ends as the first would.
func TestUpgrade(t *testing.T) {
	if !netns.In(t) {
		return
	}
	sinktest.Wires(t, "a", "b")
	for name, text := range map[string]string{
		"ports of the kernel":  sinktest.KernelPorts("kernel:a-far", "kernel:b-near"),
		"DPDK's net_af_packet": sinktest.KernelPorts("net_af_packet0,iface=a-far", "net_af_packet1,iface=b-near"),
	} {
		t.Run(name, func(t *testing.T) { takeOver(t, newUpgradable(t, text)) })
	}
}

func takeOver(t *testing.T, u *upgradable) {
	before := u.status(t)
	sinktest.Must(t, "mode", "strip", "--socket", u.socket)
	var s *status.Status
	for range 3 { // other load may keep the new worker from its CPU for seconds, which ends the trial
		if out := sinktest.Must(t, "upgrade", u.program(t, ""), "--confirm", "10m", "--socket", u.socket); !strings.Contains(out, "unless intsink confirm comes before") {
			t.Error(out)
		}
		s = u.until(t, "ready", func(s *status.Status) bool { return s.Ready == "ok" })
		if ended := s.Config.LastTrial; ended == nil || ended.Result != "stuck" {
			break
		}
	}
	if !s.Started.After(before.Started) || s.Config.Trial == nil || s.Config.Trial.Program != "devel" || s.Mode.Mode != "strip" {
		t.Errorf("%+v %+v", s.Config.Trial, s)
	}
	for _, pid := range []int{u.Cmd.Process.Pid, u.child(t)} {
		named := func() bool {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return string(name) == "intsink\n"
		}
		if !sinktest.Eventually(named) {
			t.Errorf("process %d has another name", pid)
		}
	}
	for _, again := range [][]string{{"reload"}, {"upgrade", os.Args[0]}} {
		if _, stderr, code := sinktest.Run(t, append(again, "--socket", u.socket)...); code != 1 || !strings.Contains(stderr, "intsink confirm") {
			t.Errorf("%s during the trial: %d %s", again, code, stderr)
		}
	}
	if out := sinktest.Must(t, "confirm", "--socket", u.socket); !strings.Contains(out, "confirmed and installed") {
		t.Error(out)
	}
	u.until(t, "confirmed", func(s *status.Status) bool {
		return !s.Replaced && s.Config.LastTrial != nil && s.Config.LastTrial.Result == "confirmed"
	})
	if left, _ := filepath.Glob(u.own + ".*"); len(left) != 1 || left[0] != u.own+".before" {
		t.Errorf("files are %s", left)
	}
	u.lost(t, 5*time.Second)
	if code := u.Sink.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, u.Stderr)
	}
}

// child is the process that the one which was started has started.
func (u *upgradable) child(t *testing.T) (pid int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", u.Cmd.Process.Pid))
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Errorf("children %q: %v", text, err)
	}
	return pid
}

// lost says how many packets were lost, and for how long none came: less than most.
func (u *upgradable) lost(t *testing.T, most time.Duration) {
	t.Helper()
	u.numbers.stop()
	lost, gap := u.numbers.sent.Load()-u.numbers.arrived.Load(), time.Duration(u.numbers.longest.Load())
	if t.Logf("%d packets, one each %v: %d lost, longest gap %v", u.numbers.sent.Load(), numberedEvery, lost, gap); gap > most {
		t.Errorf("no packet came for %v", gap)
	}
}

// TestUpgradeIsRefused: a program that does not start, or takes another configuration, changes nothing, and no packet is lost.
func TestUpgradeIsRefused(t *testing.T) {
	if !netns.In(t) {
		return
	}
	u := newUpgradable(t, sinktest.InLine(t))
	bad := sinktest.Write(t, filepath.Join(t.TempDir(), "bad.hcl"), "no_such_block {}\n")
	for script, want := range map[string]string{
		"exit 1":                          "it ended without a word",
		"exec OWN run --config " + bad:    bad + " is not valid",
		"exec OWN upgrade":                "it ended without a word",
		"kill -ABRT $$":                   "it ended without a word",
		"exec /no/such/program":           "it ended without a word",
		"exec OWN \"$@\" --mode nonesuch": "it ended without a word",
	} {
		_, stderr, code := sinktest.Run(t, "upgrade", u.program(t, script), "--socket", u.socket)
		if code != 1 || !strings.Contains(stderr, "refused, nothing has changed: ") || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d: %s", script, code, stderr)
		}
	}
	for text, want := range map[string]string{"#!/bin/sh\necho intsink 0\n[ $1 = version ]\n": "waits for no turn", "\x7fELF": "does not run here", "#!/bin/sh\necho hello": "is no intsink"} {
		path := sinktest.Write(t, filepath.Join(t.TempDir(), "new"), text)
		if _, stderr, code := sinktest.Run(t, "upgrade", path, "--socket", u.socket); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d: %s", text, code, stderr)
		}
	}
	if left, _ := filepath.Glob(u.own + ".*.*"); len(left) != 0 {
		t.Errorf("files are %s", left)
	}
	if u.lost(t, time.Second); u.numbers.sent.Load() != u.numbers.arrived.Load() {
		t.Errorf("%d packets of %d arrived", u.numbers.arrived.Load(), u.numbers.sent.Load())
	}
}

// TestUpgradeGoesBack: a program on trial that ends, hangs, or that nobody wants is followed by the one before it, which says why.
func TestUpgradeGoesBack(t *testing.T) {
	if !netns.In(t) {
		return
	}
	u := newUpgradable(t, sinktest.InLine(t))
	mark := fmt.Sprintf("of %d", os.Getpid())
	confirm := "1m"
	for _, c := range []struct {
		script, want string
		ends         func()
	}{
		{"OWN \"$@\" & sleep 2; kill -9 $!; exit 3", "it ended (exit status 3)", nil},
		{"OWN \"$@\" & sleep 2; kill -STOP $!; wait", "its workers have not polled for 5s", nil},
		{"(setsid sh -c 'env -i sh -c \"sleep 1000; : " + mark + "\" >/dev/null 2>&1 &' &); OWN \"$@\" & sleep 2; kill -9 $!; exit 4", "it ended (exit status 4)", nil},
		{"exec OWN \"$@\"", "asked for by unix uid 0", func() { sinktest.Must(t, "confirm", "--back", "--socket", u.socket) }},
		{"exec OWN \"$@\"", "nobody confirmed it in time", nil},
	} {
		if c.want == "nobody confirmed it in time" {
			confirm = "3s"
		}
		asked := time.Now()
		sinktest.Must(t, "upgrade", u.program(t, c.script), "--confirm", confirm, "--socket", u.socket)
		if c.ends != nil {
			c.ends()
		}
		s := u.until(t, "back", func(s *status.Status) bool {
			return s.Ready == "ok" && s.Config.Trial == nil && s.Config.LastTrial != nil && s.Config.LastTrial.Ended.After(asked)
		})
		if !strings.Contains(s.Config.LastTrial.Why, c.want) || s.Config.LastTrial.Tried != "devel" {
			t.Errorf("%s: %+v", c.script, s.Config.LastTrial)
		}
		if said := sinktest.Must(t, "status", "--socket", u.socket); !strings.Contains(said, "the program devel was on trial, and devel came back at") {
			t.Error(said)
		}
		if out, _, _ := sinktest.Run(t, "problems", "--socket", u.socket); !strings.Contains(out, c.want) { // at the second look
			u.until(t, "a problem", func(*status.Status) bool {
				out, _, _ = sinktest.Run(t, "problems", "--socket", u.socket)
				return strings.Contains(out, c.want)
			})
		}
		if !strings.Contains(u.Stderr.String(), c.want) {
			t.Errorf("the log does not say %q", c.want)
		}
	}
	if out, _ := exec.Command("pgrep", "-f", "sleep 1000; : "+mark+"$").Output(); len(out) != 0 {
		t.Errorf("a process that a program on trial has left is there still: %s", out)
	}
	if bad, _ := filepath.Glob(filepath.Join(os.Getenv("STATE_DIRECTORY"), "*.bad")); len(bad) != 0 {
		t.Errorf("set aside: %v", bad)
	}
	if code := u.Sink.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, u.Stderr)
	}
}

// TestUpgradeWithoutItsGuard: a program on trial stops when nobody watches over it any more, and a signal to the guard is one to it.
func TestUpgradeWithoutItsGuard(t *testing.T) {
	if !netns.In(t) {
		return
	}
	u := newUpgradable(t, sinktest.InLine(t))
	sinktest.Must(t, "upgrade", u.program(t, ""), "--confirm", "10m", "--socket", u.socket)
	u.Cmd.Process.Kill()
	<-u.Ended
	if !sinktest.Eventually(func() bool { return u.status(t) == nil }) {
		t.Error("it goes on")
	}
}

// TestProgramOnTrialHasNoSay: whoever asks it to confirm itself over its own socket changes nothing; intsink confirm does.
func TestProgramOnTrialHasNoSay(t *testing.T) {
	if !netns.In(t) {
		return
	}
	u := newUpgradable(t, sinktest.InLine(t))
	sinktest.Must(t, "upgrade", u.program(t, ""), "--confirm", "10m", "--socket", u.socket)
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", u.socket)
	}}}
	r, err := client.Post("http://intsink/api/v1/confirm", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(r.Body)
	r.Body.Close()
	if s := u.status(t); r.StatusCode != http.StatusConflict || !strings.Contains(string(said), "does not confirm itself") || s == nil || s.Config.Trial == nil {
		t.Errorf("%d %s", r.StatusCode, said)
	}
	sinktest.Must(t, "confirm", "--socket", u.socket)
	if code := u.Sink.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, u.Stderr)
	}
}

// TestUpgradeOfProgramWithCapabilities: the rights of the program's file go along, with its owner and mode, and no packet stops for a
// program that has none.
func TestUpgradeOfProgramWithCapabilities(t *testing.T) {
	if !netns.In(t) {
		return
	}
	dir := t.TempDir()
	own := filepath.Join(dir, "intsink")
	netns.Sh(t, fmt.Sprintf("chmod 755 $(dirname %[1]s) %[1]s; cp %[2]s %[3]s; chmod 750 %[3]s; chgrp 65534 %[3]s; setcap cap_net_raw,cap_net_admin,cap_ipc_lock+ep %[3]s", dir, os.Args[0], own))
	state := t.TempDir()
	text, socket := sinktest.AddSocket(t, sinktest.InLine(t))
	config := sinktest.Write(t, filepath.Join(dir, "c.hcl"), strings.Replace(text, "%s", "", 1))
	netns.Sh(t, fmt.Sprintf("chown 65534 %s %s; chmod 644 %s", state, filepath.Dir(socket), config))
	t.Setenv("STATE_DIRECTORY", state)
	cmd := exec.Command(own, "run", "--config", config)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	u := &upgradable{own: own, socket: socket, Sink: sinktest.StartCommand(t, cmd)}
	u.until(t, "ready", func(s *status.Status) bool { return s.Ready == "ok" })
	sinktest.Must(t, "upgrade", u.program(t, ""), "--confirm", "10m", "--socket", u.socket)
	s := u.until(t, "ready", func(s *status.Status) bool { return s.Ready == "ok" })
	if s.Config.Trial == nil {
		t.Errorf("%+v\n%s", s.Config.LastTrial, u.Stderr)
	}
	sinktest.Must(t, "confirm", "--socket", u.socket)
	if out, _ := exec.Command("sh", "-c", "getcap "+own+"; stat -c '%a %g' "+own).Output(); !strings.Contains(string(out), "cap_net_raw") || !strings.HasSuffix(string(out), "\n750 65534\n") {
		t.Errorf("the program that is installed has %s", out)
	}
	if code := u.Sink.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, u.Stderr)
	}
}

// TestUpgradeTrustsNobodyElse: whoever answers on the socket says what he likes; what the kernel says of him, and of the folders on
// the way, decides, and nothing is changed or run.
func TestUpgradeTrustsNobodyElse(t *testing.T) {
	dir := t.TempDir()
	netns.Sh(t, "chmod 755 $(dirname "+dir+") "+dir)
	answers := func(socket string) { // as nobody, a program of root's that is none of ours
		script := `use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 8) or die $!; chmod 0777, $ARGV[0];
			while (my $c = $s->accept) { sysread $c, my $asked, 65536; my $b = '{"version":"1","socket":"/run/another.sock"}';
			print $c "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " . length($b) . "\r\n\r\n$b"; close $c }`
		cmd := exec.Command("/usr/bin/perl", "-e", script, socket)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		if !sinktest.Eventually(func() bool { _, err := os.Stat(socket); return err == nil }) {
			t.Fatal("it does not listen")
		}
	}
	given, open := filepath.Join(dir, "given"), filepath.Join(dir, "open")
	netns.Sh(t, fmt.Sprintf("mkdir %[1]s %[2]s; chown 65534 %[1]s; chmod 777 %[2]s", given, open))
	answers(given + "/s")
	answers(open + "/s")
	for socket, want := range map[string]string{
		given + "/s": "which is not the program that is installed", // perl is root's
		open + "/s":  "a process of uid 65534 answers there, who has not been given that place",
	} {
		_, stderr, code := sinktest.Run(t, "upgrade", os.Args[0], "--socket", socket)
		if code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d %s", socket, code, stderr)
		}
	}
	if left, _ := filepath.Glob("/usr/bin/perl*.next*"); len(left) != 0 {
		t.Errorf("beside another program stands %s", left)
	}
}
