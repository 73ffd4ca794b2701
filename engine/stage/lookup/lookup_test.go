package lookup_test

import (
	"testing"

	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/stage/lookup"
)

// TestFlowsAreFoundOrMade: for the first packet of a flow it is fresh; where package fast has found all flows, nothing is left.
func TestFlowsAreFoundOrMade(t *testing.T) {
	b := bursttest.New(t, bursttest.ByPort())
	of := func(n int) []byte { return bursttest.WithINT(t, bursttest.Plain(n), nil) }
	b.Watched = true
	made := 0
	s := lookup.New(b.Table, func(*burst.Burst) { made++ })
	b.Parse(of(1), bursttest.Plain(9), of(2), of(1))
	s.Do(b.Burst)
	f := b.Fast.Flows
	if b.Fresh != 0b011 || f[0] == nil || f[0] != f[2] || f[1] == nil || f[0] == f[1] || b.Table.Len() != 2 || f[0].Key != b.Fast.Keys[0] {
		t.Errorf("fresh %b, %d flows", b.Fresh, b.Table.Len())
	}
	b.Parse(of(2), of(3))
	s.Do(b.Burst)
	if b.Fresh != 0b10 || b.Fast.Flows[0] != f[1] || b.Table.Len() != 3 || len(b.Fast.Deferred()) != 2 {
		t.Errorf("fresh %b, %d flows, deferred %v", b.Fresh, b.Table.Len(), b.Fast.Deferred())
	}
	b.Parse(of(2), of(3))
	if s.Do(b.Burst); made != 2 {
		t.Errorf("told of %d bursts with new flows, want 2", made)
	}
}
