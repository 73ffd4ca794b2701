// Pace: measures gaps between polls, busy time and sizes of bursts.

package engine

import (
	"math/bits"

	"intsink/engine/fast"
	"intsink/engine/histogram"
)

// LongGaps are the lengths of time between two polls, in nanoseconds, that are
// counted: with nobody polling, the ports' queues fill.
var LongGaps = [...]int64{100e3, 1e6, 10e6}

// Pace is how steadily a worker polls. Sleeping when idle counts as a gap.
type Pace struct {
	LongestNs int64                 // between two polls, in the last 15 to 16 s
	RecentNs  int64                 // between two polls, in the last 1 to 2 s
	Over      [len(LongGaps)]uint64 // gaps of at least LongGaps[i]

	Polls        [2]uint64          // that found nothing, that found packets
	BusyNs       int64              // from each poll that found packets to the next poll
	Bursts       [BurstSizes]uint64 // that were received; i: of less than 1<<i packets, and not of less than half of that
	BurstPackets uint64             // in them

	Gaps    histogram.Histogram // gaps of at least LongGaps[0]
	TotalNs int64               // all gaps together
}

// BurstSizes is how many classes of sizes of bursts are counted: the largest has 64 packets.
const BurstSizes = 8

// LongestNs remembers paceWindows windows of paceWindowNs each besides the one at hand: as
// long as the usual interval between two scrapes.
const (
	paceWindowNs = 1e9
	paceWindows  = 15
)

// pace measures the gaps between polls. It uses the clock readings of the bursts, so that it
// costs a poll one comparison.
type pace struct {
	Pace
	longest int64              // of this window
	past    [paceWindows]int64 // of those before; past[at] is the latest
	at      int
	until   int64 // end of this window
	started int64 // when the first gap began; 0: Run does not run

	polled int64 // when the last poll received its first burst; 0: none
	last   int64 // when the poll before it did, or found nothing
	empty  int   // polls in a row, up to the last, that found nothing
	busy   bool  // the last Poll found packets
}

// start begins to measure gaps.
func (p *pace) start(now int64) { p.last, p.started = now, now }

// received counts a burst of n packets that was received at now.
func (p *pace) received(n int, now int64) {
	p.burst(n)
	if p.polled == 0 {
		p.polled = now
	}
}

// endPoll counts a poll at now.
func (p *pace) endPoll(found bool, now int64) {
	p.note(now-p.last, now)
	p.poll(found, p.empty == 0, now-p.last)
	p.last = now
	if p.empty++; found {
		p.empty = 0
	}
}

// now is what was measured until now.
func (p *pace) now() Pace {
	all := p.Pace
	if p.started != 0 && p.polled != 0 {
		all.TotalNs = p.polled - p.started
	}
	return all
}

// note counts the gap between two polls; now is the time of the second.
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

// takeOver counts what was counted in C up to a poll at now.
func (p *pace) takeOver(t fast.Tally, now int64) {
	if t.Longest > 0 {
		p.note(t.Longest, now)
	}
	p.BusyNs += t.BusyNs
	p.BurstPackets += t.Packets
	for i, n := range t.Polls {
		p.Polls[i] += n
	}
	for i, n := range t.Bursts {
		p.Bursts[i] += n
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
		p.nextWindow(now)
	}
	p.longest = max(p.longest, gap)
	p.LongestNs = p.longest
	for _, longest := range p.past {
		p.LongestNs = max(p.LongestNs, longest)
	}
	p.RecentNs = max(p.longest, p.past[p.at])
	p.count(gap)
}

// nextWindow begins a window at now; those that passed meanwhile had no gap.
func (p *pace) nextWindow(now int64) {
	for range min(1+(now-p.until)/paceWindowNs, paceWindows+1) {
		p.at = (p.at + 1) % paceWindows
		p.past[p.at], p.longest = p.longest, 0
	}
	p.until = now + paceWindowNs
}

//go:noinline
func (p *pace) count(gap int64) {
	if gap < LongGaps[0] {
		return
	}
	p.Gaps.Observe(gap)
	for i, long := range LongGaps {
		if gap >= long {
			p.Over[i]++
		}
	}
}
