// countOfLink, countMarked: which links, flows and queues the packets belong to that queues have marked.

package detect

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/fast"
	"intsink/engine/watch"
)

// countOfLink counts packet j, which package fast has deferred and so not counted, if a queue has marked it; then it returns its bit.
func countOfLink(b *burst.Burst, j uint8) (bit uint64) {
	if !b.Marked(j) {
		return 0
	}
	b.Link.Counters.Marked++
	return 1 << j
}

// everySo draws one of 8 packets on average, at distances that are drawn, too: packets in even turns would give the same ones.
type everySo struct{ passed, distance uint64 }

// draw returns, for the packet that is drawn, how many passed since the last one, itself included; 0 for others. So what is added up
// is how many there were. random may be worth little.
func (e *everySo) draw(random uint64) (stands uint64) {
	if e.passed++; e.passed < e.distance {
		return 0
	}
	stands = e.passed
	e.passed, e.distance = 0, 1+(random*0x9e3779b97f4a7c15>>32)*15>>32
	return stands
}

// countMarked counts packets that a queue has marked (ECN: CE), among the packets of which: each in its flow, and a sample of them in
// the queues on their way.
//
//go:noinline
func (s *Stage) countMarked(b *burst.Burst, which uint64) {
	for ; which != 0; which &= which - 1 {
		j := uint8(bits.TrailingZeros64(which)) & (mbuf.MaxBurst - 1)
		flow, i := b.Fast.Flows[j], b.Fast.At[j]
		if flow == nil || !b.Marked(j) {
			continue
		}
		info := &b.Info[i]
		if at := b.Fast.Template[j]; at != fast.None && b.Parsed>>i&1 == 0 {
			info = b.Fast.Info(at)
		}
		if info.Copy {
			continue
		}
		flow.Cold().Marked++
		if flow.Watch == watch.None {
			continue
		}
		if n := s.marked.draw(uint64(b.Now) ^ b.Fast.Hashes[j]); n != 0 {
			s.observeAgain(b, b.Vec[i].Bytes(), info)
			s.detector.CountMarked(b.Now, s.observation, n)
		}
	}
}
