package event

import (
	"math"

	"intsink/flows"
)

// maxLossy flows with holes are looked at every tick; the holes of others are
// found with their next packet.
const maxLossy = 4096

// sequence takes in the number of one packet (serial arithmetic, RFC 1982). What
// is skipped is a hole; a hole that stays open for a time is lost. A loss is
// reported once in a while, with the packet at hand.
//
//go:noinline
func (d *Detector) sequence(now int64, f *flows.Flow, t *Thresholds, o *Observation) Set {
	if !f.HasLoss() && o.Sequence == ^uint64(0)>>(64-uint(o.SequenceBits)) {
		return 0
	}
	l, fresh := f.Loss()
	d.number(now, f, l, fresh, t, o)
	d.expireHoles(now, f, l, t)
	return d.lossDue(now, f, l, t)
}

func (d *Detector) number(now int64, f *flows.Flow, l *flows.Loss, fresh bool, t *Thresholds, o *Observation) {
	shift := 64 - uint(o.SequenceBits)
	ahead := int64((o.Sequence-l.Top)<<shift) >> shift
	window := int64(min(t.LossWindow, flows.LossWindow))
	// All ones is no number (INT 2.1), but where a counter comes to it.
	unknown := o.Sequence == ^uint64(0)>>shift
	switch {
	case unknown && (ahead > window || ahead <= 0):
	case fresh:
		l.Top = o.Sequence
		mark(l, o.Sequence)
	case ahead > window || ahead <= -window:
		d.Counters.Restarts++
		l.Restarts++
		l.Top, l.NumHoles, l.Seen = o.Sequence, 0, [flows.LossWindow / 64]uint64{}
		mark(l, o.Sequence)
	case ahead > 0:
		d.advance(now, f, l, ahead)
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

// advance forgets what leaves the window and opens a hole for what is skipped.
func (d *Detector) advance(now int64, f *flows.Flow, l *flows.Loss, ahead int64) {
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
	if !l.Listed && len(d.lossy) < maxLossy {
		d.lossy = append(d.lossy, f)
		l.Listed = true
	}
	l.Holes[l.NumHoles] = flows.Hole{First: l.Top + 1, Length: uint32(ahead - 1), Missing: uint32(ahead - 1), At: now}
	l.NumHoles++
}

// join makes one of the two neighbouring holes that were found closest in time. It
// is given up with the later one: nothing is lost too early for want of room.
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

// expireHoles gives up what has been missing for too long.
func (d *Detector) expireHoles(now int64, _ *flows.Flow, l *flows.Loss, t *Thresholds) {
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

// lossDue tells whether what was lost since the last report is to be reported now.
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

// Lossy calls gone for every flow that lost something since its last report and has
// no packet to say so with.
func (d *Detector) Lossy(now int64, gone func(*flows.Flow)) {
	kept := d.lossy[:0]
	for _, f := range d.lossy {
		if !f.HasLoss() || int(f.Watch) >= len(d.policies) {
			continue // the flow is gone, or nobody watches it
		}
		l, _ := f.Loss()
		t := &d.policies[f.Watch].Thresholds
		d.expireHoles(now, f, l, t)
		if d.lossDue(now, f, l, t) != 0 {
			d.remember(now, f, Loss.Set())
			gone(f)
		}
		if l.NumHoles > 0 || l.Pending > 0 {
			kept = append(kept, f)
		} else {
			l.Listed = false
		}
	}
	clear(d.lossy[len(kept):])
	d.lossy = kept
}

func mark(l *flows.Loss, n uint64) { l.Seen[n/64%uint64(len(l.Seen))] |= 1 << (n % 64) }

func marked(l *flows.Loss, n uint64) bool { return l.Seen[n/64%uint64(len(l.Seen))]>>(n%64)&1 != 0 }
