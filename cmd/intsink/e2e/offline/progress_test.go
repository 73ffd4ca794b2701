package offline_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/internal/progress/ptytest"
	"intsink/cmd/intsink/e2e/sinktest"
)

// feed writes a capture without end until stop is called.
func feed(t *testing.T, to io.WriteCloser) (stop func()) {
	t.Helper()
	b, err := os.ReadFile(sinktest.Classic(t, filepath.Join(t.TempDir(), "c"), 65535, []int64{0}, sinktest.IntFrame(t, 1)))
	if err != nil {
		t.Fatal(err)
	}
	records := bytes.Repeat(b[24:], 50)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer to.Close()
		_, err := to.Write(b[:24])
		for err == nil {
			select {
			case <-done:
				return
			default:
				_, err = to.Write(records)
				time.Sleep(time.Millisecond) // the pace of the traffic, not of the test
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-ended })
}

// TestProgress: on a terminal the commands that read and write captures show how far they
// are, and erase it at the end; elsewhere they show nothing.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline("udp_port = 5000"))
	for _, c := range []struct{ name, args, line string }{
		{"plan", "plan --config " + conf + " --in -", `c\.hcl: \d+ packets, \d+ packets/s`},
		{"replay, which copies its input", "replay --config " + conf + " --in - --out " + dir + "/out --reports " + dir + "/reports", `copy of standard input: \d+ packets, \d+ packets/s`},
		{"decode", "decode -", `standard input: \d+ packets, \d+ packets/s`},
		{"gen", "gen --out /dev/null --count 100000000", `/dev/null: \d+ % of 100000000 packets, \d+ packets/s, \d+m?.*s left`},
	} {
		t.Run(c.name, func(t *testing.T) {
			screen := ptytest.Open(t, 120)
			cmd := exec.Command(os.Args[0], strings.Fields(c.args)...)
			cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1", "TERM=xterm")
			cmd.Stderr = screen.File
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stop := feed(t, in)
			defer stop()
			line := regexp.MustCompile(`\r[^\r]*` + c.line + `\x1b\[K`)
			screen.Wait(line.MatchString)
			if c.name == "gen" { // would take minutes
				cmd.Process.Signal(syscall.SIGKILL)
				cmd.Wait()
				return
			}
			stop()
			err = cmd.Wait()
			var exit *exec.ExitError
			if errors.As(err, &exit) && c.name == "decode" { // none of it is a report
				err = nil
			}
			screen.WriteString("end\n")
			text := screen.Wait(func(s string) bool { return strings.HasSuffix(s, "end\r\n") })
			last := text[strings.LastIndex(text, "\r\x1b[K"):]
			if err != nil || strings.Contains(last, "packets/s") || !strings.HasSuffix(last, "end\r\n") {
				t.Errorf("%v: the line is not erased at the end: %q", err, text)
			}
		})
	}
	for _, args := range []string{"plan --config " + conf + " --in -", "decode -"} {
		t.Run("no terminal: "+args[:6], func(t *testing.T) {
			cmd := exec.Command(os.Args[0], strings.Fields(args)...)
			cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1", "TERM=xterm")
			cmd.Stdin, _ = os.Open(sinktest.Classic(t, filepath.Join(dir, "some"), 65535, []int64{0, 1e9}, sinktest.IntFrame(t, 1), sinktest.IntFrame(t, 2)))
			if out, _ := cmd.CombinedOutput(); len(out) == 0 || bytes.ContainsAny(out, "\r\x1b") {
				t.Errorf("%q", out)
			}
		})
	}
}
