package engine

import (
	"testing"

	"intsink/engine/event"
)

// TestLossOfFlowsThatAreGone: a report of the losses of a removed flow does not disturb the
// recycling of its place. Each new flow gets a place of its own.
func TestLossOfFlowsThatAreGone(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		numberPackets(r)
		r.Watches[0].Policy.Thresholds.LossTimeout, r.Watches[0].Policy.Thresholds.LossWindow = 40e9, 1024 // the table's idle timeout is 30 s
	})
	const flows = 100 // more than one place in sixteen: they are taken again
	send := func(from int, n uint32) {
		for i := range flows {
			b.network.RX = [][]byte{numberedPacket(t, from+i, n), numberedPacket(t, from+i, n+2)}
			b.Poll()
			b.host.TX = nil
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
