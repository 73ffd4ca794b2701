package engine

import (
	"encoding/binary"
	"testing"

	"intsink/bench/intgen"
	"intsink/engine/event"
	"intsink/engine/inthdr"
)

// TestLossOfFlowsThatAreGone: what is told of flows that are gone leaves their places as
// they are: each flow that comes has one to itself.
func TestLossOfFlowsThatAreGone(t *testing.T) {
	var d inthdr.Domain
	d.ID = 7
	d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = 4, true, inthdr.Sequence
	b := newBed(t, func(r *Rules) {
		r.INT.Domains = []inthdr.Domain{d}
		r.Policies[0].Thresholds.LossTimeout, r.Policies[0].Thresholds.LossWindow = 40e9, 1024 // the table's idle timeout is 30 s
	})
	numbered := func(flow int, n uint32) []byte {
		return withINT(t, plain(flow), func(s *intgen.Source, _ []intgen.Hop) {
			s.DomainID, s.DSInstruction, s.SourceOnly = 7, 0x8000, binary.BigEndian.AppendUint32(nil, n)
		})
	}
	const flows = 100 // more than one place in sixteen: they are taken again
	send := func(from int, n uint32) {
		for i := range flows {
			b.network.rx = [][]byte{numbered(from+i, n), numbered(from+i, n+2)}
			b.Poll()
			b.host.tx = nil
		}
	}
	send(1, 1)
	for range 50 {
		b.step(1e9)
		b.sealed()
	}
	if c := b.Snapshot(); c.Reported[event.Loss] != flows || c.Flows != 0 {
		t.Fatalf("%d flows lost something, want %d; %d are left", c.Reported[event.Loss], flows, c.Flows)
	}
	send(1001, 1)
	b.step(1e6)
	if c := b.Snapshot(); c.Flows != flows {
		t.Errorf("%d flows, want %d", c.Flows, flows)
	}
	b.balance()
}
