// How fast an output may read the spool while it catches up.

package collect

import "time"

// replay bounds how many records an output reads from the spool in a second: those that
// arrive meanwhile, and so many more. What waits in the spool thus shrinks at that rate,
// however fast reports arrive, and the receiver is not flooded with all of it after an
// outage.
type replay struct {
	rate int // records a second; 0: no bound

	since   time.Time // when allowed was last set
	allowed int       // records that may still be read; below 0: of the next time
	arrived int       // records that were appended to the spool since
}

const (
	replayEvery = tick / 2    // allowed is set at most so often
	replaySaved = time.Second // what was not read for longer may not be read at once later
)

// wait reports whether nothing may be read now.
func (r *replay) wait(now time.Time) bool {
	if r.rate == 0 {
		return false
	}
	if passed := now.Sub(r.since); passed >= replayEvery {
		more := float64(r.rate)*passed.Seconds() + float64(r.arrived)
		if passed > replaySaved { // an outage
			more *= float64(replaySaved) / float64(passed)
		}
		r.allowed = min(r.allowed, 0) + int(more)
		r.since, r.arrived = now, 0
	}
	return r.allowed <= 0
}

// read takes note of n records that were read.
func (r *replay) read(n int) { r.allowed -= n }
