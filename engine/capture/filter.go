// Which packets a capture wants.

package capture

import (
	"slices"

	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/mitigate"
)

// Stages are where packets are captured.
type Stages uint8

const (
	In   Stages = 1 << iota // as they came, before INT is removed
	Out                     // as they leave
	Both = In | Out
)

// Filter says which packets are wanted: those that fit everything that is asked for, and of
// each list one entry.
type Filter struct {
	Stages     Stages
	Links      []int // as workers index them; empty: all
	Watches    []string
	Events     event.Set       // some report about the packet is about one of them
	Dropped    uint32          // bits of engine.DropReason
	Malformed  uint32          // bits of inthdr.Reason; a packet fits that has a reason of either
	Match      *mitigate.Table // nil: every packet
	SnapLength int             // bytes of a packet that are kept
}

// AsksFlow tells whether only packets of flows fit, which come from the network with INT.
func (f *Filter) AsksFlow() bool { return len(f.Watches) > 0 }

// AsksReason tells whether only packets fit with which something is wrong.
func (f *Filter) AsksReason() bool { return f.Dropped|f.Malformed != 0 }

// FitsLink tells whether packets of link i may fit.
func (f *Filter) FitsLink(i int) bool { return len(f.Links) == 0 || slices.Contains(f.Links, i) }

// FitsEvents tells whether a packet fits whose reports are about events.
func (f *Filter) FitsEvents(events event.Set) bool { return f.Events == 0 || f.Events&events != 0 }

// FitsReason tells whether a packet fits that was dropped for the reason drop, if it was, or
// that is malformed for another.
func (f *Filter) FitsReason(dropped bool, drop uint8, malformed inthdr.Reason) bool {
	return !f.AsksReason() || dropped && f.Dropped>>drop&1 != 0 || malformed != inthdr.ReasonNone && f.Malformed>>malformed&1 != 0
}
