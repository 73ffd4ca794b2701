package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/flows"
)

// dropsSince are packets that the sink dropped for one reason since it last said
// so.
type dropsSince struct {
	n    uint32
	sent int64 // 0: never
}

// due counts one more and tells whether it is to be reported, with how many there
// were since the last report: the first, then one per interval.
func (d *dropsSince) due(now, interval int64) (n uint32, ok bool) {
	d.n++
	if d.sent != 0 && now-d.sent < interval {
		return 0, false
	}
	n, d.n, d.sent = d.n, 0, now
	return n, true
}

// dropped is the event of a dropped packet that belongs to no flow.
func (w *Worker) dropped(p *path, from Direction, reason DropReason, now int64) (event.Set, uint32) {
	w.detector.Counters.Fired[event.Drop]++
	if w.interest[event.Drop] == 0 {
		return 0, 0
	}
	n, ok := p.drops[from][reason].due(now, w.rules.DropInterval)
	if !ok {
		w.detector.Counters.Suppressed[event.Drop][event.SuppressInterval]++
		return 0, 0
	}
	return event.Drop.Set(), n
}

// refused reports the packets left[:n], the last n of the burst that were to be
// transmitted and which the port refused. They are as they would have left.
//
//go:noinline
func (w *Worker) refused(p *path, from Direction, b *burst, left *mbuf.Vec, n int) {
	var flowOf [mbuf.MaxBurst]*flows.Flow
	if from == ToHost {
		for j := range b.nINT {
			flowOf[b.int[j]] = b.flow[j]
		}
	}
	for i := b.n - 1; i >= 0 && n > 0; i-- {
		if from == ToHost && b.verdict[i] == consumed {
			continue
		}
		n--
		if f := flowOf[i]; f != nil && f.Watch != NoWatch {
			w.refusedOf(p, b, f, left[n].Bytes())
		} else if f == nil {
			set, count := w.dropped(p, from, DropTxFull, b.now)
			if set != 0 {
				w.reportFrame(p, from, b, set, left[n].Bytes(), DropTxFull, count)
			}
		}
	}
}

// refusedOf counts and reports a packet of flow f.
func (w *Worker) refusedOf(p *path, b *burst, f *flows.Flow, frame []byte) {
	if set, count := w.detector.Dropped(b.now, f); set != 0 {
		w.reportDrop(p, b, f, set, frame, count)
	}
}
