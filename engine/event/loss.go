// Event loss: changes a flow's Loss by each sequence number: holes, lost, reordered and duplicate
// packets, restarts; which flows are due.

package event

import (
	"math"

	"intsink/flows"
)

// maxLossy flows with holes are looked at every tick; the holes of others are
// found with their next packet.
const maxLossy = 4096

// sequence takes in the number of one packet (serial arithmetic, RFC 1982). What
// is skipped is a hole; a hole that stays open for a time is lost. Lossy reports it;
// only where it has no room for the flow, the packet at hand does.
//
//go:noinline
func (d *Detector) sequence(now int64, f *flows.Flow, t *Thresholds, o *Observation) Set {
	if !f.HasLoss() && o.Sequence == ^uint64(0)>>(64-uint(o.SequenceBits)) {
		return 0
	}
	l, fresh := f.Loss()
	d.number(now, l, fresh, t, o)
	if l.NumHoles == 0 && l.Pending == 0 || d.list(f, l) {
		return 0
	}
	d.expireHoles(now, l, t)
	return d.lossDue(now, f, l, t)
}

// list makes Lossy look after f; false where there is no room.
func (d *Detector) list(f *flows.Flow, l *flows.Loss) bool {
	if !l.Listed && len(d.lossy) < maxLossy {
		d.lossy = append(d.lossy, f)
		l.Listed = true
	}
	return l.Listed
}

func (d *Detector) number(now int64, l *flows.Loss, fresh bool, t *Thresholds, o *Observation) {
	shift := 64 - uint(o.SequenceBits)
	ahead := int64((o.Sequence-l.Top)<<shift) >> shift
	window := int64(min(t.LossWindow, flows.LossWindow))
	far := ahead > window || ahead <= -window
	switch {
	case far && o.Sequence == ^uint64(0)>>shift: // all ones is no number (INT 2.1), but where a counter comes to it
	case fresh || l.Anew:
		l.Top, l.Anew, l.Seen = o.Sequence, false, [flows.LossWindow / 64]uint64{}
		mark(l, o.Sequence)
	case far:
		d.Counters.Restarts++
		l.Restarts++
		l.Top, l.NumHoles, l.Seen = o.Sequence, 0, [flows.LossWindow / 64]uint64{}
		mark(l, o.Sequence)
	case ahead > 0:
		d.advance(now, l, ahead)
		l.Top = o.Sequence
		mark(l, o.Sequence)
	case marked(l, o.Sequence):
		d.Counters.Duplicates++
		l.Duplicates++
	default:
		d.Counters.Reordered++
		l.Reordered++
		mark(l, o.Sequence)
		fill(l, o.Sequence, shift)
	}
}

// advance forgets numbers that leave the window, and opens a hole for skipped ones.
func (d *Detector) advance(now int64, l *flows.Loss, ahead int64) {
	for i := int64(1); i <= ahead; i++ {
		n := l.Top + uint64(i)
		l.Seen[n/64%uint64(len(l.Seen))] &^= 1 << (n % 64)
	}
	if ahead == 1 {
		return
	}
	if l.NumHoles == flows.LossHoles {
		join(l)
	}
	l.Holes[l.NumHoles] = flows.Hole{First: l.Top + 1, Length: uint32(ahead - 1), Missing: uint32(ahead - 1), At: now}
	l.NumHoles++
}

// join merges the two neighbouring holes that were found closest in time. The merged hole has the
// time of the later one, so that no number counts as lost too early.
func join(l *flows.Loss) {
	at, closest := 0, int64(math.MaxInt64)
	for i := range l.NumHoles - 1 {
		if apart := l.Holes[i+1].At - l.Holes[i].At; apart < closest {
			at, closest = i, apart
		}
	}
	a, b := &l.Holes[at], &l.Holes[at+1]
	b.Length += uint32(b.First - a.First)
	b.Missing += a.Missing
	b.First = a.First
	remove(l, at)
}

// fill takes number n, which came late, out of its hole.
func fill(l *flows.Loss, n uint64, shift uint) {
	for i := range l.NumHoles {
		h := &l.Holes[i]
		if (n-h.First)<<shift>>shift >= uint64(h.Length) {
			continue
		}
		if h.Missing--; h.Missing == 0 {
			remove(l, i)
		}
		return
	}
}

// expireHoles counts numbers that have been missing for too long as lost.
func (d *Detector) expireHoles(now int64, l *flows.Loss, t *Thresholds) {
	for l.NumHoles > 0 && now-l.Holes[0].At > t.LossTimeout {
		d.lose(l, 0)
	}
}

// lose counts what is missing of hole i as lost.
func (d *Detector) lose(l *flows.Loss, i int) {
	n := l.Holes[i].Missing
	d.Counters.Lost += uint64(n)
	l.Lost += uint64(n)
	l.Pending += n
	remove(l, i)
}

func remove(l *flows.Loss, i int) {
	copy(l.Holes[i:l.NumHoles], l.Holes[i+1:l.NumHoles])
	l.NumHoles--
}

// lossDue returns the event Loss if losses since the last report are to be reported now.
func (d *Detector) lossDue(now int64, f *flows.Flow, l *flows.Loss, t *Thresholds) Set {
	if l.Pending == 0 {
		return 0
	}
	if l.Sent != 0 && now-l.Sent < t.LossInterval {
		return 0
	}
	d.Counters.Fired[Loss]++
	f.Cold().Lost += l.Pending
	l.Reported, l.Pending, l.Sent = l.Pending, 0, now
	return Loss.Set()
}

// lossyStep flows are looked at in one call of Lossy, so that no burst waits long.
const lossyStep = 256

// Lossy calls lost for every flow that lost something since its last report. Called
// every millisecond or so, it takes sixteen calls to see all flows where they are
// most. watch makes Flow.Watch of the rules in force.
func (d *Detector) Lossy(now int64, watch, lost func(*flows.Flow)) {
	for range min(lossyStep, len(d.lossy)) {
		if d.lossyAt >= len(d.lossy) {
			d.lossyAt = 0
		}
		if d.stillLossy(now, d.lossy[d.lossyAt], watch, lost) {
			d.lossyAt++
			continue
		}
		last := len(d.lossy) - 1
		d.lossy[d.lossyAt] = d.lossy[last]
		d.lossy = d.lossy[:last]
	}
}

func (d *Detector) stillLossy(now int64, f *flows.Flow, watch, lost func(*flows.Flow)) bool {
	if !f.HasLoss() {
		return false // the flow has been removed
	}
	watch(f)
	l, _ := f.Loss()
	if int(f.Watch) < len(d.policies) && d.policies[f.Watch].Events.Has(Loss) {
		t := &d.policies[f.Watch].Thresholds
		d.expireHoles(now, l, t)
		if d.lossDue(now, f, l, t) != 0 {
			d.Reported(now, f, Loss.Set())
			lost(f)
		}
		if l.NumHoles > 0 || l.Pending > 0 {
			return true
		}
	}
	l.Listed = false
	return false
}

func mark(l *flows.Loss, n uint64) { l.Seen[n/64%uint64(len(l.Seen))] |= 1 << (n % 64) }

func marked(l *flows.Loss, n uint64) bool { return l.Seen[n/64%uint64(len(l.Seen))]>>(n%64)&1 != 0 }
