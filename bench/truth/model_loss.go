package truth

// lossState follows the sequence numbers of a flow.
type lossState struct {
	begun    bool
	next     uint32           // the number after the highest
	holes    map[uint32]int64 // when each was opened
	pending  []int64          // when each number was lost that no report has counted yet
	reported bool
	last     int64 // time of the last report
}

// sequence enters the number of a packet, if it has one.
func (m *Model) sequence(p *Policy, f *flowState, k *Packet) {
	if k.Sequence == nil || !m.wants(p, Loss) {
		return
	}
	l, n := &f.loss, *k.Sequence
	m.expireHoles(p, f, k.Time)
	ahead := int64(int32(n - l.next))
	jump := ahead + 1 // from the highest number so far
	far := !l.begun || jump > int64(p.LossWindow) || -jump >= int64(p.LossWindow)
	switch {
	case n == unknown32 && far: // no number
	case far:
		l.begun, l.next, l.holes = true, n+1, map[uint32]int64{}
	case ahead >= 0:
		for ; l.next != n; l.next++ {
			l.holes[l.next] = k.Time
			m.due.add(k.Time+int64(p.LossTimeout), f.Key())
		}
		l.next++
	default: // the number fills a hole, or comes late, or again
		delete(l.holes, n)
	}
}

// expireHoles counts holes that were not filled in time as lost.
func (m *Model) expireHoles(p *Policy, f *flowState, now int64) {
	for n, opened := range f.loss.holes {
		if lost := opened + int64(p.LossTimeout); lost < now {
			delete(f.loss.holes, n)
			f.loss.pending = append(f.loss.pending, lost)
		}
	}
}

// lossDue returns from when on a report of losses is due; false: none is.
func (l *lossState) lossDue(p *Policy) (int64, bool) {
	if len(l.pending) == 0 {
		return 0, false
	}
	due := l.pending[0]
	for _, t := range l.pending {
		due = min(due, t)
	}
	if l.reported {
		due = max(due, l.last+int64(p.LossInterval))
	}
	return due, true
}

// summarised notes that losses were reported at now.
func (l *lossState) summarised(now int64) {
	l.reported, l.last, l.pending = true, now, nil
}
