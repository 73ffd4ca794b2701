// Wait: waits for a service to stop; a second signal ends the wait.

// Package shutdown is how services end: the first signal to stop lets them finish what is under way, another one
// does not.
package shutdown

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"intsink/cmd/internal/cli"
)

// together is how far apart signals may be that are one request: timeout(1) sends one to its child and then one to the
// process group that the child is in, and so do shells.
const together = 100 * time.Millisecond

// Wait runs stop, which finishes what is under way, after a signal to stop has just come. Another one ends the
// wait, and so does the time that stop may take, at most: the error says that lost is, and the process is to exit. SIGHUP
// is not one.
func Wait(stop func() error, signals <-chan os.Signal, most time.Duration, lost string) error {
	return wait(stop, signals, time.After(together), time.After(most), lost)
}

// wait is Wait where signals count once settled is ready, and stop has no more time once over is.
func wait(stop func() error, signals <-chan os.Signal, settled, over <-chan time.Time, lost string) error {
	done := make(chan error, 1)
	go func() { done <- stop() }()
	for counts := false; ; {
		select {
		case err := <-done:
			if err != nil {
				return cli.Failed(err)
			}
			return nil
		case <-settled:
			counts = true
		case <-over:
			return cli.Failed(fmt.Errorf("ended, as the stop took too long: %s", lost))
		case s := <-signals:
			if counts && s != syscall.SIGHUP {
				return cli.Failed(fmt.Errorf("ended at once by a second signal (%s): %s", s, lost))
			}
		}
	}
}
