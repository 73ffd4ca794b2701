package appliance

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/internal/notify"
)

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
