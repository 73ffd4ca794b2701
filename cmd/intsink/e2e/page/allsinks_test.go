package page_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/internal/netns"
)

// TestThreeSinksOnOnePage: in the playground with three sinks, each fault is one problem of the network's page, at its place; of a full queue with
// who fills it, though who waits leaves by other sinks; a sink that is silent is named, and others' answers go on.
func TestThreeSinksOnOnePage(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link set lo up")
	bin, control, out := sinktest.Programs(t), filepath.Join(t.TempDir(), "control"), filepath.Join(t.TempDir(), "out")
	if text, err := exec.Command("go", "build", "-o", filepath.Join(bin, "intsink-collect"), "../../../intsink-collect").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	ground := exec.Command("deploy/playground/playground.sh")
	ground.Dir, ground.Env = "../../../..", append(os.Environ(), "BIN="+bin, "CONTROL="+control, "SINKS=3", "TMPDIR="+t.TempDir())
	ground.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := ground.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	ground.Stdout, ground.Stderr = file, file
	if err := ground.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		exec.Command(bin+"/playground", "--control", control, "calm").Run() // a sink that is stopped does not end
		syscall.Kill(-ground.Process.Pid, syscall.SIGTERM)
		ground.Wait()
	})
	do := func(word string) {
		t.Helper()
		if text, err := exec.Command(bin+"/playground", "--control", control, word).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	const page = "http://127.0.0.1:9466"
	sinks := func() (known int) {
		for _, s := range askAll(page + "/api/v1/sinks").Items {
			if s.Answers && s.Flows > 0 {
				known++
			}
		}
		return known
	}
	if !sinktest.Eventually(func() bool { return sinks() == 3 }) {
		said, _ := os.ReadFile(out)
		t.Fatalf("%d sinks\n%s", sinks(), said)
	}
	b := openBrowser(t, page)
	b.view("sink", `document.querySelectorAll('#view table tbody tr').length === 3`)
	if !sinktest.Eventually(func() bool { return strings.Contains(bodyOf(page+"/api/v1/queues?node=204&limit=1"), `"latency_ns":1`) }) {
		t.Fatal("the queues are not learned")
	}
	b.view("now", `document.querySelector('.well') !== null`)
	do("fill")
	shows := func(kind, place, culprit string) {
		t.Helper()
		var got string
		if !sinktest.Eventually(func() bool {
			a := askAll(page + "/api/v1/problems?open=true")
			got = fmt.Sprintf("%+v", a.Items)
			return len(a.Items) == 1 && a.Items[0].says(kind, place, culprit)
		}) {
			t.Fatalf("never %s at %s alone: %s", kind, place, got)
		}
	}
	shows("queue_congested", "node 204, egress 12, queue 0", "udp:10.2.0.19:40055-10.3.2.12:8000")
	b.wait(`document.querySelectorAll('.problems > li.error').length === 1 && document.body.innerText.includes('Told by')`)
	do("calm")
	if !sinktest.Eventually(func() bool { return len(askAll(page+"/api/v1/problems?open=true").Items) == 0 }) {
		t.Fatal("it is never over")
	}
	do("quiet")
	shows("sink_away", "sink 127.0.0.1:9567", "")
	b.wait(`document.body.innerText.includes('without sink 127.0.0.1:9567')`)
	if text, err := exec.Command(bin+"/intsink", "top", "flows", "--once", "--address", "127.0.0.1:9466").CombinedOutput(); ended(err) != 3 || !strings.Contains(string(text), "without 1 sink") {
		t.Errorf("%v\n%s", err, text)
	}
	do("calm")
	if !sinktest.Eventually(func() bool { return sinks() == 3 && len(askAll(page+"/api/v1/problems?open=true").Items) == 0 }) {
		t.Error("the sink is not back")
	}
}

// answerOfAll is what the test reads of an answer over all sinks.
type answerOfAll struct{ Items []itemOfAll }

// itemOfAll is a problem, or a sink.
type itemOfAll struct {
	Kind     string
	Place    []struct{ What, ID string }
	Evidence struct{ Culprits []struct{ Flow string } }
	Answers  bool
	Flows    int
}

// says tells whether a problem is of this kind and place, with who is first to blame.
func (p *itemOfAll) says(kind, place, culprit string) bool {
	var at []string
	for _, x := range p.Place {
		at = append(at, x.What+" "+x.ID)
	}
	blamed := ""
	if c := p.Evidence.Culprits; len(c) > 0 {
		blamed = c[0].Flow
	}
	return p.Kind == kind && strings.Join(at, ", ") == place && blamed == culprit
}

func askAll(url string) (a answerOfAll) {
	json.Unmarshal([]byte(bodyOf(url)), &a) // no answer is an empty one
	return a
}

func bodyOf(url string) string {
	r, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

// ended is the exit code of a command.
func ended(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
