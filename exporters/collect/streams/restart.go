// Restarts and long losses of sinks that do not say who they are, as the packets that follow tell: by a row of
// packets whose numbers go on from another place.

package streams

import (
	"math"
	"slices"
)

// Enough packets of a sequence that begins anew tell that the sink has restarted.
const Enough = 16

const (
	nearStart = 4096         // after a restart a sink's first number is below this one
	atStart   = 64           // and below this one where the numbers that it repeats do not tell old packets from new ones
	few       = 4            // of them may have numbers that were missing
	apart     = 64           // packets of such a row are less far from each other: some are lost or change places
	far       = 4096         // a number so far ahead counts as loss when the next packets go on from there
	tooFar    = 1 << 18      // no packets are late by so many while others come: a second or more of a fast sink
	quiet     = Patience / 4 // a sink that is started again is silent for longer, a copy that the network makes comes sooner
)

// row is a row of packets one behind the other that may be of a sink that has begun anew.
type row struct {
	numbers  [Enough - 1]uint32 // in the order in which they came, each once
	len      int
	highest  uint32
	start    int64  // of the stream that they begin, if they do
	newest   Times  // of the last one
	late     uint64 // so many of them are late if the sink has not restarted
	repeated uint64 // and so many repeated
	fresh    int    // so many have numbers that did not come before
}

// goesOn reports whether a packet with number n belongs to the row. One that does not rise after a silence
// does not: the sink has restarted once more.
func (r *row) goesOn(n uint32, now Times) bool {
	near := n-r.highest < apart || r.highest-n < apart
	return r.len > 0 && near && !(n <= r.highest && r.newest.longer(quiet, now))
}

// has reports whether a packet of the row has number n.
func (r *row) has(n uint32) bool { return slices.Contains(r.numbers[:r.len], n) }

// longer reports whether there is more than d between t and a later packet's times. That must show on both
// clocks: packets may have waited in the socket, and the wall clock may have been set.
func (t Times) longer(d int64, later Times) bool {
	return later.Arrived-t.Arrived > d && later.Monotonic-t.Monotonic > d
}

// comesRound reports whether so many numbers may have been used in a silence that the next one does not tell how many are missing.
func (s *Stream) comesRound(now Times) bool {
	return s.newest.longer(Patience, now) && s.used(now) >= float64(s.mask()/2)
}

// beginUnknown begins the stream anew behind such a silence, with one packet, or with the row that it goes on from.
func (s *Stream) beginUnknown(h Header, now Times, gap func(Gap)) Place {
	s.expire(math.MaxInt64, gap) // the missing numbers will not come any more
	s.Unknown++
	gap(Gap{Key: s.Key, Start: s.start, First: s.next, Unknown: true})
	if s.row.goesOn(h.Sequence, now) {
		return s.beginRow(h, now, gap)
	}
	s.dismiss(now)
	s.begin(h, now)
	return s.take(h, now, gap)
}

// used is how many numbers the sink may have used since its newest packet.
func (s *Stream) used(now Times) float64 {
	return s.pace.most(s.next, now) * float64(now.Monotonic-s.newest.Monotonic) / 1e9
}

// suspected reports whether a packet may be of a sink that began anew, or behind a long loss: its number is far from next both
// ways, or far ahead, or came before, or goes on from such a one. Some may be damaged, or old packets, or of
// another sink with the same key: only where enough come one behind the other, with none of the old numbers between, has the
// sink restarted, or are numbers lost.
func (s *Stream) suspected(h Header, ahead uint64, now Times) bool {
	m := s.mask()
	back, goesOn := m+1-ahead, s.row.goesOn(h.Sequence, now)
	switch {
	case ahead <= m/2:
		return ahead > far && !s.resuming && !(s.newest.longer(Patience, now) && float64(ahead) <= 2*s.used(now))
	case back > tooFar:
		return true
	case back > s.next || !s.newest.longer(quiet, now):
		return false
	case s.came(s.next-back, now):
		return goesOn || h.Sequence < atStart || s.newest.longer(Patience, now)
	}
	return goesOn && s.row.fresh < few
}

