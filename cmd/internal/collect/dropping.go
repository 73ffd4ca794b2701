// dropping: whether the log drops records that outputs have not delivered, now or a moment ago.

package collect

import (
	"sync"
	"time"

	"intsink/exporters/collect"
)

// droppingFor is how long a collector counts as one that drops records after the last one: between two segments that go, a
// disk may take what comes.
const droppingFor = 15 * time.Second

// dropping is looked at each second.
type dropping struct {
	mu    sync.Mutex
	total uint64
	last  time.Time
}

// note takes down how many records were dropped so far for want of room.
func (d *dropping) note(outputs []collect.OutputSnapshot, now time.Time) {
	total := uint64(0)
	for i := range outputs {
		for _, why := range []collect.Reason{collect.QueueFull, collect.SpoolFailed, collect.SpoolFull} {
			total += outputs[i].Dropped[why]
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if total > d.total {
		d.last = now
	}
	d.total = total // less where an output was taken out of the configuration
}

// goesOn reports whether records were dropped a moment ago.
func (d *dropping) goesOn(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return now.Sub(d.last) < droppingFor
}
