package installed_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// restarts is how often the test below kills and stops a sink: `make restarts` asks for a hundred, and lets it run for up to
// 70 s each time, so that what is written each minute is.
func restarts(t *testing.T) (n int, longest time.Duration) {
	text := os.Getenv("INTSINK_RESTARTS")
	if text == "" {
		return 6, 20 * time.Millisecond
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("INTSINK_RESTARTS: %v", err)
	}
	return n, 70 * time.Second
}

// writtenEvery is how old at most is what a killed sink has written of its history, with time for the disk.
const writtenEvery = 75 * time.Second

// second is the one that a key of told is of.
func second(key string) (at int64) {
	fmt.Sscan(key, &at)
	return at
}

// hasPast reports whether the history told of anything before a time.
func hasPast(told map[string]int64, before time.Time) bool {
	for key := range told {
		if second(key) < before.Unix() {
			return true
		}
	}
	return false
}

// compareHistory holds what is told now against what was told from one moment to another: how many values there are, and
// those that are lost or changed.
func compareHistory(was, now map[string]int64, from, until time.Time) (n int, wrong []string) {
	for key, want := range was {
		if at := second(key); at <= from.Unix() || at >= until.Unix() {
			continue
		}
		if got, known := now[key]; !known || got != want {
			wrong = append(wrong, fmt.Sprintf("%s: %d %v, was %d", key, got, known, want))
		}
		n++
	}
	return n, wrong
}

// TestRestartKeeps: a sink that is killed, or stopped, under traffic right after a command has answered has what that command
// asked for when it runs again, and nothing that was removed; the history of before as far as it was written; and flows that
// come at once are not new.
func TestRestartKeeps(t *testing.T) {
	if !netns.In(t) {
		return
	}
	dir := t.TempDir()
	t.Setenv("STATE_DIRECTORY", dir)
	text, socket := sinktest.AddSocket(t, sinktest.Mitigated(sinktest.InLine(t))+"events {\n  new_flow { after_restart = \"1h\" }\n}\n")
	want, was, kept, same, unsaved := "", map[string]int64{}, time.Time{}, 0, false
	f := sinktest.NewTraffic(t, "b-far")
	rounds, longest := restarts(t)
	for i := range rounds {
		r := sinktest.StartWith(t, text)
		r.Ready(t)
		started := time.Now()
		n, wrong := compareHistory(was, r.Told(t), started.Add(-8*time.Minute), kept)
		if same += n; len(wrong) > 0 {
			t.Fatalf("start %d: %v\n%s", i, wrong, r.Stderr)
		}
		list := sinktest.Must(t, "mitigate", "list", "--socket", socket)
		if strings.Count(list, "destination=") != min(i, 1) || !strings.Contains(list, want) {
			t.Fatalf("start %d: not %q alone: %s\n%s", i, want, list, r.Stderr)
		}
		mode := []string{"strip", "full"}[i%2]
		if said := sinktest.Must(t, "status", "--socket", socket); i > 0 && strings.Contains(said, ", before the restart") != (mode == "full") {
			t.Errorf("start %d: %s", i, said)
		}
		if mode == "strip" {
			f.Passes(t, "full", true)
			p := r.Wait(t, "flows", func(p observetest.Exposition) bool { return p.Series[`intsink_events_total{event="new_flow"}`] >= 20 })
			warm := kept.After(started.Add(-time.Minute)) && i > 0 // it is three minutes
			if withheld := p.Series[`intsink_suppressed_events_total{event="new_flow",reason="restart"}`]; i == 0 && withheld != 0 || warm && withheld < 20 {
				t.Errorf("start %d: %v new flows are withheld", i, withheld)
			}
		}
		sinktest.Must(t, "mode", mode, "--socket", socket)
		if mode == "full" {
			f.Passes(t, "full again", true)
			if !sinktest.Eventually(func() bool { return hasPast(r.Told(t), time.Now().Add(-3*time.Second)) }) {
				t.Error("no history")
			}
		}
		if i > 0 {
			sinktest.Must(t, "mitigate", "remove", fmt.Sprint(i), "--socket", socket)
		}
		want = fmt.Sprintf("destination=192.0.2.%d", i+1)
		sinktest.Must(t, "mitigate", "add", "--destination", strings.TrimPrefix(want, "destination="), "--ttl", "1h", "--socket", socket)
		time.Sleep(rand.N(longest)) // wherever it is in its work
		maps.Copy(was, r.Told(t))
		asked := time.Now()
		r.Cmd.Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[i%2])
		<-r.Ended
		late := strings.Contains(r.Stderr.String(), "not kept over this stop")
		if unsaved = unsaved || late; i%2 == 1 && !late {
			kept = asked.Add(-2 * time.Second) // what is later was not over
		} else if old := asked.Add(-writtenEvery); old.After(kept) {
			kept = old
		}
		maps.DeleteFunc(was, func(key string, _ int64) bool { return second(key) >= kept.Unix() }) // nobody has promised it
	}
	if t.Logf("%d values of seconds were compared", same); same == 0 && !unsaved {
		t.Error("no history outlived a stop")
	}
	if bad, _ := filepath.Glob(filepath.Join(dir, "*.bad")); len(bad) != 0 {
		t.Errorf("set aside: %v", bad)
	}
}

// TestTwoSinksOnOneStateFolder: the second keeps nothing there, says so, and does not come back with what the first was told.
func TestTwoSinksOnOneStateFolder(t *testing.T) {
	state := t.TempDir()
	t.Setenv("STATE_DIRECTORY", state)
	first, socket, _, _ := sinktest.WithSocket(t)
	first.Ready(t)
	sinktest.Must(t, "mode", "strip", "--socket", socket)
	second, other, _, _ := sinktest.WithSocket(t)
	second.Ready(t)
	if said := sinktest.Must(t, "status", "--socket", other); !strings.Contains(said, "another sink (pid \""+fmt.Sprint(first.Cmd.Process.Pid)+"\") keeps its state there") || strings.Contains(said, "mode strip") {
		t.Errorf("the second says nothing, or has what the first was told:\n%s", said)
	}
	if said := sinktest.Must(t, "status", "--socket", socket); strings.Contains(said, "keeps its state there") {
		t.Errorf("the first:\n%s", said)
	}
	sinktest.Must(t, "mode", "full", "--socket", other)
	second.Stop(t, sinktest.Patience)
	first.Stop(t, sinktest.Patience)
	again, socket, _, _ := sinktest.WithSocket(t)
	again.Ready(t)
	if said := sinktest.Must(t, "status", "--socket", socket); !strings.Contains(said, "strip") {
		t.Errorf("the first has lost its mode:\n%s", said)
	}
	again.Stop(t, sinktest.Patience)
}
