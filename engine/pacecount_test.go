package engine

import "testing"

// TestPollsAreCounted: the time behind polls that found packets is busy, and each burst is in
// the class of its size.
func TestPollsAreCounted(t *testing.T) {
	var p pace
	p.poll(true, false, 7) // nothing is known of what was before the first poll
	p.poll(true, true, 100)
	p.poll(false, true, 20)
	p.poll(false, false, 1000)
	if p.BusyNs != 120 || p.Polls != [2]uint64{2, 2} {
		t.Errorf("busy for %d ns, polls %v", p.BusyNs, p.Polls)
	}
	for _, n := range []int{1, 2, 3, 4, 7, 8, 63, 64} {
		p.burst(n)
	}
	if want := [BurstSizes]uint64{0, 1, 2, 2, 1, 0, 1, 1}; p.Bursts != want || p.BurstPackets != 152 {
		t.Errorf("bursts %v of %d packets, want %v", p.Bursts, p.BurstPackets, want)
	}
}

// TestBurstsOfAWorkerAreCounted, of both directions.
func TestBurstsOfAWorkerAreCounted(t *testing.T) {
	b := newBed(t, nil)
	b.send(withINT(t, plain(1), nil))
	b.send(withINT(t, plain(1), nil), withINT(t, plain(2), nil), withINT(t, plain(3), nil))
	b.Publish()
	if got := b.Snapshot().Pace; got.Bursts[1] != 1 || got.Bursts[2] != 1 || got.BurstPackets != 4 {
		t.Errorf("bursts %v of %d packets", got.Bursts, got.BurstPackets)
	}
}
