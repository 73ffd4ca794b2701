package cleanup

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Each step runs once, however often it is asked for.
func TestAdd(t *testing.T) {
	n := 0
	undo := Add(func() { n++ })
	undo()
	undo()
	if n != 1 {
		t.Errorf("ran %d times", n)
	}
}

// What is not yet undone when a signal comes is undone, the last one first, and the
// process ends of the signal.
func TestSignal(t *testing.T) {
	const variable = "CLEANUP_TEST_FILE"
	if path := os.Getenv(variable); path != "" {
		write := func(s string) func() {
			return func() {
				f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
				if err == nil {
					f.WriteString(s)
					f.Close()
				}
			}
		}
		Add(write("first"))
		Add(write("not this"))() // at once
		Add(write("last"))
		os.Stdout.WriteString("ready\n")
		select {}
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			cmd := exec.Command(os.Args[0], "-test.run=^TestSignal$")
			cmd.Env = append(os.Environ(), variable+"="+path)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Fatal(line, err)
			}
			cmd.Process.Signal(s)
			cmd.Wait()
			if got, want := cmd.ProcessState.ExitCode(), 128+int(s); got != want {
				t.Errorf("exit code %d, want %d", got, want)
			}
			if b, _ := os.ReadFile(path); string(b) != "not thislastfirst" {
				t.Errorf("undone: %q", b)
			}
		})
	}
}
