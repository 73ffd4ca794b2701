package control_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/loopback"
)

// onTrial puts a configuration on trial and ends that by confirm with arguments of its own; again where the trial has
// ended by itself, since the worker got no CPU. It tells how often that was: each makes two generations.
func onTrial(t *testing.T, socket string, reload, confirm []string) (out string, again int) {
	t.Helper()
	for end := time.Now().Add(sinktest.Patience); ; again++ {
		sinktest.Must(t, append([]string{"reload", "--socket", socket, "--confirm", "10m"}, reload...)...)
		out, stderr, code := sinktest.Run(t, append([]string{"confirm", "--socket", socket}, confirm...)...)
		if code == 0 {
			return out, again
		}
		if !sinktest.Unpolled(stderr) || time.Now().After(end) {
			t.Fatalf("confirm: exit code %d, %s", code, stderr)
		}
	}
}

// TestTrial: a configuration that nobody confirms is taken back, one that is confirmed stays, and
// status, metrics and readiness show the trial.
func TestTrial(t *testing.T) {
	r, socket, path, text := sinktest.WithSocket(t)
	trial := sinktest.Write(t, filepath.Join(t.TempDir(), "new.hcl"), strings.Replace(text, "sample = 100", "sample = 50", 1))
	for tries := 1; !r.TrialInTime(t, socket, path, trial); tries++ {
		if tries == 5 {
			t.Fatalf("the worker does not poll\n%s", r.Stderr)
		}
		r.Stop(t, sinktest.Patience)
		r, socket, path, text = sinktest.WithSocket(t)
		sinktest.Write(t, trial, strings.Replace(text, "sample = 100", "sample = 50", 1))
	}
	if _, stderr, code := sinktest.Run(t, "confirm", "--socket", socket); code != 1 || !strings.Contains(stderr, "nobody confirmed it in time; the configuration before it is in force again, as generation 3") {
		t.Errorf("too late: exit code %d, %s", code, stderr)
	}
	const back = "generation 2 was on trial, and generation 1's configuration came back at "
	if s := sinktest.Must(t, "status", "--url", "http://"+r.HTTP); !strings.Contains(s, back) || !strings.Contains(s, "Z: nobody confirmed it in time\n") {
		t.Errorf("status lacks the end of the trial\n%s", s)
	}
	if verbose := r.Get(t, "/readyz?verbose"); !strings.Contains(verbose, "last trial: "+back) {
		t.Errorf("%s", verbose)
	}
	out, again := onTrial(t, socket, []string{"--config", trial}, nil)
	if !strings.HasPrefix(out, fmt.Sprintf("generation %d is in force: 1 change\n", 4+2*again)) {
		t.Errorf("%s", out)
	}
	if s := sinktest.Must(t, "status", "--url", "http://"+r.HTTP); !strings.Contains(s, fmt.Sprintf("generation %d was on trial until ", 4+2*again)) || !strings.Contains(s, "Z: confirmed by unix uid 0 pid ") || strings.Contains(s, back) {
		t.Errorf("status after a confirmed trial\n%s", s)
	}
	sinktest.Write(t, trial, strings.Replace(text, "sample = 100", "sample = 20", 1))
	out, more := onTrial(t, socket, []string{"--config", trial}, []string{"--back"})
	if !strings.Contains(out, fmt.Sprintf("generation %d is in force: 1 change\n  watch \"all\".sample: 20 -> 50\n", 6+2*(again+more))) {
		t.Errorf("%s", out)
	}
	p := r.Settled(t)
	if p.Series[`intsink_config_trials_total{result="confirmed"}`] != 1 || p.Series[`intsink_config_trials_total{result="back"}`] != 1 {
		t.Errorf("%v", p.Series)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "nobody confirmed it in time") {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}

// TestReloadRequestsThatAreWrong, before the sink is asked.
func TestReloadRequestsThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--confirm 10ms: must be from 1s to 24h", []string{"--confirm", "10ms"}},
		{"--a limit goes with confirm", []string{"--limit", "reports=1/s"}},
		{`--limit "reports=many": must be such as reports=2000/s or poll_gap=1ms`, []string{"--confirm", "1m", "--limit", "reports=many"}},
		{`--limit "poll_gap=0s"`, []string{"--confirm", "1m", "--limit", "poll_gap=0s"}},
		{`--limit "cpu=1"`, []string{"--confirm", "1m", "--limit", "cpu=1"}},
	} {
		if _, stderr, code := sinktest.Run(t, append([]string{"reload", "--socket", "/nowhere"}, c.args...)...); code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d, %s", c.args, code, stderr)
		}
	}
	if _, stderr, code := sinktest.Run(t, "reload", "--socket", "/nowhere", "--config", "/missing.hcl"); code != 1 || !strings.Contains(stderr, "/missing.hcl") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// TestReloadChangesAddressesAndTimes: http and flows.idle_timeout, without a restart; an
