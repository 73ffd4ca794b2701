package appliance

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/notify"
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

// TestSignalAsTheStartCompletes: a signal to stop that is taken in the instant in which the start is
// done stops the appliance, or is there for Run; it is never lost.
func TestSignalAsTheStartCompletes(t *testing.T) {
	found := 0
	for range 200 { // the two race
		signals := make(chan os.Signal) // without room: who sent knows that it was taken
		a, err := startOrStop(signals, func(context.Context) (*Appliance, error) {
			signals <- syscall.SIGTERM
			return &Appliance{notifier: &notify.Notifier{}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if a == nil {
			continue // stopped
		}
		select {
		case <-signals:
			found++
		case <-time.After(time.Minute):
			t.Fatal("the start is done, and the signal is lost")
		}
	}
	t.Logf("stopped %d times, left to Run %d times", 200-found, found)
}
