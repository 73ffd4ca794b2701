package installed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/internal/netns"
)

// Sections of docs/first-hour.md: onLinux is typed where routers of Linux are the network.
const (
	onLinux        = "With routers of Linux"
	withoutBrowser = "The same without a browser"
)

// TestFirstHourPage: what docs/first-hour.md types, in the playground itself, prints what stands there, and the problems that it
// tells of are there.
func TestFirstHourPage(t *testing.T) {
	if netns.In(t) {
		typePage(t, func(section string) bool { return section != onLinux }, nil, expected, elsewhere)
	}
}

// TestFirstHourOnLinux: what the section about routers of Linux types. It says so where the kernel cannot be one.
func TestFirstHourOnLinux(t *testing.T) {
	if _, err := os.Stat("/proc/sys/net/ipv6/ioam6_id"); err != nil {
		t.Logf("this kernel fills no IOAM traces (%v; Linux does from 5.15 on): the section is not typed", err)
		return
	}
	if netns.In(t) {
		typePage(t, func(section string) bool { return section == onLinux }, knowsSegments, expectedOnLinux, nil, "LINUX=1")
	}
}

// segments are the pairs of neighbours in the playground: three leaves, four spines, two leaves.
const segments = 3*4 + 4*2

// knowsSegments reports whether the sink has learned how long packets usually take between neighbours: no other place tells.
func knowsSegments() bool {
	r, err := http.Get("http://127.0.0.1:9465/api/v1/links?limit=100")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return err == nil && len(known.FindAll(b, -1)) >= segments
}

var known = regexp.MustCompile(`"state":\s*"(known|doubtful)"`)

type told struct{ log, webhook string }

// typePage types the sections that are asked for, when ready says so, and waits for the problems of each command.
func typePage(t *testing.T, typed func(section string) bool, ready func() bool, expected map[string]*regexp.Regexp, elsewhere map[string]told, more ...string) {
	page, err := os.ReadFile("../../../../docs/first-hour.md")
	if err != nil {
		t.Fatal(err)
	}
	netns.Sh(t, "ip link set lo up")
	bin := sinktest.Programs(t)
	config, err := os.ReadFile("../../../../deploy/playground/playground.hcl")
	if err != nil {
		t.Fatal(err)
	}
	mine, work := sinktest.Write(t, filepath.Join(t.TempDir(), "mine.hcl"), string(config)+"notify \"test\" { url = \"http://127.0.0.1:9477/\" }\n"), t.TempDir()
	env := append(os.Environ(), "BIN="+bin, "CONTROL="+filepath.Join(t.TempDir(), "control"), "CONFIG="+mine, "TMPDIR="+work)
	env = append(env, more...)
	shell := func(command string) *exec.Cmd {
		c := exec.Command("sh", "-c", strings.ReplaceAll(command, "bin/intsink", bin+"/intsink"))
		c.Dir, c.Env = "../../../..", env
		return c
	}
	ground := shell("exec deploy/playground/playground.sh")
	ground.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := ground.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	ground.Stdout, ground.Stderr = file, file
	if err := ground.Start(); err != nil {
		t.Fatal(err)
	}
	said := func() string { b, _ := os.ReadFile(out); return string(b) }
	ended := false
	t.Cleanup(func() {
		if !ended {
			syscall.Kill(-ground.Process.Pid, syscall.SIGTERM)
			ground.Wait()
		}
	})
	if !sinktest.Eventually(func() bool { return strings.Contains(said(), "http://127.0.0.1:9465/ui/") }) {
		t.Fatalf("it never printed the address\n%s", said())
	}
	posts := webhookIn(t, fmt.Sprintf("is%d-sink", ground.Process.Pid), "127.0.0.1:9477")
	io.WriteString(in, "help\n")
	if !sinktest.Eventually(func() bool { return strings.Contains(said(), "Ctrl-C ends it all.") }) {
		t.Errorf("the prompt does not answer\n%s", said())
	}
	if ready != nil && !sinktest.Eventually(ready) {
		t.Error("the sink never knows what is usual")
	}
	sections, steps := stepsOf(string(page))
	tried := 0
	for _, section := range slices.DeleteFunc(sections, func(s string) bool { return !typed(s) }) {
		for _, s := range steps[section] {
			tried++
			got, _ := shell(s.command).CombinedOutput() // problems has the exit code 1 where there are some
			if want := strings.Join(s.prints, "\n"); want != "" && strings.TrimSpace(string(got)) != want {
				t.Errorf("first-hour.md:%d: %s: it prints\n%sthe page shows\n%s", s.line, s.command, got, want)
			}
			if strings.Contains(s.command, "intsink capture") && !strings.Contains(string(got), "20 packets in ") {
				t.Errorf("%s: %s", s.command, got)
			}
			if found, ok := expected[s.command]; ok && !sinktest.Eventually(func() bool {
				got, _ = shell("bin/intsink problems").CombinedOutput()
				return found.MatchString(string(got))
			}) {
				t.Errorf("after %s the problems are never %s\n%s", s.command, found, got)
			}
			if found, ok := elsewhere[s.command]; ok && !sinktest.Eventually(func() bool {
				log, _ := filepath.Glob(filepath.Join(work, "*", "run.log"))
				text, err := os.ReadFile(log[0])
				return err == nil && regexp.MustCompile("(WARN|ERROR) .*"+found.log).Match(text) && regexp.MustCompile(`"event":"begin".*`+found.webhook).MatchString(posts())
			}) {
				t.Errorf("after %s log or webhook lack %+v\n%s", s.command, found, posts())
			}
		}
	}
	if typed(withoutBrowser) {
		typeAll(t, string(page), shell)
	}
	if tried < 6 {
		t.Errorf("%d commands: too few to be all", tried)
	}
	syscall.Kill(-ground.Process.Pid, syscall.SIGINT) // Ctrl-C
	err = ground.Wait()
	ended = true
	if left := netns.Sh(t, "ls /run/netns || true"); strings.Contains(left, fmt.Sprintf("is%d-", ground.Process.Pid)) {
		t.Errorf("namespaces are left: %s (%v)", left, err)
	}
}

