package failopen

import (
	"testing"
	"time"

	"intsink/conf"
)

func limits() *conf.Overload {
	return &conf.Overload{Mode: "bypass", Busy: 0.9, PollGap: 10 * time.Millisecond, FullBursts: 0.8, Enter: 2 * time.Second, Clear: 10 * time.Second}
}

// climber looks every quarter of a second.
type climber struct {
	Ladder
	t   *testing.T
	c   *conf.Overload
	now time.Time
}

func newClimber(t *testing.T) *climber { return &climber{t: t, c: limits(), now: time.Unix(1000, 0)} }

// look lets the ladder look once, and ends the test if the level changes.
func (c *climber) look(load Load) {
	c.t.Helper()
	if why := c.Look(c.c, load, c.now); why != "" {
		c.t.Fatalf("%v: %s", load, why)
	}
	c.now = c.now.Add(lookEvery)
}

// until lets the ladder look for at most d, and returns after how long its level is want.
func (c *climber) until(load Load, d time.Duration, want Mode) time.Duration {
	c.t.Helper()
	began := c.now
	for c.now.Sub(began) <= d {
		c.Look(c.c, load, c.now)
		if c.level == want {
			return c.now.Sub(began)
		}
		c.now = c.now.Add(lookEvery)
	}
	c.t.Fatalf("%v: the level is %v, want %v", load, c.level, want)
	return 0
}

var (
	overloaded = Load{Busy: 0.95}
	between    = Load{Busy: 0.8}
	calmLoad   = Load{Busy: 0.3}
)

// TestLadderGoesDownAndUp: the level goes down a step each overload.enter, up a step each
// overload.clear, and stays between the limits.
func TestLadderGoesDownAndUp(t *testing.T) {
	c := newClimber(t)
	for _, want := range []Mode{Strip, Pass, Bypass} {
		if after := c.until(overloaded, time.Minute, want); after < c.c.Enter-lookEvery || after > c.c.Enter+lookEvery {
			t.Errorf("%v after %v", want, after)
		}
	}
	for range 100 {
		c.look(overloaded)
	}
	for range 1000 {
		c.look(between)
	}
	for _, want := range []Mode{Pass, Strip, Full} {
		if after := c.until(calmLoad, time.Minute, want); after < c.c.Clear-lookEvery || after > c.c.Clear+lookEvery {
			t.Errorf("%v after %v", want, after)
		}
	}
}

// TestAMomentIsNoOverload: a load that does not last changes nothing, in either direction.
func TestAMomentIsNoOverload(t *testing.T) {
	c := newClimber(t)
	for i := range 100 {
		load := overloaded
		if i%7 == 6 {
			load = between
		}
		c.look(load)
	}
	c.until(overloaded, time.Minute, Strip)
	for i := range 200 {
		load := calmLoad
		if i%30 == 29 {
			load = between
		}
		c.look(load)
	}
}

// TestReturnsThatDoNotLast: each step upwards that does not last doubles the wait for the next,
// up to 32 times; a long calm resets it.
func TestReturnsThatDoNotLast(t *testing.T) {
	c := newClimber(t)
	c.until(overloaded, time.Minute, Strip)
	for i, want := range []time.Duration{10, 20, 40, 80, 160, 320, 320} {
		if after := c.until(calmLoad, time.Hour, Full); after < want*time.Second-lookEvery || after > want*time.Second+lookEvery {
			t.Errorf("return %d after %v, want %v s", i, after, int(want))
		}
		c.until(overloaded, time.Minute, Strip)
	}
	c.until(calmLoad, time.Hour, Full)
	for range int(time.Hour / lookEvery) {
		c.Look(c.c, calmLoad, c.now)
		c.now = c.now.Add(lookEvery)
	}
	c.until(overloaded, time.Minute, Strip)
	if after := c.until(calmLoad, time.Hour, Full); after > c.c.Clear+lookEvery {
		t.Errorf("after an hour of calm the return takes %v", after)
	}
}

// TestEachLimit: a load above any limit leads down; a limit of 0 is none.
func TestEachLimit(t *testing.T) {
	for name, load := range map[string]Load{"busy": {Busy: 0.9}, "poll_gap": {Gap: 10 * time.Millisecond}, "full_bursts": {FullBursts: 0.8}} {
		t.Run(name, func(t *testing.T) {
			newClimber(t).until(load, time.Minute, Strip)
			c := newClimber(t)
			c.c.Busy, c.c.PollGap, c.c.FullBursts = 0, 0, 0
			for range 100 {
				c.look(load)
			}
		})
	}
}

// TestOverloadMode: overload.mode bounds how far the load leads, after a reload changes it, too.
func TestOverloadMode(t *testing.T) {
	c := newClimber(t)
	c.c.Mode = "strip"
	c.until(overloaded, time.Minute, Strip)
	for range 100 {
		if c.Look(c.c, overloaded, c.now); c.level != Strip {
			t.Fatal(c.level)
		}
		c.now = c.now.Add(lookEvery)
	}
	c.c.Mode = "bypass"
	c.until(overloaded, time.Minute, Bypass)
	c.c.Mode = "pass"
	if why := c.Look(c.c, overloaded, c.now); c.level != Pass || why == "" {
		t.Errorf("%v %q", c.level, why)
	}
	c.c.Mode = "off"
	if why := c.Look(c.c, overloaded, c.now); c.level != Full || why == "" {
		t.Errorf("%v %q", c.level, why)
	}
}
