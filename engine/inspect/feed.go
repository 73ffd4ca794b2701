// Feed: carries notices of reports for /api/v1/events from one worker to one reader,
// without a lock.

package inspect

import (
	"sync/atomic"

	"intsink/engine/event"
	"intsink/flows"
)

// feedRoom is how many notices wait for the reader of a Feed.
const feedRoom = 1 << 10

// Notice is one report as the event stream tells it.
type Notice struct {
	Time    int64     // Unix nanoseconds
	Events  event.Set // that the report is about
	Tracked bool      // the report is about a flow: Key is set
	Known   bool      // Path is set
	Key     flows.Key
	Path    Path // the flow's current one
}

// Feed passes what one worker reports to one reader, without a lock: the worker
// puts, the reader takes. While nobody reads it is off, and costs the worker one
// load for each burst that is reported.
type Feed struct {
	notices [feedRoom]Notice
	on      atomic.Bool
	head    atomic.Uint64 // notices put
	tail    atomic.Uint64 // notices taken
	missed  atomic.Uint64 // found no room
}

// Turn switches the feed on or off. Notices that wait when it is switched on are
// from before, and are skipped. For the reader.
func (f *Feed) Turn(on bool) {
	if on && !f.on.Load() {
		f.tail.Store(f.head.Load())
	}
	f.on.Store(on)
}

// On reports whether somebody reads.
func (f *Feed) On() bool { return f.on.Load() }

// Put adds the report of set about flow, which is nil where the packet belongs to
// none; paths describes the flow's path. Without room the notice is counted as
// missed. For the worker.
func (f *Feed) Put(now int64, set event.Set, flow *flows.Flow, paths *Paths) {
	head := f.head.Load()
	if head-f.tail.Load() >= feedRoom {
		f.missed.Add(1)
		return
	}
	n := &f.notices[head%feedRoom]
	n.Time, n.Events, n.Tracked, n.Known = now, set, flow != nil, false
	if flow != nil {
		n.Key = flow.Key
		if p := paths.Find([2]uint64{flow.PathHash}); p != nil {
			n.Path, n.Known = *p, true
		}
	}
	f.head.Store(head + 1)
}

// Take appends the notices that wait to to, at most max of them, and returns how
// many were missed since the last call. For the reader.
func (f *Feed) Take(to []Notice, max int) (notices []Notice, missed uint64) {
	tail := f.tail.Load()
	for head := f.head.Load(); tail < head && len(to) < max; tail++ {
		to = append(to, f.notices[tail%feedRoom])
	}
	f.tail.Store(tail)
	return to, f.missed.Swap(0)
}