// typeAll types what docs/first-hour.md has without a browser.
func typeAll(t *testing.T, page string, shell func(string) *exec.Cmd) {
	t.Helper()
	last := regexp.MustCompile("(?s)## " + withoutBrowser + "\n\n```sh\n(.*?)```").FindStringSubmatch(page)
	for _, command := range strings.Split(strings.TrimSpace(last[1]), "\n") {
		if got, err := shell(command).CombinedOutput(); len(got) == 0 || err != nil && !strings.Contains(command, "problems") {
			t.Errorf("%s: %v\n%s", command, err, got)
		}
	}
}

// webhookIn takes webhooks at an address in a network namespace. It returns what they said so far, one a line.
func webhookIn(t *testing.T, namespace, address string) (told func() string) {
	t.Helper()
	opened := make(chan net.Listener, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends in the other namespace
		file, err := os.Open("/run/netns/" + namespace)
		if err == nil {
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
			file.Close()
		}
		var l net.Listener
		if err == nil {
			l, err = net.Listen("tcp", address)
		}
		if err != nil {
			t.Error(err)
		}
		opened <- l
	}()
	l := <-opened
	if l == nil {
		t.FailNow()
	}
	var mu sync.Mutex
	var text strings.Builder
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var line bytes.Buffer
		body, _ := io.ReadAll(r.Body)
		json.Compact(&line, body)
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(&text, line.String())
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

// elsewhere is what log and webhook say after a command.
var elsewhere = map[string]told{
	"deploy/playground/do slow": {`network: .* node=202 `, `"kind":"slow_hop",.*"id":"202"`},
	"deploy/playground/do fill": {`network: .* node=302 egress=12 queue=2 .*culprit=udp:10\.2\.0\.19:40055-10\.3\.2\.12:8000 `, `"kind":"queue_congested",.*"id":"302".*"id":"12".*"culprits":\[\{"flow":"udp:10\.2\.0\.19:40055-10\.3\.2\.12:8000"`},
	"deploy/playground/do move": {`network: .* node=203 `, `"kind":"path_changed",.*"id":"203"`},
	"deploy/playground/do lose": {`network: packets of flows are lost`, `"kind":"loss_between"`},
}

// expected are the problems after a command.
var expected = map[string]*regexp.Regexp{
	"deploy/playground/do slow": regexp.MustCompile(`node 202`),
	"deploy/playground/do fill": regexp.MustCompile(`node 302, egress 12, queue 2`),
	"deploy/playground/do move": regexp.MustCompile(`node 203`),
	"deploy/playground/do lose": regexp.MustCompile(`packets of flows are lost`),
}

// expectedOnLinux are those of routers of Linux.
var expectedOnLinux = map[string]*regexp.Regexp{
	"deploy/playground/do slow": regexp.MustCompile(`node 202`),
	"deploy/playground/do fill": regexp.MustCompile(`node 302, egress 12, queue 0: the queue is congested\s[^!]*filled by udp:\[2001:db8:102::19\]:40055-\[2001:db8:302:204:12::1\]:8000`),
	"deploy/playground/do move": regexp.MustCompile(`node 203: no packet comes`),
	"deploy/playground/do lose": regexp.MustCompile(`packets of flows are lost`),
	"deploy/playground/do calm": regexp.MustCompile(`(?m)^nothing is wrong`), // a router that was dead is back
}
