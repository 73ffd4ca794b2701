// Package lookup finds or makes the flows of the packets whose flow package fast has not found,
// and passes packets that give no event, as fast does with those whose flow it found.
package lookup

import (
	"intsink/engine/burst"
	"intsink/flows"
)

// Stage is the stage of one worker.
type Stage struct {
	table *flows.Table
	made  func(*burst.Burst)
}

// New makes the stage of a worker with this flow table. made is called with a burst some of whose flows
// were made for it (burst.Burst.Fresh).
func New(table *flows.Table, made func(*burst.Burst)) *Stage {
	return &Stage{table, made}
}

// Do finds or makes the flow of every INT packet: of all where some were parsed, else
// of those that package fast has not found.
func (s *Stage) Do(b *burst.Burst) {
	f, n := b.Fast, b.Fast.Len()
	if b.Unlike {
		f.Find()
	} else if f.Missing == 0 {
		return
	}
	b.Fresh = s.table.Resolve(b.Now, f.Keys[:n], f.Hashes[:n], f.Flows[:n], f.Missing)
	if b.Fresh != 0 {
		s.made(b)
	}
	if b.Aside { // a rule or a capture wants to show packets as they came
		f.KeepINT()
	}
	f.Pass()
}
