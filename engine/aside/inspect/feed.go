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
	WasOn   bool // Was is set
	Was     Path // of a path_change: the flow's path before

	Lost, Packets uint64 // of a loss: how many packets of the flow were lost, and how many arrived, since it began
	LostNow       uint32 // of Lost, what this report tells
}

// Feed passes what one worker reports to one reader, without a lock: the worker
// puts, the reader takes. While nobody reads it is off, and costs the worker one
// load for each burst that is reported. A reader that wants few events pays for these.
type Feed struct {
	notices [feedRoom]Notice
	on      atomic.Uint32 // the event.Set that is wanted
	head    atomic.Uint64 // notices put
	tail    atomic.Uint64 // notices taken
	missed  atomic.Uint64 // found no room
}

// Want says which events are to be put: a report of one of them, at least; the empty set switches the feed off. Notices
// that wait when it is switched on are from before, and are skipped. For the reader.
func (f *Feed) Want(set event.Set) {
	if f.on.Load() == 0 {
		f.tail.Store(f.head.Load())
	}
	f.on.Store(uint32(set))
}

// On reports whether somebody reads.
func (f *Feed) On() bool { return f.on.Load() != 0 }

// Put adds the report of set about flow, which is nil where the packet belongs to
// none; paths describes the flow's path. Without room the notice is counted as
// missed. For the worker.
func (f *Feed) Put(now int64, set event.Set, flow *flows.Flow, paths *Paths) {
	if set&event.Set(f.on.Load()) == 0 {
		return
	}
	head := f.head.Load()
	if head-f.tail.Load() >= feedRoom {
		f.missed.Add(1)
		return
	}
	n := &f.notices[head%feedRoom]
	n.Time, n.Events, n.Tracked, n.Known, n.WasOn = now, set, flow != nil, false, false
	if flow != nil {
		n.Key = flow.Key
		if p := paths.Find([2]uint64{flow.PathHash}); p != nil {
			n.Path, n.Known = *p, true
		}
		if set.Has(event.Loss) && flow.HasLoss() {
			l, _ := flow.Loss()
			n.Lost, n.LostNow = l.Lost, l.Reported
			n.Packets, _ = flow.Totals()
		}
		if set.Has(event.PathChange) && flow.NumPaths > 1 {
			if p := paths.Find([2]uint64{pathBefore(flow)}); p != nil {
				n.Was, n.WasOn = *p, true
			}
		}
	}
	f.head.Store(head + 1)
}

// pathBefore returns the hash of the path that a flow with several left last.
func pathBefore(f *flows.Flow) uint64 {
	others := f.Cold().Paths[:f.NumPaths-1]
	last := 0
	for i := range others {
		if others[i].Seen() > others[last].Seen() {
			last = i
		}
	}
	return others[last].Hash
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
