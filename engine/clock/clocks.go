// Clocks: the last times from each node to the next, and which nodes are not believed; Judge finds them.

// Package clock knows whose clock is wrong. The time from one node's egress to the next one's ingress is what the line
// takes, and by how much the second clock is ahead of the first. A clock that is wrong moves all segments of its node at
// once: those to it one way, those from it the other way, all by as much. No line does that.
//
// Workers tell what sampled packets carry (See); once a second somebody judges (Judge); until the next time workers ask
// whether they may believe the segments of a node (Believes).
//
//	clocks.go  what is kept, See, Believes, Compared
//	judge.go   Judge: which node explains the most segments that cannot be
package clock

import (
	"sync"
	"sync/atomic"

	"intsink/flows"
)

// maxPairs is how many pairs of neighbours are known at once; the idlest make room.
const maxPairs = 1 << 13

// lately is how many times of a pair count: the shortest is what the line takes, whatever held up the others.
const lately = 4

// pair is the times from one node to the next. It holds no pointer.
type pair struct {
	last [lately]int64 // nanoseconds, signed
	n    uint32        // that were seen
	seen int64         // the last one, Unix nanoseconds
	odd  int64         // since when they cannot be, or are not as before; 0: they are as before

	usual    int64 // what the line takes, while both clocks were believed
	believed uint8 // looks at which they were, before usual is known
}

// Clocks is what is known of all clocks. Any goroutine may call its methods.
type Clocks struct {
	wrong atomic.Pointer[map[uint32]bool] // nodes; nil: none

	mu       sync.Mutex
	pairs    *flows.Small[pair]
	verdicts map[uint32]*Verdict
}

// New returns a Clocks that knows nothing. seed keys its hashes.
func New(seed uint64) *Clocks {
	return &Clocks{pairs: flows.NewSmall[pair](maxPairs, seed, nil), verdicts: map[uint32]*Verdict{}}
}

// Close gives the memory back. Nothing may be called after it.
func (c *Clocks) Close() { c.pairs.Close() }

// Crossing is what a packet tells of the way from one node to the next.
type Crossing struct {
	From, To uint32
	Ns       int64 // signed
}

// See takes in what a sampled packet tells. No worker waits: where somebody judges at this moment, it is left out.
func (c *Clocks) See(now int64, all []Crossing) {
	if len(all) == 0 || !c.mu.TryLock() {
		return
	}
	for i := range all {
		x := &all[i]
		p, _ := c.pairs.Get(now, [2]uint64{uint64(x.From)<<32 | uint64(x.To)})
		p.last[p.n%lately], p.seen = x.Ns, now
		p.n++
		if far := x.Ns < -limit || p.isKnown() && off(x.Ns-p.usual) > limit; !far {
			p.odd = 0
		} else if p.odd == 0 {
			p.odd = now
		}
	}
	c.mu.Unlock()
}

// Believes reports whether what is between two nodes can be told by their clocks.
func (c *Clocks) Believes(from, to uint32) bool {
	wrong := c.wrong.Load()
	return wrong == nil || !(*wrong)[from] && !(*wrong)[to]
}

// Compared is how many neighbours' clocks each node's was compared with lately.
func (c *Clocks) Compared(now int64) map[uint32]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[uint32]int{}
	c.pairs.Walk(0, maxPairs, func(key [2]uint64, _ uint32, p *pair) {
		if p.n >= lately && now-p.seen < fresh {
			all[uint32(key[0]>>32)]++
			all[uint32(key[0])]++
		}
	})
	return all
}
