package control_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// TestModes: what each mode does with packets on the wire, that status, metrics and events show
// the mode, and how the command of the bypass switch is called.
func TestModes(t *testing.T) {
	if !netns.In(t) {
		return
	}
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	command := sinktest.Write(t, filepath.Join(dir, "switch"), "#!/bin/sh\necho $2 >> "+asked+"\n")
	if err := os.Chmod(command, 0o755); err != nil {
		t.Fatal(err)
	}
	text, socket := sinktest.AddSocket(t, sinktest.InLine(t))
	text = strings.Replace(text, "mbufs      = 4096", "mbufs = 16384", 1) + fmt.Sprintf("bypass {\n  command = [%q, \"card7\"]\n  after   = \"1m\" # whatever else the machine does\n  timeout = \"1m\"\n}\n", command)
	r := sinktest.StartWith(t, text, "--mode", "strip")
	r.Ready(t)
	through := sinktest.NewTraffic(t, "b-far")
	passes := func(mode string, stripped, reports bool) {
		t.Helper()
		before := observetest.Parse(t, r.Get(t, "/metrics")).Series[`intsink_reports_total{collector="primary"}`]
		through.Passes(t, mode, stripped)
		p := r.Balanced(t) // the workers have published their counters
		if after := p.Series[`intsink_reports_total{collector="primary"}`]; after > before != reports || p.Series[fmt.Sprintf(`intsink_mode{mode=%q}`, mode)] != 1 {
			t.Errorf("%s: %v reports, then %v; mode %v", mode, before, after, p.Series[fmt.Sprintf(`intsink_mode{mode=%q}`, mode)])
		}
	}
	stream, err := http.Get("http://" + r.HTTP + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	ask := func(mode string) string {
		t.Helper()
		defer r.Adopted(t)
		return sinktest.Must(t, "mode", mode, "--socket", socket)
	}
	passes("strip", true, false)
	said := ""
	if !sinktest.Eventually(func() bool { // the command of the switch may still run
		said = sinktest.Must(t, "mode", "--socket", socket)
		return !strings.Contains(said, "bypass switch: unknown")
	}) || !strings.Contains(said, "mode strip since ") || !strings.Contains(said, "asked for at start\nbypass switch: inline\n") {
		t.Errorf("%s", said)
	}
	ask("full")
	passes("full", true, true)
	ask("pass")
	passes("pass", false, false)
	ask("bypass")
	passes("bypass", false, false)
	if verbose := r.Get(t, "/readyz?verbose"); !strings.Contains(verbose, "mode: bypass, asked for bypass by unix uid 0") {
		t.Errorf("%s", verbose)
	}
	if s := sinktest.Must(t, "status", "--url", "http://"+r.HTTP); !strings.Contains(s, "mode bypass since ") {
		t.Errorf("%s", s)
	}
	waitFor(t, asked, "inline\nbypass\n")
	sinktest.Must(t, "reload", "--socket", socket) // which leaves the mode alone
	passes("bypass", false, false)
	ask("full")
	passes("full", true, true)
	text = waitFor(t, asked, "inline\nbypass\ninline\n")
	seen := ""
	for lines := bufio.NewScanner(stream.Body); !strings.Contains(seen, `"mode":"full","was":"bypass"`) && lines.Scan(); {
		if strings.Contains(lines.Text(), `"was":`) {
			seen += lines.Text()
		}
	}
	if !strings.Contains(seen, `"mode":"full","was":"strip"`) || !strings.Contains(seen, `"mode":"pass","was":"full"`) {
		t.Errorf("events %s", seen)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
	for _, want := range []string{`msg="mode: full" was=strip`, `msg="mode: pass" was=full why="asked for pass by unix uid 0 `, `msg="mode: bypass" was=pass`, `msg="bypass: packets go around the sink" why="asked for bypass by unix uid 0 `, `msg="mode: full" was=bypass`} {
		if !strings.Contains(r.Stderr.String(), want) {
			t.Errorf("the log lacks %s\n%s", want, r.Stderr)
		}
	}
	if n := strings.Count(r.Stderr.String(), `what="POST /api/v1/mode" result=ok`); n != 4 {
		t.Errorf("%d lines of four writes", n)
	}
	if b, _ := os.ReadFile(asked); string(b) != text+"bypass\n" {
		t.Errorf("the switch was asked %q", b)
	}
}

// waitFor waits until a file has this in it.
func waitFor(t *testing.T, path, want string) string {
	t.Helper()
	var b []byte
	for end := time.Now().Add(sinktest.Patience); time.Now().Before(end); {
		if b, _ = os.ReadFile(path); string(b) == want {
			return want
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q, want %q", b, want)
	return ""
}

// TestOverloadLeadsDownAndBack: where workers are busier than they may be, flows are no longer
// watched, and every packet still passes without INT; when they are calm, all is as before.
func TestOverloadLeadsDownAndBack(t *testing.T) {
	if !netns.In(t) {
		return
	}
	text := strings.Replace(sinktest.InLine(t), "mbufs      = 4096", "mbufs = 16384", 1)
	r := sinktest.Start(t, text+"overload {\n  mode = \"strip\"\n  busy = 0.0001\n  full_bursts = 0\n  enter = \"500ms\"\n  clear = \"3s\"\n}\n")
	r.Ready(t)
	told := events(t, r, "mode")
	in := sinktest.OpenWire(t, "a-near")
	var stop atomic.Bool
	var sent, arrived sinktest.Passed
	var sending sync.WaitGroup
	sinktest.Receive(t, sinktest.OpenWire(t, "b-far"), arrived.Add)
	sending.Go(func() { sinktest.SendUntil(t, &stop, in, &sent, &arrived) })
	r.Wait(t, "mode strip", func(p observetest.Exposition) bool { return p.Series[`intsink_mode{mode="strip"}`] == 1 })
	time.Sleep(time.Second) // it goes no further down
	stop.Store(true)
	sending.Wait()
	p := r.Wait(t, "mode full", func(p observetest.Exposition) bool { return p.Series[`intsink_mode{mode="full"}`] == 1 })
	if p.Series[`intsink_mode_changes_total{mode="strip"}`] != 1 || p.Series[`intsink_mode_changes_total{mode="pass"}`] != 0 || p.Series[`intsink_passed_packets_total{link="edge"}`] != 0 {
		t.Errorf("%v", p.Series)
	}
	for _, want := range []struct{ mode, was, why string }{{"strip", "full", "overload: busy "}, {"full", "strip", ""}} {
		if e := <-told; e["mode"] != want.mode || e["was"] != want.was || !strings.HasPrefix(e["why"], want.why) {
			t.Errorf("event %v, want %v", e, want)
		}
	}
	r.Wait(t, "every packet", func(observetest.Exposition) bool { return arrived.Frames.Load() == sent.Frames.Load() })
	if arrived.Sum.Load() != sent.Sum.Load() || sent.Frames.Load() < 100 {
		t.Errorf("%d packets sent, %d arrived, as sent %v", sent.Frames.Load(), arrived.Frames.Load(), arrived.Sum.Load() == sent.Sum.Load())
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), `msg="mode: strip" was=full why="overload: busy `) {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}
