// What outputs lose with a segment that goes before they have it: counted, and told by gap records.

package spool

// Reason says why a segment went.
type Reason uint8

const (
	SpoolFull   Reason = iota // too many bytes of files, or no room on the disk
	SpoolFailed               // too many bytes in memory, while the disk takes nothing
	QueueFull                 // too many bytes in memory, without a folder
	Stopped                   // in memory at the end
)

// Dropped says how many records one output lost with a segment. [Reader.TakeLost] says in
// which report packets they were.
type Dropped struct {
	Output  string
	Records uint64
	Why     Reason
}

// dropOldest removes the oldest segment of a kind, and appends to dropped what outputs lose by it. It
// returns false if there is none to remove. One that an output was sent records of, and has not
// settled them, stays if another can go: while it is there, they are sent again after any end.
func (s *Spool) dropOldest(memory bool, why Reason, dropped *[]Dropped) bool {
	if n := s.readBy(); n > 0 {
		before := s.used(memory)
		if s.trim(); s.used(memory) < before {
			return true
		}
	}
	var g *segment
	for _, x := range s.segments {
		if (x.mem != nil) != memory || x == s.last() && (s.file != nil || x.mem != nil) {
			continue
		}
		if g == nil {
			g = x
		}
		if !s.inHands(x) {
			g = x
			break
		}
	}
	if g == nil {
		return false
	}
	s.drop(g, why, dropped)
	return true
}

// inHands reports whether an output was sent records of g that it has not settled.
func (s *Spool) inHands(g *segment) bool {
	for _, r := range s.readers {
		if r.acked.Segment <= g.number && g.number <= r.read.Segment && r.acked.Before(r.read) {
			return true
		}
	}
	return false
}

// drop removes g. Before that it writes to positions.json what is lost, so that the next process knows
// if this one is killed in between; if the disk is too full for that, right after.
func (s *Spool) drop(g *segment, why Reason, dropped *[]Dropped) {
	for _, r := range s.readers {
		read := r.read.offsetIn(g)
		if n := g.records - r.consumedOf(g); r.read.Segment <= g.number && n > 0 {
			*dropped = append(*dropped, Dropped{r.name, n, why})
		}
		if r.read.Segment <= g.number {
			r.lost = merge(r.lost, s.rangesOf(g, read, r))
		}
		if g.mem == nil && r.acked.Segment <= g.number && r.acked.Before(r.read) { // sent, and not settled
			sent := without(s.rangesOf(g, fileHeaderLen, nil), s.rangesOf(g, read, nil), r.doneIn(g))
			r.held = merge(r.held, sent)
		}
		r.leave(g.number)
	}
	written := s.noteDropped()
	s.remove(g)
	if written != nil {
		if s.noteDropped() != nil { // the next Sync tries again
			s.failures++
		}
	}
}

// offsetIn returns where in g the position stands: at its begin, in it, or at its end.
func (p Position) offsetIn(g *segment) int64 {
	switch {
	case p.Segment < g.number:
		return fileHeaderLen
	case p.Segment > g.number:
		return g.size
	}
	return p.Offset
}

// rangesOf returns what is in g from an offset on. r is the reader that loses it: also what is in g but
// cannot be read any more, unless it has that already.
func (s *Spool) rangesOf(g *segment, from int64, r *Reader) []Range {
	b, _ := s.contents(g) // where it fails, the ranges are those of what could be read
	var all, ahead merger
	walk(b, fileHeaderLen, min(g.size, int64(len(b))), func(e *Entry, at int64, _ int) {
		x, ok := span(e)
		if !ok {
			return
		}
		if all.add(x); at >= from {
			ahead.add(x)
		}
	})
	if r == nil || g.mem != nil || r.gaveUp == g.number {
		return ahead.all
	}
	return merge(ahead.all, without(g.sum.all, all.all, r.doneIn(g)))
}

// contents returns a segment's bytes.
func (s *Spool) contents(g *segment) ([]byte, error) {
	if g.mem != nil {
		return g.mem, nil
	}
	path, b := s.path(g.number), []byte(nil)
	err := s.disk.do(func() (err error) {
		b, err = readFile(path)
		return err
	}, nil)
	if err == ErrHangs {
		return nil, err // the call has b
	}
	return b, err
}

// Abandon drops what is in memory at the end: the disk did not take it.
func (s *Spool) Abandon() (dropped []Dropped) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.segments) - 1; i >= 0; i-- {
		if s.segments[i].mem != nil {
			s.drop(s.segments[i], Stopped, &dropped)
		}
	}
	return dropped
}

// TakeLost returns what the output lost and was not told of yet. It is kept on disk until [Reader.LostTold].
func (r *Reader) TakeLost() []Range {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if len(r.lost) == 0 {
		return nil
	}
	taken := r.lost
	r.telling, r.lost = merge(r.telling, r.lost), nil
	return taken
}

// LostTold says that the gap records of all that TakeLost returned have arrived.
func (r *Reader) LostTold() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.telling, r.s.moved = nil, true
}
