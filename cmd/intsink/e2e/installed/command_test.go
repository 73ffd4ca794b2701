package installed_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// toFullDevice runs the command with a standard output that has no room.
func toFullDevice(t *testing.T, args []string) (code int, stderr string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}
