// Stream: follows one sequence of numbers: finds holes, late and repeated packets.

package streams

import (
	"net/netip"
	"slices"
	"sync/atomic"
)

// Patience is how long a missing number may still come before it counts as lost, in
// nanoseconds.
const Patience = int64(1e9)

const (
	window   = 1 << 14 // so many numbers below next, a bit each says whether it came
	maxHoles = 1024    // most ranges of missing numbers that may still come
	prints   = 256     // so many numbers below next have the print of their packet
)

// hole is a range of missing numbers, both ends included.
type hole struct {
	first, last uint64
	since       int64 // when the hole was found, by the monotonic clock
	before      int64 // when the packet in front of it came, and the one behind it: Unix nanoseconds
	after       int64
}

// Stream is the state of one sequence.
type Stream struct {
	Key
	Counts
	Told     Counts // the counts at the latest stats record; here, so that they go with the stream
	Behind   Behind
	start    int64
	first    uint64 // number of the first packet since start
	next     uint64 // the number that should come next
	copies   uint64 // further packets with the first packet's number, until another number comes
	newest   Times  // times of packet next-1
	holes    []hole // in rising order
	numbered bool   // packets had different numbers
	resuming bool   // after a restart of the collector: packets may have come before the next one
	row      row    // packets up to the last one that may be of a sink that has begun anew
	lastRow  int64  // start of the latest row
	pace     pace
	twins    twins
	head     *head      // of all streams with this label
	owner    netip.Addr // whose share of the table it takes
	speaker  speaker    // of a sink that says who it is
	memory   *memory    // of the numbers that came; nil: the table does not remember
	seen     [window / 64]uint64
	prints   [prints]uint32
}

// Behind is how long before its receipt a sink's clock says that it made the latest report, in nanoseconds: about 0, unless its clock
// or the collector's is wrong. It may be set and read at any time.
type Behind struct {
	ns   atomic.Int64
	told bool
}

const (
	// steady is how far Behind may be from the latest report: to write it for each would cost more than to read it.
	steady = int64(1e9)
	// WrongClock is how far two clocks are apart, in nanoseconds, where that is told.
	WrongClock = 60 * int64(1e9)
)

// Set takes that of a report.
func (b *Behind) Set(ns int64) {
	if d := ns - b.ns.Load(); d > steady || d < -steady {
		b.ns.Store(ns)
	}
}

// Get returns it.
func (b *Behind) Get() int64 { return b.ns.Load() }

// Wrong returns true once each time that the clocks begin to be far apart. It is for one goroutine.
func (b *Behind) Wrong() bool {
	ns := b.ns.Load()
	wrong := ns >= WrongClock || ns <= -WrongClock
	news := wrong && !b.told
	b.told = wrong
	return news
}

func newStream(k Key, h Header, now Times) *Stream {
	s := &Stream{Key: k, newest: now, owner: k.Exporter}
	s.begin(h, now)
	if s.known() {
		s.start = k.Began
		s.speaker = speaker{at: k.Exporter, heard: s.first, last: now.Monotonic}
	}
	return s
}

// begin makes h the first packet of the stream.
func (s *Stream) begin(h Header, now Times) {
	s.start, s.newest = now.Arrived, now
	s.first, s.next = s.number(&h), s.number(&h)
	clear(s.seen[:])
	clear(s.prints[:])
	if s.memory != nil { // its numbers were those of another start
		s.remember(now.Arrived)
	}
	s.holes, s.copies, s.resuming, s.row = s.holes[:0], 0, false, row{}
	s.pace.begin(s.next, now)
}

// See enters one packet into the stream and returns its place. It calls gap with ranges of
// numbers that it counts as lost meanwhile.
func (s *Stream) See(h Header, now Times, gap func(Gap)) Place {
	s.Received++
	s.head.switched(s, now)
	if s.known() {
		return s.seeKnown(h, now, gap)
	}
	m := s.mask()
	ahead := (s.number(&h) - s.next) & m
	switch {
	case s.unnumbered(ahead == m):
		s.copies++
		s.newest = now
		return Place{Start: s.start, Sequence: s.first + s.copies}
	case s.copies > 0: // the packets are numbered after all; begin anew, since copies took places
		s.begin(h, now)
		s.numbered = true
	case !s.resuming && ahead > far && s.comesRound(now):
		return s.beginUnknown(h, now, gap)
	case s.suspected(h, ahead, now):
		return s.hold(h, now, gap)
	}
	s.dismiss(now)
	return s.take(h, now, gap)
}

