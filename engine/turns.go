// Decides by a count and a time whether a burst takes the long way: captures, mitigation, checksum
// samples.

package engine

import "math"

// One INT packet in checksumPackets has its checksum sampled, and one a second where there
// are fewer.
const (
	checksumPackets  = 1024
	checksumInterval = 1e9
)

// turns say which bursts take the long way (longway.go). The usual ones compare two numbers;
// whatever else there is to do now and then makes itself due through them, so that it costs
// nothing while it is not configured.
type turns struct {
	left  int   // INT packets until the next burst that takes the long way
	next  int64 // or the time, whichever is first
	armed int   // left, as it was when it was set
	every bool  // all bursts are due: a capture runs, or rules of mitigation are in force
	never bool  // without hosts there is nothing to sample

	sample   int   // INT packets until the next sample of checksums
	sampleBy int64 // or its time
	verify   int   // INT packets until the next one that is verified
	interval int   // between these; 0: none is
}

// due reports whether the burst at hand takes the long way.
func (t *turns) due(now int64) bool { return t.left <= 0 || now >= t.next }

// count counts n INT packets.
func (t *turns) count(n int) { t.left -= n }

// settle takes what was counted since the last arm over.
func (t *turns) settle() {
	n := t.armed - t.left
	t.sample -= n
	t.verify -= n
	t.armed = t.left
}

// sampled makes the next sample due in its time.
func (t *turns) sampled(now int64) { t.sample, t.sampleBy = checksumPackets, now+checksumInterval }

// arm says when the next burst takes the long way. A burst without INT has nothing to sample
// or to verify: then it is the one after the next INT packet.
func (t *turns) arm(now int64, noINT bool) {
	t.left, t.next = t.sample, t.sampleBy
	if t.interval > 0 {
		t.left = min(t.left, t.verify)
	}
	if noINT {
		t.left, t.next = max(t.left, 1), max(t.next, now+checksumInterval)
	}
	if t.never {
		t.left, t.next = math.MaxInt, math.MaxInt64
	}
	if t.every {
		t.left = 0
	}
	t.armed = t.left
}

// setInterval has one INT packet in n verified, from the next one on; 0: none.
func (t *turns) setInterval(n int) {
	if n != t.interval {
		t.interval, t.verify = n, 0
	}
}
