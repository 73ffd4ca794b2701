// Drops the oldest segment of a full spool; fills Reader.lost with the report packets in it;
// TakeLost and LostTold.

package spool

import (
	"errors"
	"syscall"

	"intsink/exporters/collect/streams"
)

// Dropped says how many records one output lost with a segment. [Reader.TakeLost] says in
// which report packets they were.
type Dropped struct {
	Output  string
	Records uint64
}

// Range is a run of report packets of one stream that were dropped: count of them, from
// first to last.
type Range struct {
	streams.Gap
	Packets uint64 `json:"packets"`
}

// maxRanges bounds the ranges of sequence numbers that are reported for one dropped segment; beyond it, each stream's ranges are merged into one.
const maxRanges = 1024

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// dropOldest removes the oldest segment although outputs may need it, and appends their losses
// to all. It writes the lost ranges to positions.json before it removes the segment, so that
// the next process knows them if this one is killed in between; if the disk is too full for
// that, right after.
func (s *Spool) dropOldest(all []Dropped) []Dropped {
	g := s.segments[0]
	next := Position{g.number + 1, fileHeaderLen}
	if len(s.segments) == 1 {
		s.finishFile()
	}
	for _, r := range s.readers {
		if r.reading && r.read.Before(next) {
			d := Dropped{Output: r.name, Records: g.wanted(r.tag) - r.consumed}
			r.lost = merge(r.lost, ranges(s.path(g.number), g.size, r.read.Offset, r.tag))
			r.jump(next)
			all = append(all, d)
		}
		if r.holding && r.acked.Before(next) {
			r.acked = next
			s.moved = true
		}
	}
	written := s.noteDropped()
	s.remove(g)
	if written != nil {
		written = s.noteDropped()
	}
	if written != nil { // the next Sync tries again
		s.failures++
	}
	return all
}

// ranges returns the report packets in a segment's file, from offset from on, that the output
// with that tag would have read, as ranges of sequence numbers.
func ranges(path string, size, from int64, tag uint32) []Range {
	b, _ := readFile(path) // where it fails, the ranges are those of what could be read
	if from > int64(len(b)) {
		return nil
	}
	var m merger
	for b = b[from:min(size, int64(len(b)))]; len(b) > 0; {
		e, n, err := readEntry(b)
		if err != nil {
			break
		}
		b = b[n:]
		h, ok := streams.ReadHeader(e.Payload)
		if e.Kind != Report || !ok || e.Only != 0 && e.Only != tag {
			continue
		}
		k := streams.Key{Exporter: e.From.Addr(), Collector: e.To, Node: h.Node, HwID: h.HwID, Version: h.Version}
		m.add(Range{streams.Gap{Key: k, Start: e.Start, First: e.Sequence, Last: e.Sequence}, 1})
	}
	return m.all
}

// merge adds the ranges of more to all. A range is joined with the last one of its stream if
// they are adjacent, or if there are too many.
func merge(all, more []Range) []Range {
	var m merger
	for _, list := range [][]Range{all, more} {
		for _, r := range list {
			m.add(r)
		}
	}
	return m.all
}

// merger collects ranges, with an index of the last one of each stream.
type merger struct {
	all  []Range
	last map[run]int
}

// run identifies a stream between two starts of its sink.
type run struct {
	key   streams.Key
	start int64
}

func (m *merger) add(r Range) {
	k := run{r.Key, r.Start}
	i, ok := m.last[k]
	if ok && (r.First == m.all[i].Last+1 || len(m.all) >= maxRanges) {
		x := &m.all[i]
		x.First, x.Last = min(x.First, r.First), max(x.Last, r.Last)
		x.Packets += r.Packets
		return
	}
	if m.last == nil {
		m.last = map[run]int{}
	}
	m.last[k] = len(m.all)
	m.all = append(m.all, r)
}

// TakeLost returns the ranges of report packets that were lost with dropped segments, and that
// it has not returned before. They are kept on disk until [Reader.LostTold].
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

// LostTold says that the gap records of all ranges that TakeLost returned have arrived, or are
// kept by KeepRest.
func (r *Reader) LostTold() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.telling, r.s.moved = nil, true
}
