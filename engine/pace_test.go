package engine

import (
	"testing"

	"intsink/dpdk/mbuf"
)

func TestPace(t *testing.T) {
	var p pace
	now := int64(1e18)
	f := func(gap, longest int64, over ...uint64) {
		t.Helper()
		now += gap
		p.note(gap, now)
		if p.LongestNs != longest || p.Over != [len(LongGaps)]uint64(over) {
			t.Errorf("after a gap of %d: longest %d, want %d; over %v, want %v", gap, p.LongestNs, longest, p.Over, over)
		}
	}
	f(5e3, 5e3, 0, 0, 0)
	f(4e3, 5e3, 0, 0, 0)
	f(100e3, 100e3, 1, 0, 0)
	f(20e6, 20e6, 2, 1, 1)
	f(2e6, 20e6, 3, 2, 1)
	now += 10 * paceWindowNs
	f(1e3, 20e6, 3, 2, 1) // windows before still count
	if p.RecentNs != 1e3 {
		t.Errorf("recently %d", p.RecentNs)
	}
	now += paceWindowNs
	f(3e3, 20e6, 3, 2, 1)
	if p.RecentNs != 3e3 {
		t.Errorf("recently %d", p.RecentNs)
	}
	now += 5 * paceWindowNs
	f(2e3, 3e3, 3, 2, 1) // what was 15 s ago no longer counts
	now += 100 * paceWindowNs
	f(1e3, 1e3, 3, 2, 1)
}

// The gap between two polls of Run, by the clock's account.
func TestRunNotesGaps(t *testing.T) {
	b := newBed(t, func(*Rules) {})
	n := 0
	b.clock = func() int64 {
		b.now += 3e6
		if n++; n == 8 {
			b.Stop()
		}
		return b.now
	}
	b.Run(Idle{})
	b.Publish()
	if p := b.Snapshot().Pace; p.LongestNs != 3e6 || p.Over != [len(LongGaps)]uint64{7, 7, 0} || p.Gaps.Classes[11] != 7 || p.Gaps.Sum != 21e6 || p.TotalNs != 21e6 {
		t.Errorf("%+v", p)
	}
}

// busyQueue delivers a packet on each call, and its work takes time.
type busyQueue struct {
	*memQueue
	work func()
}

func (q *busyQueue) RxBurst(v *mbuf.Vec) int {
	q.RX = [][]byte{plain(1)}
	return q.memQueue.RxBurst(v)
}

func (q *busyQueue) TxBurst(v *mbuf.Vec, n int) int {
	q.work()
	return q.memQueue.TxBurst(v, n)
}

func (q *busyQueue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), q.RxBurst(rx)
}

// Of a busy worker the clock is read once per burst, and the gap is the time from one
// look at the network port to the next, whichever ports had packets.
func TestPaceOfABusyWorker(t *testing.T) {
	for _, both := range []bool{false, true} {
		b := newBed(t, func(*Rules) {})
		polls, reads, idle := 0, 0, 0
		l := b.links[0].Link
		l.Network = &busyQueue{b.network, func() { b.now += 20e3 }}
		work := func() { // once per poll
			b.now += 130e3
			if polls++; polls == 10 {
				b.Stop()
			}
		}
		gap, perPoll := int64(130e3), 1
		if both {
			gap, perPoll = 150e3, 2
			l.Host = &busyQueue{b.host, work}
		} else {
			l.Host = quietHost{&busyQueue{b.host, work}}
		}
		b.clock = func() int64 { reads++; return b.now }
		b.Run(Idle{Sleep: func() { idle++ }})
		if want := 1 + 10*perPoll + 1; reads != want || idle != 0 { // at the start and in Close
			t.Errorf("both ways %v: the clock was read %d times in 10 polls, want %d; %d idle", both, reads, want, idle)
		}
		if p := b.Snapshot().Pace; p.LongestNs != gap || p.Over != [len(LongGaps)]uint64{9, 0, 0} {
			t.Errorf("both ways %v: %+v, want gaps of %d", both, p, gap)
		}
	}
}

// quietHost is a port that nothing arrives on.
type quietHost struct{ *busyQueue }

func (q quietHost) Exchange(tx *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), 0
}

func BenchmarkPace(b *testing.B) {
	var p pace
	for now := int64(1); b.Loop(); now += 1000 {
		p.note(1000, now)
	}
}
