// Sampler: which packets go through Detector.Packet although they give no event.

package event

// Sampler picks packets at random, so that the tables of queues, interfaces and links stay current, and what is usual is
// learned. About one packet in 256, and 10,000 a second, at most: a sample costs as much as 20 other packets. Where that would
// be fewer than 100 a second, more are taken, and as many again times sampleHurry while they tell of what is far above usual, so
// that it is soon known what is wrong. The gaps between samples are drawn, in packets and in time, and so is the packet of the burst: of
// traffic that repeats itself in step with even gaps, or comes in the same order each time, all samples would be of one flow.
type Sampler struct {
	every   int    // after how many packets there is a sample, on average
	gap     int    // after how many this time
	since   int    // packets since the last one
	at      int64  // when it was due
	soonest int64  // the next one is not due before
	random  uint64 // of gaps and from
	from    uint8  // From
	due     bool
	hurry   bool // the last one told of something far above what is usual
}

const (
	sampleEvery  = 256
	sampleHurry  = 16
	sampleNs     = 100_000
	sampleSlowNs = 10_000_000
	mostOfBurst  = 64 // packets
)

func newSampler(seed uint64) Sampler {
	return Sampler{every: sampleEvery, gap: sampleEvery, from: 1, random: ^seed | 1}
}

// Count counts n packets. From time to time a sample is due then.
func (s *Sampler) Count(now int64, n int) {
	s.since += n
	if s.since < s.length() || now < s.soonest {
		return
	}
	elapsed := max(now-s.at, 1)
	s.every = int(min(max(int64(s.since)*sampleSlowNs/elapsed, 1), sampleEvery))
	s.random = nextRandom(s.random)
	s.gap = 1 + int(partOf(2*uint64(s.every)-1, s.random))
	s.soonest = now + sampleNs/2 + partOf(sampleNs, nextRandom(s.random))
	s.since, s.at, s.due = 0, now, true
}

// length is the gap between the last sample and the next.
func (s *Sampler) length() int {
	if s.hurry {
		return max(s.gap/sampleHurry, 1)
	}
	return s.gap
}

// Next says when a sample will be due: after n more packets, at a time.
func (s *Sampler) Next() (n int, at int64) {
	if s.due {
		return 0, 0
	}
	return s.length() - s.since, s.soonest
}

// From says which packet of a burst the next sample is: from 1 on, and counted on from the first behind the last. It stays the same until
// the sample is taken or skipped.
func (s *Sampler) From() uint8 { return s.from }

// Look is From if a sample is due, else 0.
func (s *Sampler) Look() uint8 {
	if !s.due {
		return 0
	}
	return s.from
}

// Skip gives up a sample that is due, after a burst with a packet that was to be it: where none was one, such as a packet of
// INT-MX or of a flow that no watch selects, the next sample is in its time. Else each burst would have such a packet.
func (s *Sampler) Skip() {
	if s.due {
		s.end()
	}
}

// end is that the sample was taken or skipped.
func (s *Sampler) end() {
	s.random = nextRandom(s.random)
	s.due, s.from = false, 1+uint8(partOf(mostOfBurst, s.random))
}