// came reports whether number n, below next, came before, so that a packet that has it now is a copy or of a sink that has
// begun anew. Copies that the network makes come while the sink goes on or soon after its last packet, also where all of them
// are late by the same time: suspected leaves those out. Numbers below the stream's first one came before the stream began;
// where that is not long ago, they may be of packets that are late.
func (s *Stream) came(n uint64, now Times) bool {
	if n+window >= s.next && s.wasSeen(n) {
		return true
	}
	if n < s.first {
		return s.Restarts > 0 || now.Arrived-s.start > Patience
	}
	return n+window < s.next && !s.missing(n)
}

// hold puts a packet into the row. Its place is one of a stream that begins with the row: should the sink have restarted,
// it is that stream's, and if not it is nobody else's.
func (s *Stream) hold(h Header, now Times, gap func(Gap)) Place {
	r := &s.row
	if !r.goesOn(h.Sequence, now) {
		s.dismiss(now)
		r.start, r.highest = s.rowStart(now), h.Sequence
	}
	r.newest = now
	switch {
	case r.has(h.Sequence):
		s.Repeated++
		return Place{Start: r.start, Sequence: uint64(h.Sequence)}
	case r.len == len(r.numbers):
		return s.beginAnew(h, now, gap)
	}
	s.twins.goesOn(h.Sequence, now)
	r.numbers[r.len] = h.Sequence
	r.len++
	r.highest = max(r.highest, h.Sequence)
	switch back := (s.next - uint64(h.Sequence)) & s.mask(); {
	case s.mask()+1-back <= s.mask()/2: // ahead: neither late nor repeated
	case back > window || s.next-back < s.first:
		r.late++
	case s.wasSeen(s.next - back):
		r.repeated++
	default:
		r.late, r.fresh = r.late+1, r.fresh+1
	}
	return Place{Start: r.start, Sequence: uint64(h.Sequence)}
}

// rowStart is the start of a stream that begins with a row. Rows that begin sooner one behind the other than sinks can be
// started share it: two sinks with the same key make many rows, and each start takes memory in the spool.
func (s *Stream) rowStart(now Times) int64 {
	if since := now.Arrived - s.lastRow; since < 0 || since > quiet || s.lastRow == s.start {
		s.lastRow = now.Arrived
	}
	return s.lastRow
}

// dismiss gives the row up: its packets were not of a sink that has restarted.
func (s *Stream) dismiss(now Times) {
	if s.row.len > 0 {
		s.Late += s.row.late
		s.Repeated += s.row.repeated
		s.twins.dismissed(s.row.highest, now)
		s.row = row{}
	}
}

// beginAnew begins the stream of a sink that goes on from another place, with the packets of the row and with h: numbers
// are lost where the row is ahead, by less than half of all and not near 0, or by no more than the sink may have used
// meanwhile; else the sink has restarted.
func (s *Stream) beginAnew(h Header, now Times, gap func(Gap)) Place {
	first := uint64(min(slices.Min(s.row.numbers[:s.row.len]), h.Sequence))
	ahead := (first - s.next) & s.mask()
	used := s.used(now)
	s.expire(math.MaxInt64, gap) // the missing numbers will not come any more
	if ahead <= s.mask()/2 && (first >= nearStart || float64(ahead) <= 2*used) {
		s.lose(hole{first: s.next, last: s.next + ahead - 1, before: s.newest.Arrived, after: now.Arrived}, gap)
	} else {
		s.Restarts++
	}
	return s.beginRow(h, now, gap)
}

// beginRow begins the stream anew with the packets of the row and with h.
func (s *Stream) beginRow(h Header, now Times, gap func(Gap)) Place {
	r := s.row
	began := Times{Arrived: r.start, Monotonic: now.Monotonic}
	s.begin(Header{Sequence: min(slices.Min(r.numbers[:r.len]), h.Sequence)}, began)
	for _, n := range r.numbers[:r.len] {
		s.take(Header{Sequence: n}, now, gap)
	}
	return s.take(h, now, gap)
}
