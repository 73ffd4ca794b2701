// Stretch: makes refreshes come less often while budgets shed them.

package reporting

import "intsink/engine/event"

// stretch lengthens the time between refreshes while budgets shed them, up to
// maxStretch, and shortens it again when none is shed.
type stretch struct {
	sent, shed uint32 // refreshes since the last step
	next       int64
}

const (
	stretchStep = 1e9  // nanoseconds
	maxStretch  = 1500 // percent of the configured time
)

// step returns the factor after factor, once per second. It grows by as much as a
// quarter, in proportion to the share that is shed, because flows take it over only
// as they are refreshed; it falls by a sixteenth of what it is above one.
func (s *stretch) step(factor uint32, now int64) uint32 {
	if now < s.next {
		return factor
	}
	if s.shed > 0 {
		share := uint64(factor) * uint64(s.shed) / (uint64(s.sent) + uint64(s.shed))
		factor = min(factor+uint32(share/4)+6, maxStretch)
	} else {
		factor -= (factor - event.NoStretch + 15) / 16
	}
	*s = stretch{next: now + stretchStep}
	return factor
}

// note counts a report with a refresh. lost: some collector does not get it.
func (s *stretch) note(lost bool) {
	if lost {
		s.shed++
	} else {
		s.sent++
	}
}
