// Queue: one worker's rx and tx on a kernel interface; its stash of mbufs, its counters,
// and the swap to the sockets of an interface made anew; Stats sums received, sent and lost
// frames.

package afpacket

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"intsink/dpdk/mbuf"
)

// Pool gives and takes mbufs, as mempool.Mempool does.
type Pool interface {
	AllocBulk(v *mbuf.Vec, n int) bool
	FreeBulk(v *mbuf.Vec, n int)
}

// Queue is one rx and tx queue of a port. One goroutine at a time may use it.
type Queue struct {
	port    *Port
	pool    Pool
	sockets *sockets

	stash   *mbuf.Vec // stash[:have] are empty mbufs
	have    int
	one     *mbuf.Vec
	scratch []byte // a frame that is longer than those of the ring
	joined  joined // in scratch
	head    [maxHeaders]byte
	sender  *sender
	refusal mbuf.Refusal

	replacement atomic.Pointer[sockets] // of an interface that was made anew
	retired     atomic.Pointer[sockets] // for the port to close

	counters counters
}

// sockets holds the receive ring and the socket to transmit by of one queue on one interface.
type sockets struct {
	ring *ring
	tx   int
}

func (s *sockets) close() {
	s.ring.close()
	unix.Close(s.tx)
}

// counters of a queue, which only its goroutine writes.
type counters struct {
	rxPackets, rxBytes, truncated, joined, noMbuf atomic.Uint64
	txPackets, txBytes                            atomic.Uint64
	uncut                                         [Uncuts]atomic.Uint64
}

func newQueue(p *Port, s *sockets) *Queue {
	return &Queue{
		port: p, pool: p.config.Pool, sockets: s,
		stash: mbuf.NewVec(), one: mbuf.NewVec(), sender: new(sender), scratch: make([]byte, scratchLen),
	}
}

// replace takes the sockets on an interface that was made anew into use, unless the port has
// yet to close those that were retired before.
func (q *Queue) replace() {
	if q.retired.Load() != nil {
		return
	}
	old := q.sockets
	q.sockets = q.replacement.Swap(nil)
	q.retired.Store(old)
}

// Exchange is TxBurst of tx[:n], which may be none, and then RxBurst into rx.
func (q *Queue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	sent = q.TxBurst(tx, n)
	return sent, q.RxBurst(rx)
}

// Refusal says why the last TxBurst did not take the packet behind those that it took.
func (q *Queue) Refusal() mbuf.Refusal { return q.refusal }

// Depth is the number of frames that wait in the receive ring.
func (q *Queue) Depth() int { return q.sockets.ring.waiting() }

// release gives back what the queue holds. Its goroutine has ended.
func (q *Queue) release() {
	if q.have > 0 {
		q.pool.FreeBulk(q.stash, q.have)
		q.have = 0
	}
	for _, s := range []*sockets{q.sockets, q.replacement.Swap(nil), q.retired.Swap(nil)} {
		if s != nil {
			s.close()
		}
	}
}

// Stats are a port's counters since it was opened. What the kernel received for the port
// is RxPackets, joined frames counted by their segments, or one of the others.
type Stats struct {
	RxPackets, RxBytes uint64
	TxPackets, TxBytes uint64

	Missed    uint64 // dropped by the kernel: the ring was full
	Truncated uint64 // dropped: the frame was longer than could be received whole
	NoMbuf    uint64 // dropped: the pool was empty
	Joined    uint64 // joined frames that were cut into segments
	Reopened  uint64 // how often an interface that was made anew was opened

	Uncut [Uncuts]uint64 // dropped, in segments: what the kernel left to do could not be done
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
		for i := range c.uncut {
			s.Uncut[i] += c.uncut[i].Load()
		}
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
