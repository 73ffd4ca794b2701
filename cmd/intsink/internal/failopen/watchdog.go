// Watchdog: runs the command of a bypass switch, also when workers do not poll.

package failopen

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/intsink/internal/status"
	"intsink/conf"
)

// barkEvery is how often the watchdog looks; a command that failed is tried again after
// retryEvery, and at the stop after retryLast.
const (
	barkEvery  = 50 * time.Millisecond
	retryEvery = time.Second
	retryLast  = 200 * time.Millisecond
)

// Watchdog runs the command of the bypass switch: when the mode is bypass, when a worker has
// not polled for bypass.after, and when the sink stops; and back. It is a goroutine of its
// own, which waits for no worker.
type Watchdog struct {
	Config func() *conf.Bypass
	Stuck  func(after time.Duration) string // returns a worker that has not polled for so long; "": all have
	Run    func(ctx context.Context, command []string) error

	// Set before begin of Watch is closed:
	Announce func(SwitchChange) // tells who listens that the switch was turned
	// Ours takes the switch for this process, and says whether no other one has it; nil: none ever has.
	Ours func() bool

	counts [2]atomic.Uint64 // commands that succeeded, that failed

	mu      sync.Mutex // guards the rest
	asked   string     // why Want asked for bypass; "": it did not
	state   status.Switch
	command []string  // that turned the switch into that state
	beaten  time.Time // when heartbeat was last run
	tried   time.Time // when a command last failed
	stuck   bool      // a worker has not polled
	since   time.Time // when all workers polled again
}

// Want asks for bypass because of why, or for the sink in line.
func (w *Watchdog) Want(bypass bool, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked = ""; bypass {
		w.asked = why
	}
}

// State returns the state of the switch; nil: there is none.
func (w *Watchdog) State() *status.Switch {
	if len(w.Config().Command) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state
	if s.State == "" {
		s.State = "unknown"
	}
	return &s
}

// Commands returns how many commands succeeded, or failed.
func (w *Watchdog) Commands(failed bool) uint64 {
	if failed {
		return w.counts[1].Load()
	}
	return w.counts[0].Load()
}

// Watch calls look every barkEvery, once begin is closed, until ctx ends, and then puts the switch into bypass: also where
// it has not begun, as after a start that failed, unless the switch is another process's.
func (w *Watchdog) Watch(ctx context.Context, begin <-chan struct{}) {
	tick := time.NewTicker(barkEvery)
	defer tick.Stop()
	select {
	case <-begin:
	case <-ctx.Done():
		if w.Announce = nil; w.Ours == nil || w.Ours() {
			w.finish(time.Now(), tick.C)
		}
		return
	}
	if w.Ours != nil { // another process whose start fails leaves the switch alone
		w.Ours()
	}
	for {
		select {
		case <-ctx.Done():
			w.finish(time.Now(), tick.C)
			return
		case now := <-tick.C:
			w.look(ctx, now)
		}
	}
}

// finish puts the switch into bypass for the last time: at once, whatever failed just before, and
// where that fails again, at the times that ticks gives, until bypass.timeout has passed.
func (w *Watchdog) finish(now time.Time, ticks <-chan time.Time) {
	c := w.Config()
	if len(c.Command) == 0 {
		return
	}
	w.mu.Lock()
	w.tried = time.Time{}
	if w.state.Error != "" && w.state.State == "bypass" { // inline failed, or was ended by the stop: it may have turned it
		w.state.State = ""
	}
	w.mu.Unlock()
	const why = "the sink stops"
	for end := now.Add(c.Timeout); now.Before(end); now = <-ticks {
		w.Want(true, why) // shown by /api/v1/mode
		w.lookFor(context.Background(), c, why, now, retryLast, end.Sub(now))
		if w.State().State == "bypass" {
			return
		}
	}
	slog.Error("bypass: the sink stops, and its switch was not turned", "tried_for", c.Timeout)
}

// settle is how long all workers poll before the switch goes back in line after one did not.
const settle = time.Second

// look runs the command that is due, if any.
func (w *Watchdog) look(ctx context.Context, now time.Time) {
	if c := w.Config(); len(c.Command) > 0 {
		w.lookFor(ctx, c, w.why(c, now), now, retryEvery, c.Timeout)
	}
}

// lookFor is look for a command that failed pause ago or longer, and for bypass because of why, "": for inline; one
// that it runs may take so long as patience, and until ctx ends.
func (w *Watchdog) lookFor(ctx context.Context, c *conf.Bypass, why string, now time.Time, pause, patience time.Duration) {
	want := "inline"
	if why != "" {
		want = "bypass"
	}
	w.mu.Lock()
	if !slices.Equal(w.command, c.Command) { // a reload names another switch, whose state is not known
		w.state, w.command = status.Switch{Why: w.state.Why}, c.Command
	}
	state, beat := w.state.State, c.Heartbeat > 0 && want == "inline" && now.Sub(w.beaten) >= c.Heartbeat
	wait := w.state.Error != "" && now.Sub(w.tried) < pause
	w.mu.Unlock()
	switch {
	case state != want && !wait:
		w.run(ctx, c, want, why, now, patience)
	case state == want && beat:
		w.run(ctx, c, "heartbeat", "", now, patience)
	}
}

// why returns why the switch must be in bypass; "": it must not.
func (w *Watchdog) why(c *conf.Bypass, now time.Time) string {
	stuck := w.Stuck(c.After)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case stuck != "":
		w.stuck, w.since = true, now
	case w.stuck && now.Sub(w.since) >= settle:
		w.stuck = false
	}
	switch {
	case w.asked != "":
		return w.asked
	case stuck != "":
		return stuck
	case w.stuck:
		return w.state.Why
	}
	return ""
}

// run runs the command with one more argument, and notes whether it succeeded within patience.
func (w *Watchdog) run(ctx context.Context, c *conf.Bypass, what, why string, now time.Time, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	err := w.Run(ctx, append(append([]string{}, c.Command...), what))
	cancel()
	if change := w.ran(c, what, why, err, now); change != nil && w.Announce != nil {
		w.Announce(*change)
	}
}

// ran keeps what became of the command; nil: the switch is where it was.
func (w *Watchdog) ran(c *conf.Bypass, what, why string, err error, now time.Time) *SwitchChange {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beaten = now
	if err != nil {
		w.counts[1].Add(1)
		if w.state.Error == "" {
			slog.Error("bypass: the command failed, it is tried again every second", "command", strings.Join(c.Command, " ")+" "+what, "err", err)
		}
		w.state.Error, w.tried = err.Error(), now
		return nil
	}
	w.counts[0].Add(1)
	w.state.Error = ""
	switch what {
	case "bypass":
		slog.Warn("bypass: packets go around the sink", "why", why)
	case "inline":
		slog.Info("bypass: packets go through the sink")
	default:
		return nil
	}
	was := w.state.State
	if was == "" {
		was = "unknown"
	}
	w.state.State, w.state.Why = what, why
	return &SwitchChange{time.Now().UTC(), what, was, why}
}
