package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/internal/netns"
)

// TestRestartKeeps: a sink that is killed, or stopped, right after a command has answered has what that command asked for
// when it runs again, and nothing that was removed.
func TestRestartKeeps(t *testing.T) {
	if !netns.In(t) {
		return
	}
	dir := t.TempDir()
	t.Setenv("STATE_DIRECTORY", dir)
	text, socket := addSocket(t, mitigated(inLine(t)))
	want := ""
	for i := range 6 {
		r := startRunWith(t, text)
		r.ready(t)
		list := must(t, "mitigate", "list", "--socket", socket)
		if strings.Count(list, "destination=") != min(i, 1) || !strings.Contains(list, want) {
			t.Fatalf("start %d: not %q alone: %s\n%s", i, want, list, r.stderr)
		}
		mode := []string{"strip", "full"}[i%2]
		if said := must(t, "status", "--socket", socket); i > 0 && strings.Contains(said, ", before the restart") != (mode == "full") {
			t.Errorf("start %d: %s", i, said)
		}
		must(t, "mode", mode, "--socket", socket)
		if i > 0 {
			must(t, "mitigate", "remove", fmt.Sprint(i), "--socket", socket)
		}
		want = fmt.Sprintf("destination=192.0.2.%d", i+1)
		must(t, "mitigate", "add", "--destination", strings.TrimPrefix(want, "destination="), "--ttl", "1h", "--socket", socket)
		time.Sleep(rand.N(20 * time.Millisecond)) // wherever it is in its work
		r.cmd.Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[i%2])
		<-r.ended
	}
	if bad, _ := filepath.Glob(filepath.Join(dir, "*.bad")); len(bad) != 0 {
		t.Errorf("set aside: %v", bad)
	}
}
