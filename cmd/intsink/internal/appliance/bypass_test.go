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

// TestStopWaitsForNoLock: a stop that finds a reload which hangs turns the switch all the same, and first, and then says what is lost.
func TestStopWaitsForNoLock(t *testing.T) {
	patience := lockPatience
	t.Cleanup(func() { lockPatience = patience })
	lockPatience = time.Millisecond
	c := &conf.Config{Bypass: conf.Bypass{Command: []string{"/switch"}, Timeout: time.Minute, After: time.Minute}}
	a := &Appliance{force: inforce.New(c, "", failopen.Full)}
	var mu sync.Mutex
	var asked []string
	a.bypass.watch(a.force.Config, func(time.Duration) string { return "" }, func(_ context.Context, command []string) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, command[1])
		return nil
	})
	close(a.bypass.begin)
	defer a.force.Hold()()
	err := a.Stop()
	mu.Lock()
	defer mu.Unlock()
	if err == nil || !strings.Contains(err.Error(), "a reload hangs") || len(asked) == 0 || asked[len(asked)-1] != "bypass" {
		t.Errorf("%v; the switch was asked for %q", err, asked)
	}
}
