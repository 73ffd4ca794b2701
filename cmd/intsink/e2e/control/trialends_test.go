package control_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// TestTrialEndsByItself over traffic: a configuration whose reports get lost, that reports more than its limit, whose
// workers pause for longer than its limit, or whose worker does not poll, goes, and the one before
// it returns; one that keeps its limits stays. No packet is lost in any of it.
func TestTrialEndsByItself(t *testing.T) {
	if !netns.In(t) {
		return
	}
	text, socket := sinktest.AddSocket(t, sinktest.InLine(t))
	text = strings.Replace(text, "mbufs      = 4096", "mbufs = 8192", 1)
	text = strings.Replace(text, "capacity = 1024", "capacity = 65536", 1) // room for all flows: a full table ends a trial, too
	text = strings.Replace(text, "watch \"all\" { sample = 100 }", `watch "all" { events = ["leak"] }`, 1)
	r := sinktest.Start(t, text)
	r.Ready(t)
	through := sinktest.NewTraffic(t, "b-far")
	noisy := strings.Replace(strings.Replace(text, `events = ["leak"]`, `events = ["new_flow"]`, 1), "%s", r.HTTP, 1)
	trial := sinktest.Write(t, filepath.Join(t.TempDir(), "noisy.hcl"), noisy)
	// goesBack puts it on trial with the limits, keeps traffic on, and waits for the end.
	generation := 1.0
	goesBack := func(result, why string, during func(), limits ...string) {
		t.Helper()
		const stuck = `intsink_config_trials_total{result="stuck"}`
		var p observetest.Exposition
		for before := -1.0; before != p.Series[stuck]; generation += 2 { // again where the worker had no CPU for so long
			before = observetest.Parse(t, r.Get(t, "/metrics")).Series[stuck]
			sinktest.Must(t, append([]string{"reload", "--socket", socket, "--config", trial, "--confirm", "10m"}, limits...)...)
			during()
			p = r.Settled(t)
			if result == "stuck" {
				before = p.Series[stuck]
			}
			r.Ready(t)
		}
		if n := p.Series[`intsink_config_trials_total{result="`+result+`"}`]; n < 1 || p.Series["intsink_config_generation"] != generation {
			t.Errorf("%s: %v trials ended so, generation %v, want %v", result, n, p.Series["intsink_config_generation"], generation)
		}
		r.Ready(t) // the worker polls again
		if s := sinktest.Must(t, "status", "--socket", socket); !strings.Contains(s, "configuration came back at ") || !strings.Contains(s, why) {
			t.Errorf("%s\nlacks %s", s, why)
		}
		through.Passes(t, "after "+result, true)
	}
	traffic := func() {
		for range 200 { // 20 new flows each, and some 100 ms apart
			through.Passes(t, "on trial", true)
			if observetest.Parse(t, r.Get(t, "/metrics")).Series["intsink_config_trial"] == 0 {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatal("the trial does not end")
	}
	goesBack("problem", "collector primary, reason refused: nobody listens at its address: reports are being lost", traffic)
	const tolerated = "--tolerate=collector_away"
	goesBack("reports", " reports a second, the limit is 1", traffic, tolerated, "--limit", "reports=1/s", "--limit", "poll_gap=1m")
	pause := func(length time.Duration) {
		resume := stopThread(t, r.Cmd.Process.Pid, workerThread(t, r.Cmd.Process.Pid))
		time.Sleep(length)
		resume()
	}
	goesBack("poll_gap", "between two polls, the limit is 300ms", func() {
		time.Sleep(2200 * time.Millisecond) // longer than pauses of before the trial are remembered
		for observetest.Parse(t, r.Get(t, "/metrics")).Series["intsink_config_trial"] != 0 {
			pause(600 * time.Millisecond)
			time.Sleep(300 * time.Millisecond) // it is looked at four times a second
		}
	}, tolerated, "--limit", "poll_gap=300ms")
	goesBack("stuck", "worker w0 has not polled for ", func() {
		resume := stopThread(t, r.Cmd.Process.Pid, workerThread(t, r.Cmd.Process.Pid))
		defer resume()
		r.Settled(t)
	}, tolerated)

	within := func() (stderr string, code int) {
		sinktest.Must(t, "reload", "--socket", socket, "--config", trial, "--confirm", "10m", tolerated, "--limit", "reports=100000/s", "--limit", "poll_gap=10s")
		for range 12 {
			through.Passes(t, "within its limits", true)
			time.Sleep(100 * time.Millisecond)
		}
		out, stderr, code := sinktest.Run(t, "confirm", "--socket", socket)
		if code == 0 && !strings.Contains(out, "worse than before: ") {
			t.Errorf("reports for nobody, and none before: confirm is silent\n%s", out)
		}
		return stderr, code
	}
	if !sinktest.Eventually(func() bool {
		stderr, code := within()
		if code != 0 && !sinktest.Unpolled(stderr) {
			t.Fatalf("a trial within its limits has ended: %s", stderr)
		}
		return code == 0
	}) {
		t.Error("the worker does not poll")
	}
	r.Balanced(t)
	code := r.Stop(t, sinktest.Patience)
	for _, want := range []string{"nobody listens at its address", "reports a second, the limit is 1", "between two polls, the limit is 300ms", "worker w0 has not polled for "} {
		if line := `msg="reload: the trial has ended, the configuration before it comes back" why="`; code != 0 || !strings.Contains(r.Stderr.String(), line) || !strings.Contains(r.Stderr.String(), want) {
			t.Errorf("exit code %d; the log lacks %s\n%s", code, want, r.Stderr)
		}
	}
}
