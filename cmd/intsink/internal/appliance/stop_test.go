package appliance

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/inforce"
	"intsink/conf"
)

// newStopped is an appliance without parts, whose bypass switch run turns.
func newStopped(t *testing.T, c *conf.Config, run func(context.Context, []string) error) *Appliance {
	t.Helper()
	f := inforce.New(c, "")
	modes, err := failopen.New(f.Config, func() (failopen.Asked, error) { return failopen.Asked{}, nil }, f.EnterMode, run)
	if err != nil {
		t.Fatal(err)
	}
	return &Appliance{force: f, modes: modes}
}

// TestStopWaitsForNoLock: a stop that finds a reload which hangs turns the switch all the same, and first, and then says what is lost.
func TestStopWaitsForNoLock(t *testing.T) {
	patience := lockPatience
	t.Cleanup(func() { lockPatience = patience })
	lockPatience = time.Millisecond
	c := &conf.Config{Bypass: conf.Bypass{Command: []string{"/switch"}, Timeout: time.Minute, After: time.Minute}}
	var mu sync.Mutex
	var asked []string
	a := newStopped(t, c, func(_ context.Context, command []string) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, command[1])
		return nil
	})
	defer a.force.Hold()()
	err := a.Stop()
	mu.Lock()
	defer mu.Unlock()
	if err == nil || !strings.Contains(err.Error(), "a reload hangs") || len(asked) == 0 || asked[len(asked)-1] != "bypass" {
		t.Errorf("%v; the switch was asked for %q", err, asked)
	}
}
