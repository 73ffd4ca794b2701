// Finds the watch of a flow, again when the facts of its packets or the rules change; blind: flows
// that were not seen while rules were suspended.

package detect

import (
	"intsink/engine/burst"
	"intsink/engine/watch"
	"intsink/flows"
)

// matchWatch finds the watch of the flow of INT packet j of the burst.
func (s *Stage) matchWatch(b *burst.Burst, j int) uint8 {
	if !s.rules.Watches.Asks() {
		return s.rules.Watches.First(&b.Fast.Keys[j], nil)
	}
	s.readFacts(b, j)
	b.Fast.Flows[j].Facts = s.facts.Hash(s.rules.Watches)
	return s.rules.Watches.First(&b.Fast.Keys[j], s.facts)
}

// factsChanged makes a flow be matched again where packet j has other facts than those
// that its watch was found by. A packet that is no evidence of its path changes nothing,
// where watches ask for devices.
//
//go:noinline
func (s *Stage) factsChanged(b *burst.Burst, j int) {
	flow := b.Fast.Flows[j]
	if flow == nil || b.Fresh>>j&1 != 0 || flow.Generation != b.Generation {
		return // there is none, or it is matched anyway
	}
	s.readFacts(b, j)
	if flow.Facts != s.facts.Hash(s.rules.Watches) && !s.facts.NoPath() {
		flow.Generation = b.Generation - 1
	}
}

// readFacts takes the facts that watches ask for from INT packet j of the burst.
func (s *Stage) readFacts(b *burst.Burst, j int) {
	i := b.Fast.At[j]
	info := &b.Info[i]
	s.facts.Read(s.rules.Watches, &watch.Packet{
		Frame: b.Vec[i].Bytes(), Layers: &b.Layers[i], Info: info, Outers: &b.Outers[i], Key: &b.Fast.Keys[j],
		Ingress: b.Ingress, Locator: b.Link.Locator,
	})
}

// Rematch matches f against the rules in force, whose generation is generation, if no packet of it
// came since they were adopted. Watches that ask for facts do not match without a packet; so f
// keeps its generation, and its next packet matches it again.
func (s *Stage) Rematch(f *flows.Flow, generation uint16) {
	if f.Generation != generation {
		f.Watch = s.rules.Watches.First(&f.Key, nil)
	}
}

// blind remembers until when the worker did not see packets of its flows, by the generation
// of its rules.
type blind struct {
	now, ever bool
	until     uint16 // the first generation that saw packets again
}

// adopt takes rules of a generation over, which are suspended or not; true: they end a time
// without sight.
func (x *blind) adopt(suspended bool, generation uint16) (ends bool) {
	if ends = x.now && !suspended; ends {
		x.ever, x.until = true, generation
	} else if generation-x.until > 1<<14 {
		x.ever = false // every flow that is left was matched since; the numbers of generations wrap
	}
	x.now = suspended
	return ends
}

// missed tells whether a flow that was last matched in that generation may have missed
// packets since.
func (x *blind) missed(generation uint16) bool {
	return x.ever && int16(generation-x.until) < 0
}
