// Controller: makes the lowest mode that the load and people ask for the one in force.

package failopen

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/internal/statefile"
	"intsink/conf"
)

// lookEvery is how often the load is looked at.
const lookEvery = 250 * time.Millisecond

// Controller keeps the mode of a sink. Safe from any goroutine.
type Controller struct {
	Config   func() *conf.Config // returns the configuration in force
	Load     func() Load         // returns the present load; Run calls it
	Apply    func(Mode)          // makes the workers work in a mode
	Announce func(Change)        // is called after each step
	Watchdog *Watchdog           // runs the command of the bypass switch
	Wall     func() time.Time

	keeper   *statefile.Keeper
	applying sync.Mutex // held while a mode is applied
	counts   [NumModes]atomic.Uint64

	mu     sync.Mutex // guards the rest
	asked  Asked
	ladder Ladder
	mode   Mode
	since  time.Time
	why    string
}

// BeginIn begins in the mode that is asked for.
func (c *Controller) BeginIn(asked Asked) {
	c.mu.Lock()
	c.asked, c.mode, c.since = asked, asked.Mode, asked.Since
	if asked.Mode != Full {
		c.why = asked.Why
	}
	if asked.Before {
		c.why += ", before the restart"
	}
	c.mu.Unlock()
	c.Watchdog.Want(asked.Mode == Bypass, "mode bypass")
}

// Run looks at the load until done is closed.
func (c *Controller) Run(done <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case now := <-tick.C:
			c.look(now)
		}
	}
}

// look gives the present load to the ladder, and enters the mode that it asks for.
func (c *Controller) look(now time.Time) {
	load := c.Load()
	c.mu.Lock()
	why := c.ladder.Look(&c.Config().Overload, load, now)
	c.mu.Unlock()
	if why != "" {
		c.enter("overload: " + why)
	}
}

// Ask notes the mode that somebody asks for, and enters it, or a lower one that the load asks
// for.
func (c *Controller) Ask(mode Mode, who string) State {
	why := fmt.Sprintf("asked for %s by %s", mode, who)
	c.mu.Lock()
	c.asked = Asked{Mode: mode, Since: c.Wall(), Why: why}
	c.mu.Unlock()
	c.enter(why)
	c.keeper.Changed()
	return c.State()
}

// enter puts the lowest mode that is asked for into force, because of why.
func (c *Controller) enter(why string) {
	c.applying.Lock()
	defer c.applying.Unlock()
	c.mu.Lock()
	was, mode := c.mode, max(c.asked.Mode, c.ladder.Level())
	if mode == was {
		c.mu.Unlock()
		return
	}
	c.mode, c.since, c.why = mode, c.Wall(), why
	c.mu.Unlock()
	c.counts[mode].Add(1)
	log := slog.Warn
	if mode < was {
		log = slog.Info
	}
	log("mode: "+mode.String(), "was", was.String(), "why", why)
	c.Watchdog.Want(mode == Bypass, why)
	c.Apply(mode)
	c.Announce(Change{c.Wall().UTC(), mode.String(), was.String(), why})
}

// Mode returns the mode in force.
func (c *Controller) Mode() Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}

// Entered returns how often mode m was entered since the start.
func (c *Controller) Entered(m Mode) uint64 { return c.counts[m].Load() }

// State returns the answer of GET /api/v1/mode.
func (c *Controller) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return State{
		Mode: c.mode.String(), Asked: c.asked.Mode.String(), Overload: c.ladder.Level().String(),
		Since: c.since.UTC(), Why: c.why, Switch: c.Watchdog.State(),
	}
}
