// Stats: received, sent and lost frames of a kernel port, summed over its queues.

package afpacket

// Stats are a port's counters since it was opened. What the kernel received for the port
// is RxPackets, joined frames counted by their segments, or one of the others.
type Stats struct {
	RxPackets, RxBytes uint64
	TxPackets, TxBytes uint64

	Missed    uint64 // dropped by the kernel: the ring was full
	Truncated uint64 // dropped: the frame was longer than could be received whole
	RxErrors  uint64 // dropped: a joined frame, or a checksum to complete, that is not understood
	NoMbuf    uint64 // dropped: the pool was empty
	Joined    uint64 // joined frames that were cut into segments
	Reopened  uint64 // how often an interface that was made anew was opened
}

// Stats sums the queues up. It may be called from any goroutine, until Close.
func (p *Port) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{Reopened: p.reopened}
	for _, q := range p.queues {
		c := &q.counters
		s.RxPackets += c.rxPackets.Load()
		s.RxBytes += c.rxBytes.Load()
		s.TxPackets += c.txPackets.Load()
		s.TxBytes += c.txBytes.Load()
		s.Truncated += c.truncated.Load()
		s.RxErrors += c.rxErrors.Load()
		s.NoMbuf += c.noMbuf.Load()
		s.Joined += c.joined.Load()
	}
	if !p.closed {
		for _, s := range p.sockets {
			p.missed += s.ring.drops()
		}
	}
	s.Missed = p.missed
	return s
}
