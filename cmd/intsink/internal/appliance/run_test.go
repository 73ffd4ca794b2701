package appliance

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"intsink/cmd/internal/cli"
)

// TestSecondSignalEnds: a stop that hangs ends at the second signal to stop, not at
// a SIGHUP, and one that works gives its own result.
func TestSecondSignalEnds(t *testing.T) {
	signals := make(chan os.Signal, 2)
	signals <- syscall.SIGHUP
	signals <- syscall.SIGTERM
	hang := make(chan error)
	defer close(hang)
	err := drain(func() error { return <-hang }, signals)
	var exit cli.ExitError
	if !errors.As(err, &exit) || exit.Code != 1 || !strings.Contains(err.Error(), "second signal (terminated)") {
		t.Errorf("a hanging stop: %v", err)
	}
	if err := drain(func() error { return nil }, nil); err != nil {
		t.Errorf("a stop that works: %v", err)
	}
	leak := errors.New("3 mbufs did not return")
	if err := drain(func() error { return leak }, nil); !errors.Is(err, leak) {
		t.Errorf("a stop that fails: %v", err)
	}
}
