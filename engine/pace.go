package engine

// LongGaps are the lengths of time between two polls, in nanoseconds, that are
// counted: with nobody polling, the ports' queues fill.
var LongGaps = [...]int64{100e3, 1e6, 10e6}

// Pace is how steadily a worker polls. Sleeping when idle counts as a gap.
type Pace struct {
	LongestNs int64                 // between two polls, in this window and the one before
	Over      [len(LongGaps)]uint64 // gaps of at least LongGaps[i]
}

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
