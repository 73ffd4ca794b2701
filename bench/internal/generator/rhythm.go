package generator

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"intsink/dpdk/eal"
)

// Rhythm makes a run work and rest in turns. While the generator works, its thread goes
// before all others of its CPU (RealTime); while it rests, none of its frames is on its way
// and the others have the CPU. So it does not look away while it measures, however much they
// have to do.
type Rhythm struct {
	Work, Rest time.Duration // of one turn; no Work: no turns
	// Warm is the beginning of each Work: the latency of frames sent in it is not counted,
	// since what ran before left the caches cold.
	Warm time.Duration
	// Stall is the least latency of a frame that makes its turn a stalled one.
	Stall time.Duration
}

// Turns counts the turns of a run with a rhythm.
type Turns struct {
	Counted float64 // seconds that latency is of: Work without Warm
	Turns   uint64
	Stalled uint64    // of these, with a frame that took Rhythm.Stall or longer, or did not come back
	Steady  Histogram // Latency of the turns that are not stalled
}

// Merge adds another run's.
func (t *Turns) Merge(o *Turns) {
	t.Counted += o.Counted
	t.Turns += o.Turns
	t.Stalled += o.Stalled
	t.Steady.Merge(&o.Steady)
}

// check finds a rhythm that tells nothing.
func (r *Rhythm) check(pps float64) error {
	if r.Work > 0 && (pps <= 0 || r.Warm >= r.Work || r.Rest <= 0 || r.Stall <= 0) {
		return fmt.Errorf("rhythm %+v at %.0f frames per second: it needs a rate, a rest, a stall, and to work longer than it warms up", *r, pps)
	}
	return nil
}

// patience is how long a turn waits for its last frames.
const patience = 2 * time.Millisecond

// runTurns is run with a rhythm.
func (t *transfer) runTurns() {
	start := eal.Nanotime()
	for now := start; now < start+int64(t.load.Duration); now = eal.Nanotime() {
		t.turn(now)
		eal.Sleep(t.load.Rhythm.Rest)
	}
	t.begin(eal.Nanotime())
	t.result.Seconds = float64(t.now-start) / 1e9
	t.sweep()
}

// turn works once.
func (t *transfer) turn(start int64) {
	r := &t.load.Rhythm
	t.begin(start)
	t.warm, t.waits, t.underWay = start+int64(r.Warm), t.waits[:0], 0
	t.sendUntil(start + int64(r.Work))
	t.result.Counted += float64(t.now-t.warm) / 1e9
	t.result.Turns.Turns++
	for limit := t.now + int64(patience); t.underWay > 0 && t.now < limit; t.look() {
		t.receive()
	}
	stalled := t.underWay > 0
	for _, ns := range t.waits {
		stalled = stalled || ns >= int64(r.Stall)
	}
	if stalled {
		t.result.Stalled++
		return
	}
	for _, ns := range t.waits {
		t.result.Steady.Add(ns)
	}
}

// RealTime makes a thread, 0: the calling one, go before all ordinary ones of its CPU
// (SCHED_FIFO, sched(7)). Threads that it starts are ordinary ones.
func RealTime(tid int) error {
	const resetOnFork = 1
	err := unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: 1, Priority: 1, Flags: resetOnFork}, 0)
	if err != nil {
		return fmt.Errorf("policy SCHED_FIFO: %w; root may set it", err)
	}
	return nil
}

// prepare makes the calling thread ready for runs with r.
func (r *Rhythm) prepare() error {
	if r.Work == 0 {
		return nil
	}
	return errors.Join(eal.SharpenSleep(), RealTime(0))
}
