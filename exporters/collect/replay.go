// Bounds how fast an output reads the spool while it catches up.

package collect

import "time"

// replay bounds how many records an output reads from the spool in a second: as many as
// arrive in that second, and rate more. So the backlog shrinks by rate a second, however fast
// reports arrive, and a receiver is not flooded with all of it after an outage.
type replay struct {
	rate int // records a second beyond those that arrive; 0: no bound

	since   time.Time // when allowed was last set
	allowed int       // records that may still be read; below 0: too many were, they count against the next
	arrived int       // records that were appended to the spool after since
}

const (
	replayEvery = tick / 2    // allowed is set at most so often
	replaySaved = time.Second // longest pause for which allowed records add up
)

// wait reports whether no record may be read now.
func (r *replay) wait(now time.Time) bool {
	if r.rate == 0 {
		return false
	}
	if passed := now.Sub(r.since); passed >= replayEvery {
		more := float64(r.rate)*passed.Seconds() + float64(r.arrived)
		if passed > replaySaved { // the receiver was away
			more *= float64(replaySaved) / float64(passed)
		}
		r.allowed = min(r.allowed, 0) + int(more)
		r.since, r.arrived = now, 0
	}
	return r.allowed <= 0
}

// read counts n records as read.
func (r *replay) read(n int) { r.allowed -= n }
