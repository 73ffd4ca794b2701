package shutdown

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/internal/cli"
)

// TestSecondSignalEnds: a stop that hangs ends at the second signal to stop, not at a SIGHUP, nor at one
// that came with the first; and one that works gives its own result.
func TestSecondSignalEnds(t *testing.T) {
	signals, settled := make(chan os.Signal), make(chan time.Time)
	hang := make(chan error)
	defer close(hang)
	ended := make(chan error, 1)
	go func() { ended <- wait(func() error { return <-hang }, signals, settled, nil, "all is lost") }()
	signals <- syscall.SIGTERM // who sent knows that it was taken
	settled <- time.Time{}
	signals <- syscall.SIGHUP
	select {
	case err := <-ended:
		t.Fatalf("ended too early: %v", err)
	default:
	}
	signals <- syscall.SIGINT
	err := <-ended
	var exit cli.ExitError
	if !errors.As(err, &exit) || exit.Code != 1 || !strings.Contains(err.Error(), "ended at once by a second signal (interrupt): all is lost") {
		t.Errorf("a hanging stop: %v", err)
	}
	over := make(chan time.Time, 1)
	over <- time.Time{}
	if err := wait(func() error { return <-hang }, nil, nil, over, "all is lost"); !errors.As(err, &exit) || exit.Code != 1 || !strings.Contains(err.Error(), "took too long: all is lost") {
		t.Errorf("a stop that took too long: %v", err)
	}
	if err := Wait(func() error { return nil }, nil, time.Minute, ""); err != nil {
		t.Errorf("a stop that works: %v", err)
	}
	leak := errors.New("3 mbufs did not return")
	if err := Wait(func() error { return leak }, nil, time.Minute, ""); !errors.Is(err, leak) {
		t.Errorf("a stop that fails: %v", err)
	}
}
