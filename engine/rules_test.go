package engine

import (
	"slices"
	"testing"

	"intsink/engine/event"
	"intsink/engine/watch"
)

// TestLossAfterAReload: a hole that was found under other rules is reported as those in
// force say, though no packet of the flow has come since.
func TestLossAfterAReload(t *testing.T) {
	setup := func(r *Rules) {
		numberPackets(r)
		r.Watches[0].DestinationPort = []watch.PortRange{{First: 8000, Last: 8000}}
	}
	for name, c := range map[string]struct {
		change func(*Rules)
		want   []string
	}{
		"as before":         {func(*Rules) {}, []string{"loss F lost 2"}},
		"of other flows":    {func(r *Rules) { r.Watches[0].DestinationPort[0] = watch.PortRange{First: 9, Last: 9} }, nil},
		"without the event": {func(r *Rules) { r.Watches[0].Policy.Events &^= event.Loss.Set() }, nil},
		"without any watch": {func(r *Rules) { r.Watches = nil }, nil},
		"behind another one": {func(r *Rules) {
			r.Watches = []watch.Watch{{Name: "none", Match: watch.Match{DestinationPort: []watch.PortRange{{First: 9, Last: 9}}}}, r.Watches[0]}
			r.Watches[0].Policy = r.Watches[1].Policy
		}, []string{"loss F lost 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := explained(t, setup)
			b.expect(frames(numberedPacket(t, 1, 1), numberedPacket(t, 1, 4)), nil, "new_flow F")
			r := *b.rules
			r.Watches = slices.Clone(r.Watches)
			r.Watches[0].DestinationPort = slices.Clone(r.Watches[0].DestinationPort)
			c.change(&r)
			b.Reload(&r)
			b.step(1e6)
			b.step(300e6)
			b.step(1e6)
			if got := b.why(); !slices.Equal(got, c.want) {
				t.Errorf("reports %q, want %q", got, c.want)
			}
			b.balance()
		})
	}
}

// TestManyReloads between two packets of a flow, the last to fewer watches.
func TestManyReloads(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		r.Watches = []watch.Watch{{Name: "none", Match: watch.Match{DestinationPort: []watch.PortRange{{First: 9, Last: 9}}}}, r.Watches[0]}
		r.Watches[0].Policy = r.Watches[1].Policy
	})
	b.send(withINT(t, plain(1), nil))
	r := *b.rules
	r.Watches = r.Watches[1:]
	for range 256 {
		b.Reload(&r)
		b.step(tickNs)
	}
	b.send(withINT(t, plain(1), nil))
	b.balance()
}
