package appliance

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"intsink/conf"
)

// TestStopWaitsForNoLock: a stop that finds a reload which hangs turns the switch all the same, and first, and then says what is lost.
func TestStopWaitsForNoLock(t *testing.T) {
	patience := lockPatience
	t.Cleanup(func() { lockPatience = patience })
	lockPatience = time.Millisecond
	a := &Appliance{}
	a.config.Store(&conf.Config{Bypass: conf.Bypass{Command: []string{"/switch"}, Timeout: time.Minute, After: time.Minute}})
	var mu sync.Mutex
	var asked []string
	a.bypass.watch(a, func(_ context.Context, command []string) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, command[1])
		return nil
	})
	close(a.bypass.begin)
	for _, m := range []*sync.Mutex{&a.inReload, &a.inForce.Mutex} {
		m.Lock()
		defer m.Unlock()
	}
	err := a.Stop()
	mu.Lock()
	defer mu.Unlock()
	if err == nil || !strings.Contains(err.Error(), "a reload hangs") || len(asked) == 0 || asked[len(asked)-1] != "bypass" {
		t.Errorf("%v; the switch was asked for %q", err, asked)
	}
}
