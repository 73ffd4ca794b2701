package appliance

import (
	"testing"
	"time"

	"intsink/cmd/intsink/internal/failopen"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/enginetest/workertest"
)

// still is an appliance with two workers that nobody polls but the test.
func still(t *testing.T) (a *Appliance, now *int64) {
	now = new(int64)
	*now = 1e9
	a = &Appliance{clock: func() int64 { return *now }}
	for range 2 {
		a.workers = append(a.workers, workertest.New(t, func(c *engine.WorkerConfig) { c.Clock = a.clock }))
	}
	return a, now
}

// TestStuck names the worker that has not polled for a time; one that has not begun is none.
func TestStuck(t *testing.T) {
	a, now := still(t)
	if why := a.stuck(time.Second); why != "" {
		t.Errorf("before the first poll: %s", why)
	}
	for _, w := range a.workers {
		w.Tick(*now)
	}
	*now += 1e9
	a.workers[0].Tick(*now)
	if why := a.stuck(time.Second); why != "" {
		t.Errorf("after a second: %s", why)
	}
	*now++
	if why := a.stuck(time.Second); why != "worker w1 has not polled for 1s" {
		t.Errorf("after more than that: %q", why)
	}
}

// TestModeMakesTheRules: without watches below full, with them again in full.
func TestModeMakesTheRules(t *testing.T) {
	c, d := conf.Parse("test.hcl", []byte("port \"network\" { device = \"net_null0\" }\nport \"host\" { device = \"net_null1\" }\nlink \"edge\" {\n network = \"network\"\n host = \"host\"\n}\nint { udp_port = 5000 }\nwatch \"all\" {}\ncollector \"primary\" { address = \"192.0.2.10:8555\" }\n"))
	if c == nil {
		t.Fatal(d.Err())
	}
	for m := range failopen.NumModes {
		a := &Appliance{inForce: inForce{mode: m}}
		r := a.rulesOf(c)
		if watched := len(r.Watches) > 0; watched != (m == failopen.Full) || r.Suspended == watched {
			t.Errorf("%v: %d watches, suspended %v", m, len(r.Watches), r.Suspended)
		}
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
