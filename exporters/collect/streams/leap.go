// Packets of a sink that says who it is, but whose number or address is not what was to be expected: anybody may write its
// identity, which stands in its packets in clear.

package streams

import (
	"math"
	"net/netip"
	"slices"
)

// doubtful is a row of packets one behind the other with a sink's identity that are not believed yet.
type doubtful struct {
	numbers [Enough - 1]uint64 // in the order in which they came, each once
	len     int
	highest uint64
	from    netip.Addr
	start   int64 // of their places: numbers of the sink itself are not taken by them
}

// speaker is where the packets of a sink that says who it is come from.
type speaker struct {
	at      netip.Addr // of the packet at hand; Key.Exporter is the address that is believed
	heard   uint64     // the highest number from the address that is believed
	last    int64      // when it came, by the monotonic clock
	doubted doubtful
}

// seeKnown enters a packet of a sink that says who it is. It is believed at once where its number is near those before, or the sink may
// have used so many in a silence; from another address only while its number is next to those of the address that is believed. What
// is not believed is held, until Enough come one behind the other with none of the sink between.
func (s *Stream) seeKnown(h Header, now Times, gap func(Gap)) Place {
	p := &s.speaker
	own := p.at == s.Exporter || now.Monotonic-p.last > silent
	if !s.isExpected(s.number(&h), own, now) {
		return s.doubt(h, now, gap)
	}
	if own {
		if s.Exporter = p.at; p.doubted.len > 0 {
			s.Twins += uint64(p.doubted.len)
			s.twins.found = s.twins.add(now) || s.twins.found
			p.doubted.len = 0
		}
		p.heard, p.last = max(p.heard, s.number(&h)), now.Monotonic
	}
	return s.take(h, now, gap)
}

// isExpected reports whether a packet with number n is believed. own: it comes from the address that is.
func (s *Stream) isExpected(n uint64, own bool, now Times) bool {
	switch {
	case s.resuming:
		return own
	case n < s.next:
		return s.next-n <= tooFar
	case !own:
		return n-min(s.speaker.heard, n) <= apart
	}
	return n-s.next <= far || s.newest.longer(Patience, now) && float64(n-s.next) <= 2*s.used(now)
}

// doubt holds a packet that is not believed. Its place is nobody else's.
func (s *Stream) doubt(h Header, now Times, gap func(Gap)) Place {
	n, from, r := s.number(&h), s.speaker.at, &s.speaker.doubted
	near := n-r.highest < apart || r.highest-n < apart
	if r.len == 0 || r.from != from || !near {
		if r.len > 0 {
			s.Twins += uint64(r.len)
		}
		*r = doubtful{from: from, highest: n, start: s.rowStart(now)}
	}
	switch {
	case slices.Contains(r.numbers[:r.len], n):
		s.Repeated++
	case r.len == len(r.numbers):
		return s.believe(h, now, gap)
	default:
		r.numbers[r.len] = n
		r.len++
		r.highest = max(r.highest, n)
	}
	return Place{Start: r.start, Sequence: n}
}

// believe goes on with the packets that were held and with h: what lies before them is lost, or, where the sink is behind what was
// believed before, that was not its own.
func (s *Stream) believe(h Header, now Times, gap func(Gap)) Place {
	p := &s.speaker
	row := append(slices.Clone(p.doubted.numbers[:p.doubted.len]), s.number(&h))
	first := slices.Min(row)
	switch {
	case first > s.next:
		s.expire(math.MaxInt64, gap)
		s.lose(hole{first: s.next, last: first - 1, before: s.newest.Arrived, after: now.Arrived}, gap)
		s.goTo(first, now)
	case s.next-first > tooFar:
		s.expire(math.MaxInt64, gap)
		s.Twins++
		s.first = first
		s.goTo(first, now)
	}
	p.doubted, s.Exporter, s.resuming = doubtful{}, p.at, false
	p.heard, p.last = slices.Max(row), now.Monotonic
	for _, n := range row[:len(row)-1] {
		g := h
		g.Sender.Sequence, g.Print = n, 0
		s.take(g, now, gap)
	}
	return s.take(h, now, gap)
}

// goTo makes n the number that should come next.
func (s *Stream) goTo(n uint64, now Times) {
	s.next = n
	clear(s.seen[:])
	clear(s.prints[:])
	s.pace.begin(n, now)
}
