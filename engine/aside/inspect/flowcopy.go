// Flow: a copy of one flow's state for an answer: hops, windows, paths, losses.

package inspect

import (
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// Flow is a copy of the state of one flow.
type Flow struct {
	Key            flows.Key
	Watch          uint8 // in the rules in force, where Matched
	Matched        bool  // false: the rules are newer than the flow's last packet
	Closing        bool
	Seen           int64 // last packet, Unix nanoseconds
	Packets, Bytes uint64

	Hops      [flows.MaxHops]flows.Hop // Hops[:NumHops]
	Windows   [flows.MaxHops]uint8     // as flows.Flow.Window
	NumHops   uint8
	EndKnown  bool
	EndRef    uint32
	EndWindow uint8

	Paths     [flows.MaxPaths]flows.Path // Paths[:NumPaths], the current one first
	NumPaths  uint8
	Sprayed   bool // its packets take one of them, then another
	MorePaths bool // and there are more

	RefreshDue int64 // Unix nanoseconds; 0: not set yet

	LastReport int64 // about, Unix nanoseconds; 0: none but perhaps new_flow
	LastEvents event.Set
	Suppressed uint32 // events that a limit withheld
	Shed       uint32 // reports that no collector got, for their budgets
	Drops      uint32 // packets that the sink dropped
	Marked     uint64 // packets that came with the mark of a queue
	Sequence   bool   // it has sequence numbers, and so the following

	Lost, Reordered, Duplicates, Restarts uint64
}

// copyFrom copies f. It reads cold state only where there is some.
func (r *Flow) copyFrom(now int64, f *flows.Flow, generation uint16) {
	*r = Flow{
		Key: f.Key, Watch: f.Watch, Matched: f.Generation == generation, Closing: f.Closing(), Seen: f.LastSeen(),
		Hops: f.Hops, NumHops: min(f.NumHops, flows.MaxHops),
		EndKnown: f.EndKnown(), EndRef: f.EndRef, EndWindow: f.EndWindow,
		NumPaths: min(f.NumPaths, flows.MaxPaths), RefreshDue: f.RefreshDue(now),
	}
	r.Packets, r.Bytes = f.Totals()
	for i := range r.NumHops {
		r.Windows[i] = f.Window(int(i))
	}
	r.Paths[0] = flows.LeftPath(f.PathHash, flows.LongTick(now, f.PathSeen), 0)
	if f.LastReport != 0 {
		r.LastReport, r.LastEvents = flows.Since(now, f.LastReport), event.LastEvents(f)
	}
	if f.HasCold() {
		c := f.Cold()
		copy(r.Paths[1:], c.Paths[:])
		r.Sprayed, r.MorePaths = event.IsSprayed(now, f), c.Spray.More
		r.Suppressed, r.Shed, r.Drops, r.Marked = c.Suppressed, c.Shed, c.Drops, c.Marked
	}
	if f.HasLoss() {
		l, _ := f.Loss()
		r.Sequence = true
		r.Lost, r.Reordered, r.Duplicates, r.Restarts = l.Lost, l.Reordered, l.Duplicates, l.Restarts
	}
}

// Limits is what limits the reports of one flow: times of its last reports, in Unix nanoseconds, 0 where there was none.
type Limits struct {
	Cold     flows.Cold // all zero where the flow has none
	LossSent int64
}

func (l *Limits) copyFrom(f *flows.Flow) {
	*l = Limits{}
	if f.HasCold() {
		l.Cold = *f.Cold()
	}
	if f.HasLoss() {
		x, _ := f.Loss()
		l.LossSent = x.Sent
	}
}

// MaxHopLatency returns the highest latency last reported of a hop; false where none is known.
func (r *Flow) MaxHopLatency() (ns uint32, known bool) {
	return highest(r.Hops[:r.NumHops])
}

// highest returns the highest reference of hops; false where none has one.
func highest(hops []flows.Hop) (ns uint32, known bool) {
	for i := range hops {
		if ref := hops[i].Ref; ref != inthdr.Unknown {
			ns, known = max(ns, ref), true
		}
	}
	return ns, known
}
