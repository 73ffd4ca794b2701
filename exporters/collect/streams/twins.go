// Finds two sinks that share address, node and hw_id: by streams or rows of numbers in turns, and by packets
// with one number and different contents. pace: how fast a stream's numbers rise.

package streams

const (
	turns     = 8 // so many turns of two senders within a time tell that there are two
	turnsTime = 60 * int64(1e9)
	paceTime  = int64(1e9) // a pace is measured over so long
)

// count counts turns of two senders.
type count struct {
	n     int
	since int64 // by the monotonic clock
}

// add counts one more turn, and reports whether there are enough within turnsTime.
func (c *count) add(now Times) bool {
	if now.Monotonic-c.since > turnsTime {
		*c = count{since: now.Monotonic}
	}
	c.n++
	return c.n >= turns
}

// twins is what a stream knows of a second sink with its key.
type twins struct {
	count
	highest uint32 // of the latest row that was given up
	rows    bool   // there was one
	start   int64  // of the places of packets with numbers that others have
	found   bool
}

// dismissed takes note of a row whose packets are of no sink that has restarted.
func (t *twins) dismissed(highest uint32, now Times) { t.highest, t.rows = highest, true }

// goesOn takes note of a packet that begins or continues a row. One that goes on from an earlier row, which packets
// of the stream have interrupted, is of a second sink.
func (t *twins) goesOn(n uint32, now Times) {
	if t.rows && n-t.highest < apart {
		t.rows = false
		t.found = t.add(now) || t.found
	}
}

// ofTwin returns the place of a packet that has the number, but not the contents, of another one.
func (s *Stream) ofTwin(n uint64, now Times) Place {
	t := &s.twins
	if t.start == 0 {
		t.start = max(now.Arrived, s.start+1)
	}
	s.Twins++
	t.found = t.add(now) || t.found
	return Place{Start: t.start, Sequence: n}
}

// head is what streams of one label have in common.
type head struct {
	current *Stream
	turns   count
	found   bool
	told    bool
}

// switched takes note that a packet of s has come: streams that say who they are and come in turns are of two
// sinks. One that is started again takes one turn.
func (h *head) switched(s *Stream, now Times) {
	if h == nil || h.current == s {
		return
	}
	h.current = s
	h.found = h.turns.add(now) || h.found
}

// TwinsFound reports, once for all streams with the address, node and hw_id of s, that two sinks share them.
func (s *Stream) TwinsFound() bool {
	if s.head == nil || s.head.told || !s.head.found && !s.twins.found {
		return false
	}
	s.head.told = true
	return true
}

// pace is how fast the numbers of a stream rise.
type pace struct {
	since   int64 // by the monotonic clock
	number  uint64
	highest float64 // numbers a second
}

func (p *pace) begin(number uint64, now Times) { p.since, p.number = now.Monotonic, number }

// step takes note of the number that comes next.
func (p *pace) step(next uint64, now Times) {
	if now.Monotonic-p.since >= paceTime {
		p.highest = p.most(next, now)
		p.begin(next, now)
	}
}

// most returns the highest pace so far.
func (p *pace) most(next uint64, now Times) float64 {
	return max(p.highest, float64(next-p.number)*1e9/float64(max(now.Monotonic-p.since, paceTime)))
}