// take enters a packet of the sink that the stream is of.
func (s *Stream) take(h Header, now Times, gap func(Gap)) Place {
	m := s.mask()
	ahead := (s.number(&h) - s.next) & m
	if ahead > m/2 {
		s.numbered = true
		return s.takeBehind(m+1-ahead, h, now)
	}
	if s.resuming {
		s.resuming = false
		s.next += ahead
		s.first = s.next
		ahead = 0
	}
	if ahead > 0 {
		s.skip(ahead, now, gap)
	}
	s.mark(s.next)
	s.memory.add(s.next, now.Arrived)
	s.prints[s.next%prints] = h.Print
	s.newest = now
	s.next++
	s.pace.step(s.next, now)
	s.numbered = s.numbered || s.next > s.first+1
	return Place{s.start, s.next - 1, ahead}
}

// unnumbered reports whether this packet and all before it have the same number: switches of
// Transparent Security do not number theirs.
func (s *Stream) unnumbered(again bool) bool {
	return again && !s.numbered && s.next == s.first+1 && len(s.holes) == 0
}

// takeBehind counts a packet whose number is next minus back, takes note of it, and returns its place.
func (s *Stream) takeBehind(back uint64, h Header, now Times) Place {
	if back > s.next { // from before the stream's first packet, with a number from before the wrap
		s.Late++
		return Place{Start: s.start - 1, Sequence: uint64(h.Sequence)}
	}
	n := s.next - back
	switch {
	case back <= prints && s.wasSeen(n) && differ(s.prints[n%prints], h.Print):
		return s.ofTwin(n, now)
	case s.fill(n):
		s.Reordered++
	case n < s.first || back > window || !s.wasSeen(n):
		s.Late++
	default:
		s.Repeated++
	}
	if back <= window {
		s.mark(n)
	}
	s.memory.add(n, now.Arrived)
	if back <= prints {
		s.prints[n%prints] = h.Print
	}
	return Place{Start: s.start, Sequence: n}
}

// differ reports whether two packets are known to be others by their prints: 0 is one that is not known, and print makes none so.
func differ(a, b uint32) bool { return a != b && a != 0 && b != 0 }

// skip opens a hole of n numbers, from next on.
func (s *Stream) skip(n uint64, now Times, gap func(Gap)) {
	if len(s.holes) >= maxHoles {
		s.giveUp(1, gap)
	}
	s.holes = append(s.holes, hole{s.next, s.next + n - 1, now.Monotonic, s.newest.Arrived, now.Arrived})
	for i := range min(n, window) {
		at := (s.next + i) % window
		s.seen[at/64] &^= 1 << (at % 64)
	}
	s.next += n
	for len(s.holes) > 1 && s.holes[0].last+window < s.next { // the window has no bits for it any more
		s.giveUp(1, gap)
	}
}

// missing reports whether n is in a hole.
func (s *Stream) missing(n uint64) bool {
	return slices.ContainsFunc(s.holes, func(h hole) bool { return h.first <= n && n <= h.last })
}

// fill takes n out of its hole. It returns false if n is in none.
func (s *Stream) fill(n uint64) bool {
	for i, h := range s.holes {
		if n < h.first || n > h.last {
			continue
		}
		switch {
		case h.first == h.last:
			s.holes = append(s.holes[:i], s.holes[i+1:]...)
		case n == h.first:
			s.holes[i].first++
		case n == h.last:
			s.holes[i].last--
		default:
			s.holes = append(s.holes[:i+1], s.holes[i:]...)
			s.holes[i].last, s.holes[i+1].first = n-1, n+1
		}
		return true
	}
	return false
}

// expire counts as lost the holes that opened at time before or earlier.
func (s *Stream) expire(before int64, gap func(Gap)) {
	n := 0
	for n < len(s.holes) && s.holes[n].since <= before {
		n++
	}
	s.giveUp(n, gap)
}

// giveUp counts the numbers of the first n holes as lost.
func (s *Stream) giveUp(n int, gap func(Gap)) {
	for _, h := range s.holes[:n] {
		s.lose(h, gap)
	}
	s.holes = append(s.holes[:0], s.holes[n:]...)
}

// lose counts the numbers of a hole as lost, and calls gap. Where the table remembers, whoever asks other collectors
// counts those that they do not have (Table.Lose).
func (s *Stream) lose(h hole, gap func(Gap)) {
	g := Gap{Key: s.Key, Start: s.start, First: h.first, Last: h.last}
	if s.memory == nil {
		s.Lost += g.Count()
	} else {
		g.Before, g.After = h.before, h.after
		s.memory.claims = append(s.memory.claims, h.claim())
	}
	gap(g)
}

func (s *Stream) mark(n uint64)         { s.seen[n%window/64] |= 1 << (n % 64) }
func (s *Stream) wasSeen(n uint64) bool { return s.seen[n%window/64]&(1<<(n%64)) != 0 }

// Start returns when the stream began, in Unix nanoseconds.
func (s *Stream) Start() int64 { return s.start }
