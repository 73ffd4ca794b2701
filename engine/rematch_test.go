package engine

import (
	"slices"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/watch"
)

// TestRefusedWhenTheWatchesAreGone: packets that the host port does not take belong to no flow where nothing is
// watched any more, on whichever way they went; those of before have watches that are gone.
func TestRefusedWhenTheWatchesAreGone(t *testing.T) {
	b := explained(t, nil)
	b.pass(withINT(t, plain(1), nil), withINT(t, plain(2), nil))
	b.Reload(b.rules.Suspend())
	b.step(1e6)
	b.host.Room = 0
	for range 3 { // the first after a second takes the long way
		b.now += 1.1e9
		for range 3 {
			if _, reports := b.pass(withINT(t, plain(1), nil), withINT(t, plain(2), nil)); len(reports) != 0 {
				t.Errorf("reports %q", reports)
			}
		}
	}
	b.Publish()
	if d := b.Snapshot().Links[0].Direction[burst.ToHost]; d.Dropped[burst.DropTxFull] != 18 || d.Received != 20 || d.Forwarded != 2 {
		t.Errorf("%+v", d)
	}
	b.balance()
}

// TestLossUnderAWatchWithFacts: sequence numbers count, too, where a watch asks for more than the key of a flow, and
// no packet is passed in C.
func TestLossUnderAWatchWithFacts(t *testing.T) {
	b := explained(t, func(r *Rules) {
		numberPackets(r)
		r.Watches[0].Match = watch.Match{DSCP: []uint8{0}}
	})
	for n := range uint32(50) {
		b.pass(numberedPacket(t, 1, 1+n))
	}
	b.step(300e6)
	if got := b.why(); len(got) != 0 {
		t.Errorf("without a loss: reports %q", got)
	}
	b.pass(numberedPacket(t, 1, 52))
	b.step(300e6)
	b.step(1e6)
	if got := b.why(); !slices.Equal(got, []string{"loss F lost 1"}) {
		t.Errorf("reports %q", got)
	}
	if c := b.Snapshot().Detector; c.Restarts != 0 {
		t.Errorf("%d restarts", c.Restarts)
	}
	b.balance()
}

// TestNumbersThatNobodyLooksAtAreNotMissed: while a flow belongs to a watch without the event, or to none, its
// numbers go on unseen.
func TestNumbersThatNobodyLooksAtAreNotMissed(t *testing.T) {
	for name, change := range map[string]func(*watch.Watch){
		"a watch without loss": func(w *watch.Watch) { w.Policy.Events &^= event.Loss.Set() },
		"no watch":             func(w *watch.Watch) { w.Match = watch.Match{Protocol: []uint8{99}} },
	} {
		t.Run(name, func(t *testing.T) {
			b := explained(t, numberPackets)
			pass := func(n ...uint32) {
				for _, n := range n {
					b.pass(numberedPacket(t, 1, n))
				}
			}
			reload := func(r *Rules) {
				b.Reload(r)
				b.step(1e6)
			}
			pass(1, 2)
			before, changed := b.rules, *b.rules
			changed.Watches = slices.Clone(before.Watches)
			change(&changed.Watches[0])
			reload(&changed)
			pass(3, 4, 5, 6, 7, 8, 9)
			reload(before)
			pass(20, 21)
			b.step(300e6)
			b.step(1e6)
			if c := b.Snapshot().Detector; c.Lost != 0 || c.Restarts != 0 {
				t.Errorf("lost %d, restarts %d", c.Lost, c.Restarts)
			}
			pass(23)
			b.step(1.3e9)
			b.step(1e6)
			if got := b.why(); !slices.Contains(got, "loss F lost 1") {
				t.Errorf("a loss afterwards: reports %q", got)
			}
			b.balance()
		})
	}
}

// TestASoonerRefreshReachesKnownFlows: one that was due in hours comes as soon as the new rules say.
func TestASoonerRefreshReachesKnownFlows(t *testing.T) {
	b := explained(t, func(r *Rules) { r.Watches[0].Policy.Thresholds.RefreshEvery = 3600e9 })
	b.pass(withINT(t, plain(1), nil))
	sooner := *b.rules
	sooner.Watches = slices.Clone(b.rules.Watches)
	sooner.Watches[0].Policy.Thresholds.RefreshEvery = 2e9
	b.Reload(&sooner)
	b.step(1e6)
	var got []string
	for range 13 {
		_, reports := b.pass(withINT(t, plain(1), nil))
		got = append(got, reports...)
		b.step(200e6)
	}
	if len(got) == 0 || got[0] != "refresh F" {
		t.Errorf("within 2.6 s: reports %q", got)
	}
	b.balance()
}
