// Package match has package fast do with a burst what needs no parser: for most packets everything
// but transmit.
package match

import (
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/watch"
)

// Stage is the stage of one worker.
type Stage struct {
	detector *event.Detector
	keepAll  bool       // watches ask for more than package fast knows: no packet is passed
	facts    fast.Facts // what they ask of a packet beside its flow's key
	key      uint64     // of the hash of facts
}

// New makes the stage of a worker; seed keys the hash of facts.
func New(detector *event.Detector, seed uint64) *Stage {
	return &Stage{detector: detector, key: watch.NewFacts(seed).HashKey()}
}

// Adopt makes ws the watches of the rules in force.
func (s *Stage) Adopt(ws *watch.Watches) {
	vlan, dscp, layer, device, link, ok := ws.AsksInFront()
	s.keepAll, s.facts = !ok, fast.Facts{Key: s.key}
	for _, a := range []struct {
		asks bool
		fact uint8
	}{{vlan, fast.AsksVLAN}, {dscp, fast.AsksDSCP}, {layer, fast.AsksLayer}, {device, fast.AsksDevice}, {link, fast.AsksLink}} {
		if a.asks {
			s.facts.Asks |= a.fact
		}
	}
}

// Do matches the burst, and passes the packets that give no event.
func (s *Stage) Do(b *burst.Burst) {
	s.detector.Sync(b.Now)
	in := s.Burst(b, b.Link.Host != nil && !b.Aside)
	in.Link = b.Link.Index
	b.Fast.Receive(in)
}

// Burst is what package fast has to know of b. strip: packets leave by another port.
func (s *Stage) Burst(b *burst.Burst, strip bool) *fast.Burst {
	return &fast.Burst{
		Vec: b.Vec, N: b.N, Now: b.Now, Wall: s.detector.Wall, Generation: b.Generation, Watched: b.Watched,
		Strip: strip, Look: s.detector.Samples.Look(), Keep: s.keepAll, Facts: s.facts,
	}
}
