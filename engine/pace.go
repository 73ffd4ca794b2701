// Pace: gaps between polls, busy time, sizes of bursts.

package engine

import "math/bits"

// LongGaps are the lengths of time between two polls, in nanoseconds, that are
// counted: with nobody polling, the ports' queues fill.
var LongGaps = [...]int64{100e3, 1e6, 10e6}

// Pace is how steadily a worker polls. Sleeping when idle counts as a gap.
type Pace struct {
	LongestNs int64                 // between two polls, in this window and the one before
	Over      [len(LongGaps)]uint64 // gaps of at least LongGaps[i]

	Polls        [2]uint64          // that found nothing, that found packets
	BusyNs       int64              // from each poll that found packets to the next poll
	Bursts       [BurstSizes]uint64 // that were received; i: of less than 1<<i packets, and not of less than half of that
	BurstPackets uint64             // in them
}

// BurstSizes is how many classes of sizes of bursts are counted: the largest has 64 packets.
const BurstSizes = 8

// paceWindowNs is how long LongestNs remembers, and up to twice as long: more
// than the usual interval between two scrapes.
const paceWindowNs = 15e9

// pace measures the gaps. Its clock readings are those of the bursts, so that a
// poll costs one comparison more.
type pace struct {
	Pace
	longest, before int64 // of this window, of the one before
	until           int64 // end of this window
}

// note takes the time between two polls, the second of which looked at now.
func (p *pace) note(gap, now int64) {
	if gap > p.longest || now >= p.until {
		p.longer(gap, now)
	} else if gap >= LongGaps[0] {
		p.count(gap)
	}
}

// poll counts one poll, gap after the one before, which had found packets where busy says
// so.
func (p *pace) poll(found, busy bool, gap int64) {
	if busy {
		p.BusyNs += gap
	}
	if found {
		p.Polls[1]++
	} else {
		p.Polls[0]++
	}
}

// burst counts one of n packets.
func (p *pace) burst(n int) {
	p.Bursts[bits.Len8(uint8(n))&(BurstSizes-1)]++
	p.BurstPackets += uint64(n)
}

//go:noinline
func (p *pace) longer(gap, now int64) {
	if now >= p.until {
		p.before, p.longest, p.until = p.longest, 0, now+paceWindowNs
	}
	p.longest = max(p.longest, gap)
	p.LongestNs = max(p.longest, p.before)
	p.count(gap)
}

//go:noinline
func (p *pace) count(gap int64) {
	for i, long := range LongGaps {
		if gap >= long {
			p.Over[i]++
		}
	}
}
