// Port: a port that workers share, its queues and rings; Config, shares of workers, Drain.

package distribute

import (
	"slices"
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
)

// Driver is one rx and tx queue pair of a port, as ethdev.Queue and afpacket.Queue are.
type Driver interface {
	RxBurst(v *mbuf.Vec) int
	TxBurst(v *mbuf.Vec, n int) int
	Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int)
	Depth() int // of packets that wait to be received; negative where the driver cannot tell
}

// Pool frees packets.
type Pool interface{ FreeBulk(v *mbuf.Vec, n int) }

// Config says what a port has, and what is done with what it receives.
type Config struct {
	Workers int
	Owner   int      // the worker that receives
	Rx      []Driver // what it receives from
	Tx      []Driver // the first is the owner's; the others are those of as many workers
	Sharers []int    // the owners of all ports whose packets are handed to workers, if this is one of them
	Room    int      // of each ring, in packets
	Pool    Pool

	// Prefetch has the CPU fetch packets that another one has received; nil: each is waited for.
	Prefetch func(v *mbuf.Vec, n int)
}

// Port is a port that workers share.
type Port struct {
	queues   []*Queue
	draining atomic.Bool
}

// New makes the port and a queue for each worker.
func New(c Config) *Port {
	p := &Port{}
	o := &owner{rx: c.Rx, workers: make([]handed, c.Workers), spread: len(c.Sharers) > 0}
	if o.spread {
		o.shares = shares(c.Workers, c.Sharers)
	}
	rest := c.Tx[1:]
	for w := range c.Workers {
		q := &Queue{port: p, pool: c.Pool, spare: mbuf.NewVec(), prefetch: c.Prefetch}
		p.queues = append(p.queues, q)
		if w == c.Owner {
			q.owner, q.tx = o, c.Tx[0]
			continue
		}
		if len(rest) > 0 {
			q.tx, rest = rest[0], rest[1:]
		}
		if o.spread {
			q.in, q.handed = ring.New(c.Room), &o.workers[w]
			q.handed.ring = q.in
		}
		if q.tx == nil || negotiated(q.tx) {
			q.out, q.ownerTx = ring.New(c.Room), c.Tx[0]
			q.ownerLink, _ = c.Tx[0].(link)
			o.lent = append(o.lent, &lent{ring: q.out, from: w, waiting: mbuf.NewVec()})
		}
	}
	return p
}

// Queue is worker w's.
func (p *Port) Queue(w int) *Queue { return p.queues[w] }

// shareSlots is how many parts flows are divided into by their hash.
const shareSlots = 256

// To receive a packet, hash its flow and hand it over is reckoned as receiveNum / receiveDen of the
// time that a worker takes for the packet, which leaves an owner of two workers a quarter of the
// flows. The true part depends on what is asked of packets, and on how fast CPUs fetch each other's
// cache lines. Mpps that two workers forwarded, with an owner of a sixth, a quarter and a third of
// the flows (net_pcap, two virtual CPUs that the workers had for themselves; medians of up to 5 runs
// of 0.3 s; rows of bench/cmd/compare):
//
//	reference         slow lines 12.1 12.1 12.6, fast 31.6 29.6 29.4
//	mix               slow lines 10.0 10.9 11.3, fast 20.3 20.1 20.9
//	sample1           slow lines 10.5 10.6 11.0
//	explained         slow lines 10.0 10.4 10.7
//
// An owner of none forwards less, and drops 32 to 41 % for the other worker in all rows but the
// first. Beside an owner of a third, that one has nothing to do for a third to a half of the time.
const receiveNum, receiveDen = 1, 2

// shares are the workers of the parts. Owners have less to do with flows, by what receiving takes
// them: where r of n workers are owners, r c s = c - x of a worker's (c - r s) r / (n - r),
// all in parts of c = shareSlots, and x the part that receiving takes. One owner among many
// workers only receives.
func shares(workers int, owners []int) (all [shareSlots]uint8) {
	r, n := len(owners), workers
	own := max(0, shareSlots*(receiveDen*r-receiveNum*(n-r))/(receiveDen*r*n)) // of each owner
	var order []int                                                            // of workers, as often as they get a part
	for w := range workers {
		parts := own
		if !slices.Contains(owners, w) {
			parts = (shareSlots - r*own) / (n - r)
		}
		for range parts {
			order = append(order, w)
		}
	}
	for i := 0; len(order) < shareSlots; i++ { // what the divisions left
		if w := i % workers; own > 0 || !slices.Contains(owners, w) {
			order = append(order, w)
		}
	}
	for i := range all {
		all[i*step%shareSlots] = uint8(order[i])
	}
	return all
}

// step scatters the parts of a worker: 256 divided by the golden ratio, and odd.
const step = 157

// Drain makes the owner receive no more, so that what is in rings leaves. Empty tells when
// it has.
func (p *Port) Drain() { p.draining.Store(true) }

// Empty reports whether all rings are empty. Safe from any goroutine.
func (p *Port) Empty() bool {
	for _, q := range p.queues {
		if q.in != nil && q.in.Len() > 0 {
			return false
		}
		if q.owner == nil {
			continue
		}
		for _, l := range q.owner.lent {
			if l.ring.Len() > 0 || l.left.Load() > 0 {
				return false
			}
		}
	}
	return true
}

// Free frees what is left in rings, calls unsent with what each worker had handed over to be
// sent, and returns how many were never looked at by any worker. The workers have ended.
func (p *Port) Free(unsent func(worker, n int)) (unseen int) {
	for _, q := range p.queues {
		if q.in != nil {
			unseen += q.empty(q.in)
		}
		if q.owner == nil {
			continue
		}
		for _, l := range q.owner.lent {
			n := int(l.left.Swap(0))
			q.pool.FreeBulk(l.waiting, n)
			if n += q.empty(l.ring); n > 0 {
				unsent(l.from, n)
			}
		}
	}
	return unseen
}

// empty frees what is in a ring.
func (q *Queue) empty(r *ring.Ring) (n int) {
	for k := r.Pop(q.spare, mbuf.MaxBurst); k > 0; k = r.Pop(q.spare, mbuf.MaxBurst) {
		q.pool.FreeBulk(q.spare, k)
		n += k
	}
	return n
}

// Counters are what was handed to one worker.
type Counters struct {
	Received uint64 // packets that it has taken out of its ring
	Dropped  uint64 // packets that found the ring full
	Waiting  int    // packets in it
	Room     int    // packets that it has room for; 0: there is none, the worker receives by itself
}

// Counters are those of worker w. Safe from any goroutine.
func (p *Port) Counters(w int) Counters {
	q := p.queues[w]
	if q.in == nil {
		return Counters{}
	}
	return Counters{Received: q.taken.Load(), Dropped: q.handed.dropped.Load(), Waiting: q.in.Len(), Room: q.in.Size()}
}
