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
	seen     int64   // time of the last look at the receiving port
}

func newTransfer(g *Generator, l *Load) *transfer {
	t := &transfer{g: g, load: l, tx: mbuf.NewVec(), rx: mbuf.NewVec()}
	if l.PPS > 0 {
		t.interval = 1e9 * float64(l.Burst) / l.PPS
	}
	return t
}

const defaultQuiet = 50 * time.Millisecond

func (t *transfer) run() {
	start := eal.Nanotime()
	end := start + int64(t.load.Duration)
	t.due, t.seen = float64(start), start
	now := start
	for ; now < end; now = eal.Nanotime() {
		t.receive(now)
		if float64(now) >= t.due {
			t.send(now)
		}
	}
	t.result.Seconds = float64(now-start) / 1e9
	quiet := int64(cmp.Or(t.load.Quiet, defaultQuiet))
	for last := now; now < last+quiet; now = eal.Nanotime() {
		if t.receive(now) > 0 {
			last = now
		}
	}
}

// send offers one burst. A burst that comes too late moves all later ones: a
// generator that catches up would overflow the queue of a device that keeps up.
func (t *transfer) send(now int64) {
	n := t.load.Burst
	t.due = max(t.due, float64(now)-t.interval) + t.interval
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
		stamp(b, now, t.g.trial)
	}
	if sent := t.g.out.TxBurst(t.tx, n); sent < n {
		t.result.Refused += uint64(n - sent)
		rest := copy(t.tx[:], t.tx[sent:n])
		t.g.pool.FreeBulk(t.tx, rest)
	}
}

func (t *transfer) receive(now int64) int {
	late := now-t.seen >= int64(latePoll)
	if late {
		t.result.Pauses++
	}
	t.seen = now
	n := t.g.in.RxBurst(t.rx)
	if n == 0 {
		return 0
	}
	for _, m := range t.rx[:n] {
		at, trial := readStamp(m.Bytes())
		switch {
		case trial != t.g.trial:
			t.result.Foreign++
			continue
		case late:
			t.result.LateReads++
		default:
			t.result.Latency.Add(now - at)
		}
		t.result.Received++
	}
	t.g.pool.FreeBulk(t.rx, n)
	return n
}