// address that is taken is told, and opened once it is free.
func TestReloadChangesAddressesAndTimes(t *testing.T) {
	r, socket, path, text := sinktest.WithSocket(t)
	l, err := net.Listen("tcp", loopback.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	other := l.Addr().String()
	sinktest.Write(t, path, strings.Replace(strings.Replace(text, r.HTTP, other, 1), "flows { capacity = 1024 }", "flows {\n  capacity = 1024\n  idle_timeout = \"7s\"\n}", 1))
	out := sinktest.Must(t, "reload", "--socket", socket)
	for _, want := range []string{`flows.idle_timeout: "30s" -> "7s"`, `http.listen: "` + r.HTTP + `" -> "` + other + `"`, "degraded: http listen: ", "address already in use"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %s", out, want)
		}
	}
	if out := sinktest.Must(t, "status", "--socket", socket); !strings.Contains(out, "degraded: http listen since 2") {
		t.Error(out)
	}
	l.Close()
	for deadline := time.Now().Add(time.Minute); strings.Contains(sinktest.Must(t, "status", "--socket", socket), "degraded"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the address is free, and not taken")
		}
	}
	r.HTTP = other
	if !strings.Contains(r.Get(t, "/api/v1/config"), `idle_timeout = "7s"`) {
		t.Error(r.Get(t, "/api/v1/config"))
	}
}

// TestReloadReadsAFolder again, with files that came since; a mistake names its file.
func TestReloadReadsAFolder(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "api.sock")
	dir := t.TempDir()
	text := strings.Replace(strings.Replace(sinktest.Small, "mbufs      = 4096", "mbufs      = 8192", 1), `http { listen = "%s" }`, fmt.Sprintf("http {\n  listen = \"\"\n  socket = %q\n}", socket), 1) + strings.Replace(sinktest.Config("udp_port = 5000"), "node { id = 3 }\n", "", 1)
	sinktest.Write(t, filepath.Join(dir, "10-common.hcl"), text)
	t.Setenv("INTSINK_TEST_SINK", "9")
	sinktest.Write(t, filepath.Join(dir, "20-node.hcl"), "node { id = \"${env.INTSINK_TEST_SINK}\" }\n")
	r := sinktest.StartOf(t, dir)
	sinktest.Eventually(func() bool {
		_, err := os.Stat(socket)
		return err == nil
	})
	more := sinktest.Write(t, filepath.Join(dir, "30-more.hcl"), "\ncollector \"second\" { address = 7 }\n")
	if _, stderr, code := sinktest.Run(t, "reload", "--socket", socket); code != 1 || !strings.Contains(stderr, more+":2:32: error: collector \"second\": address = 7") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	sinktest.Write(t, more, "collector \"second\" { address = \"127.0.0.1:9\" }\n")
	if out := sinktest.Must(t, "reload", "--socket", socket); !strings.Contains(out, `collector "second": added`) {
		t.Errorf("%s", out)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "node=9") {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}

// TestCheckAgainstRunning: what is otherwise, and what a reload would refuse; the sink stays
// as it is.
func TestCheckAgainstRunning(t *testing.T) {
	r, socket, path, text := sinktest.WithSocket(t)
	check := func(text string) (stdout, stderr string, code int) {
		sinktest.Write(t, path, text)
		return sinktest.Run(t, "check", "--config", path, "--against-running", "--socket", socket)
	}
	if out, stderr, code := check(text); code != 0 || !strings.HasSuffix(out, "a reload would make no change to generation 1\n") || stderr != "" {
		t.Errorf("exit code %d, %s\n%s", code, out, stderr)
	}
	if out, _, code := check(strings.Replace(text, "sample = 100", "sample = 50", 1)); code != 0 || !strings.HasSuffix(out, "a reload would make 1 change to generation 1\n  watch \"all\".sample: 100 -> 50\n") {
		t.Errorf("exit code %d, %s", code, out)
	}
	// Names are the sink's to look up, and not of whoever asks.
	named := strings.Replace(text, "192.0.2.10:8555", "collector.invalid:8555", 1)
	if out, stderr, code := check(named); code != 0 || !strings.Contains(out, `"192.0.2.10:8555" -> "collector.invalid:8555"`) {
		t.Errorf("a name: exit code %d, %s\n%s", code, out, stderr)
	}
	both := strings.Replace(strings.Replace(text, "sample = 100", "sample = 50", 1), "mbufs      = 8192", "mbufs = 16384", 1)
	want := "2 changes to generation 1:\n  dpdk.mbufs: 8192 -> 16384\n  watch \"all\".sample: 100 -> 50\nonly a restart can change:\n  dpdk.mbufs: 8192 -> 16384\nintsink: a reload would refuse it: 1 change that only a restart can make: dpdk.mbufs: 8192 -> 16384\n"
	if _, stderr, code := check(both); code != 1 || !strings.HasSuffix(stderr, want) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if p := observetest.Parse(t, r.Get(t, "/metrics")); p.Series["intsink_config_generation"] != 1 || p.Series["intsink_config_last_reload_successful"] != 1 {
		t.Errorf("generation %v", p.Series["intsink_config_generation"])
	}
}
