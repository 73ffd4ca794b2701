package generator

import (
	"cmp"
	"time"

	"intsink/dpdk/eal"
	"intsink/dpdk/mbuf"
)

// transfer is one Run.
type transfer struct {
	g        *Generator
	load     *Load
	result   Result
	tx, rx   *mbuf.Vec
	interval float64 // nanoseconds between two bursts
	due      float64 // time of the next burst
	next     int     // frame
	now      int64   // last reading of the clock
	begun    int64   // when this turn, or the run, began
	back     int64   // end of the generator's last pause
	underWay int     // frames that were sent in this turn and have not come back
	warm     int64   // end of this turn's warming up
	waits    []int64 // latencies of this turn; nil: there is no rhythm
}

func newTransfer(g *Generator, l *Load) *transfer {
	t := &transfer{g: g, load: l, tx: mbuf.NewVec(), rx: mbuf.NewVec()}
	if l.PPS > 0 {
		t.interval = 1e9 * float64(l.Burst) / l.PPS
	}
	if l.Rhythm.Work > 0 {
		t.waits = make([]int64, 0, int(l.PPS*l.Rhythm.Work.Seconds())+2*l.Burst)
	}
	return t
}

const defaultQuiet = 50 * time.Millisecond

func (t *transfer) run() {
	start := eal.Nanotime()
	t.begin(start)
	t.sendUntil(start + int64(t.load.Duration))
	t.result.Seconds = float64(t.now-start) / 1e9
	t.sweep()
}

// begin starts the generator's look at the clock.
func (t *transfer) begin(now int64) {
	t.now, t.begun, t.back, t.due = now, now, now, float64(now)
}

// sendUntil sends and receives.
func (t *transfer) sendUntil(end int64) {
	for ; t.now < end; t.look() {
		t.receive()
		if float64(t.now) >= t.due {
			t.send()
		}
	}
}

// sweep receives until nothing comes back any more.
func (t *transfer) sweep() {
	quiet := int64(cmp.Or(t.load.Quiet, defaultQuiet))
	for last := t.now; t.now < last+quiet; t.look() {
		if t.receive() > 0 {
			last = t.now
		}
	}
}

// look reads the clock, and notes a pause.
func (t *transfer) look() {
	now := eal.Nanotime()
	if now-t.now >= int64(latePoll) {
		if now >= t.warm {
			t.result.Pauses++
		}
		t.back = now
	}
	t.now = now
}

// send offers one burst. A burst that comes too late moves all later ones: a
// generator that catches up would overflow the queue of a device that keeps up.
func (t *transfer) send() {
	n := t.load.Burst
	t.due = max(t.due, float64(t.now)-t.interval) + t.interval
	t.result.Offered += uint64(n)
	if !t.g.pool.AllocBulk(t.tx, n) {
		t.result.Refused += uint64(n) // all are under way
		return
	}
	for _, m := range t.tx[:n] {
		f := t.load.Frames[t.next]
		if t.next++; t.next == len(t.load.Frames) {
			t.next = 0
		}
		b := m.SetLen(len(f))
		copy(b, f)
		stamp(b, t.now, t.g.trial)
	}
	sent := t.g.out.TxBurst(t.tx, n)
	t.underWay += sent
	if sent < n {
		t.result.Refused += uint64(n - sent)
		rest := copy(t.tx[:], t.tx[sent:n])
		t.g.pool.FreeBulk(t.tx, rest)
	}
}

// receive takes one burst. A frame that was under way while the generator paused may have
// waited for it: its latency is not counted.
func (t *transfer) receive() int {
	n := t.g.in.RxBurst(t.rx)
	if n == 0 {
		return 0
	}
	t.look()
	for _, m := range t.rx[:n] {
		at, trial := readStamp(m.Bytes())
		if trial != t.g.trial {
			t.result.Foreign++
			continue
		}
		t.result.Received++
		if at >= t.begun {
			t.underWay--
		}
		switch {
		case at < t.back:
			t.result.LateReads++
		case at >= t.warm:
			t.result.Latency.Add(t.now - at)
			if len(t.waits) < cap(t.waits) {
				t.waits = append(t.waits, t.now-at)
			}
		}
	}
	t.g.pool.FreeBulk(t.rx, n)
	return n
}
