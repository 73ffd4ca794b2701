package appliance

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/conf"
)

// TestPartsStopInReverse: exactly the parts that have started are stopped, the last first: at the end, after a part whose start
// fails half way, and where the start is given up.
func TestPartsStopInReverse(t *testing.T) {
	for fails, want := range map[string]string{"": "+a +b +c -c -b -a", "b": "+a +b -b -a", "c": "+a +b +c -c -b -a", "given up": "+a -a"} {
		ctx, giveUp := context.WithCancel(context.Background())
		defer giveUp()
		var did []string
		p := func(name string) start {
			return func(*conf.Config) (func(), error) {
				did = append(did, "+"+name)
				stop := func() { did = append(did, "-"+name) }
				switch fails {
				case name:
					return stop, errors.New("no " + name)
				case "given up":
					giveUp()
				}
				return stop, nil
			}
		}
		a := newStopped(t, &conf.Config{}, nil)
		nothing := func(*conf.Config) (func(), error) { return nil, nil }
		err := a.startParts(ctx, []start{p("a"), p("b"), nothing, p("c")})
		if stopped := a.stop(); stopped != nil || (err == nil) != (fails == "") {
			t.Errorf("%q fails: %v, and the stop with %v", fails, err, stopped)
		}
		if got := strings.Join(did, " "); got != want {
			t.Errorf("%q fails: %s, want %s", fails, got, want)
		}
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
			return &Appliance{}, nil
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
