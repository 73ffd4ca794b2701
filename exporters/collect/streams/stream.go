// Stream: follows one sequence of numbers: finds holes, restarts, late and repeated packets.

package streams

import "math"

// Patience is how long a missing number may still come before it counts as lost, in
// nanoseconds. A restart of a sink takes longer.
const Patience = int64(1e9)

const (
	window    = 1 << 14 // so many numbers below next, a bit each says whether it came
	maxHoles  = 1024    // most ranges of missing numbers that may still come
	nearStart = 4096    // after a restart a sink's first number is below this one
	enough    = 16      // packets of a sequence that begins anew tell that the sink has restarted
	tooFar    = 1 << 18 // no packets are lost or late by so many while others come: a second or more of a fast sink
)

// hole is a range of missing numbers, both ends included.
type hole struct {
	first, last uint64
	since       int64 // when the hole was found, by the monotonic clock
}

// Stream is the state of one sequence.
type Stream struct {
	Key
	Counts
	Told     Counts // the counts at the latest stats record; here, so that they go with the stream
	start    int64
	first    uint64 // number of the first packet since start
	next     uint64 // the number that should come next
	copies   uint64 // further packets with the first packet's number, until another number comes
	newest   Times  // times of packet next-1
	holes    []hole // in rising order
	resuming bool   // after a restart of the collector: packets may have come before the next one
	suspects uint32 // packets one behind the other, up to the last one, that may be of a sink that has begun anew
	suspect  uint32 // the highest number of them
	seen     [window / 64]uint64
}

func newStream(k Key, h Header, now Times) *Stream {
	s := &Stream{Key: k, newest: now}
	s.begin(h, now)
	return s
}

// begin makes h the first packet of the stream.
func (s *Stream) begin(h Header, now Times) {
	s.start, s.newest = now.Arrived, now
	s.first, s.next = uint64(h.Sequence), uint64(h.Sequence)
	clear(s.seen[:])
	s.holes, s.copies, s.resuming, s.suspects = s.holes[:0], 0, false, 0
}

// See enters one packet into the stream and returns its place. It calls gap with ranges of
// numbers that it counts as lost meanwhile.
func (s *Stream) See(h Header, now Times, gap func(Gap)) Place {
	s.Received++
	m := mask(s.Version)
	ahead := (uint64(h.Sequence) - s.next) & m
	switch {
	case s.unnumbered(ahead == m):
		s.copies++
		s.newest = now
		return Place{s.start, s.first + s.copies}
	case s.copies > 0: // the packets are numbered after all; begin anew, since copies took places
		s.begin(h, now)
		ahead = 0
	case s.suspected(h, ahead, m) && !s.restarted(h, ahead, m, now):
		s.Late++
		return Place{s.start - 1, uint64(h.Sequence)}
	case s.restarted(h, ahead, m, now):
		s.Restarts++
		s.expire(math.MaxInt64, gap) // the missing numbers will not come any more
		s.begin(h, now)
		ahead = 0
	}
	if ahead > m/2 {
		return s.behind(m+1-ahead, h)
	}
	if s.resuming {
		s.resuming = false
		s.next += ahead
		s.first = s.next
		ahead = 0
	}
	if ahead > 0 {
		s.skip(ahead, now.Monotonic, gap)
	}
	s.mark(s.next)
	s.newest = now
	s.next++
	return Place{s.start, s.next - 1}
}

// unnumbered reports whether this packet and all before it have the same number: switches of
// Transparent Security do not number theirs.
func (s *Stream) unnumbered(again bool) bool {
	return again && s.next == s.first+1 && len(s.holes) == 0
}

// restarted reports whether the sink has begun to count anew: after a silence comes a number
// below next, or one near 0 that would mean the loss of more than a few packets. The silence
// must show on both clocks: packets may have waited in the socket, and the wall clock may
// have been set.
func (s *Stream) restarted(h Header, ahead, m uint64, now Times) bool {
	if s.suspects >= enough {
		return true
	}
	if now.Arrived-s.newest.Arrived <= Patience || now.Monotonic-s.newest.Monotonic <= Patience {
		return false
	}
	return ahead > m/2 || h.Sequence < nearStart && ahead > nearStart
}

// suspected reports whether a packet may be of a sink that began anew within a second: its number is near 0 and far from
// next both ways, or goes on from such a one. Some may be old packets, or of another sink with the same key: only where
// enough come one behind the other, with none of the old numbers between, has the sink restarted.
func (s *Stream) suspected(h Header, ahead, m uint64) bool {
	far := ahead > tooFar && m+1-ahead > tooFar
	goesOn, behind := s.suspects > 0 && h.Sequence-s.suspect < 64, s.suspects > 0 && s.suspect-h.Sequence < 64
	switch {
	case s.resuming || !far || !goesOn && !behind && h.Sequence >= nearStart:
		s.suspects = 0
		return false
	case h.Sequence == s.suspect && s.suspects > 0: // a copy
	case goesOn:
		s.suspects, s.suspect = s.suspects+1, h.Sequence
	case behind: // packets change places on the way
		s.suspects++
	default:
		s.suspects, s.suspect = 1, h.Sequence
	}
	return true
}

// behind returns the place of a packet whose number is next minus back.
func (s *Stream) behind(back uint64, h Header) Place {
	if back > s.next { // from before the stream's first packet, with a number from before the wrap
		s.Late++
		return Place{s.start - 1, uint64(h.Sequence)}
	}
	n := s.next - back
	switch {
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
	return Place{s.start, n}
}

// skip opens a hole of n numbers, from next on.
func (s *Stream) skip(n uint64, monotonic int64, gap func(Gap)) {
	if len(s.holes) >= maxHoles {
		s.giveUp(1, gap)
	}
	s.holes = append(s.holes, hole{s.next, s.next + n - 1, monotonic})
	for i := range min(n, window) {
		at := (s.next + i) % window
		s.seen[at/64] &^= 1 << (at % 64)
	}
	s.next += n
	for len(s.holes) > 1 && s.holes[0].last+window < s.next { // the window has no bits for it any more
		s.giveUp(1, gap)
	}
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
		s.Lost += h.last - h.first + 1
		gap(Gap{s.Key, s.start, h.first, h.last})
	}
	s.holes = append(s.holes[:0], s.holes[n:]...)
}

func (s *Stream) mark(n uint64)         { s.seen[n%window/64] |= 1 << (n % 64) }
func (s *Stream) wasSeen(n uint64) bool { return s.seen[n%window/64]&(1<<(n%64)) != 0 }

// Start returns when the stream began, in Unix nanoseconds.
func (s *Stream) Start() int64 { return s.start }
