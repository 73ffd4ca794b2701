package failopen

import (
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/enginetest/workertest"
)

// still is an appliance with two workers that nobody polls but the test.
func still(t *testing.T) (workers []*engine.Worker, now *int64) {
	now = new(int64)
	*now = 1e9
	for range 2 {
		workers = append(workers, workertest.New(t, func(c *engine.WorkerConfig) { c.Clock = func() int64 { return *now } }))
	}
	return workers, now
}

// TestStuck names the worker that has not polled for a time; one that has not begun is none.
func TestStuck(t *testing.T) {
	workers, now := still(t)
	if why := Stuck(workers, *now, time.Second); why != "" {
		t.Errorf("before the first poll: %s", why)
	}
	for _, w := range workers {
		w.Tick(*now)
	}
	*now += 1e9
	workers[0].Tick(*now)
	if why := Stuck(workers, *now, time.Second); why != "" {
		t.Errorf("after a second: %s", why)
	}
	*now++
	if why := Stuck(workers, *now, time.Second); why != "worker w1 has not polled for 1s" {
		t.Errorf("after more than that: %q", why)
	}
}

// TestShare: nothing is busy for more than all of the time.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		name        string
		part, whole int64
		want        float64
	}{{"idle", 0, 100, 0}, {"half", 50, 100, 0.5}, {"all", 100, 100, 1}, {"of the period before, too", 132, 100, 1}} {
		t.Run(c.name, func(t *testing.T) {
			if got := share(c.part, c.whole); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
