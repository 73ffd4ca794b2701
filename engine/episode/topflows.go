// Top: the flows with the highest sums, by Space-Saving (Metwally, Agrawal, El Abbadi 2005).

package episode

import (
	"math/bits"
	"slices"

	"intsink/flows"
)

// Counters is how many flows a Top has room for. A flow with more than 1/32 of the sum of all is among them, and no
// sum is too high by more than that: the flows above 5 % stand out from any number of small ones.
const Counters = 32

// Counter is one flow of a Top. Its sum is at most Sum, and at least Sum - Over.
type Counter struct {
	Flow flows.Key
	Sum  uint64
	Over uint64 // what may be another flow's, whose place it took
}

// group is how many sums are looked at where one of them was the lowest: a queue that many small flows fill has a packet
// of a flow without a counter most of the time, and the lowest of all sums is wanted for each.
const group = 8

// Top is flows with their sums, in no order. It holds no pointer.
type Top struct {
	counters [Counters]Counter               // their Sum is not used: sums has it
	sums     [Counters / group][group]uint64 // of the counters
	lows     [Counters / group]uint64        // the lowest of each group of sums
	tags     [Counters / 8]uint64            // eight bits of each counter's flow, to find it without a look at all
	used     int
	Total    uint64 // of all flows; whoever calls add adds to it, too
}

// add adds to the sum of a flow.
func (t *Top) add(flow *flows.Key, n uint64) {
	tag := uint8(flow.Tag())
	if at := t.find(flow, tag); at >= 0 {
		t.set(at, t.sum(at)+n)
		return
	}
	at, over := t.used, uint64(0)
	if t.used < Counters {
		t.used++
	} else {
		at = t.least()
		over = t.sum(at)
	}
	c := &t.counters[at]
	c.Flow, c.Over = flow.Canonical(), over
	t.set(at, over+n)
	setTag(&t.tags[at/8%len(t.tags)], at%8, tag)
}

// setTag makes one of eight tags another.
func setTag(tags *uint64, at int, tag uint8) {
	shift := at % 8 * 8
	*tags = *tags&^(0xff<<shift) | uint64(tag)<<shift
}

// tagged tells which of eight tags are equal to one, and may tell of some behind those: the upper bits of their bytes.
func tagged(tags uint64, tag uint8) uint64 {
	const lowest = 0x0101_0101_0101_0101
	x := tags ^ uint64(tag)*lowest
	return (x - lowest) &^ x & (lowest << 7)
}

// find returns the place of the counter of a flow with this tag; -1: it has none.
func (t *Top) find(flow *flows.Key, tag uint8) int {
	for i := range t.tags {
		for equal := tagged(t.tags[i], tag); equal != 0; equal &= equal - 1 {
			at := 8*i + bits.TrailingZeros64(equal)/8
			if at < t.used && t.counters[at%Counters].Flow.Equal(flow) {
				return at % Counters
			}
		}
	}
	return -1
}

// sum is that of a counter.
func (t *Top) sum(at int) uint64 { return t.sums[at/group%len(t.sums)][at%group] }

// set makes the sum of a counter n, which is more than it was.
func (t *Top) set(at int, n uint64) {
	g, low := &t.sums[at/group%len(t.sums)], &t.lows[at/group%len(t.lows)]
	was := g[at%group]
	if g[at%group] = n; was <= *low {
		*low = min(g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7])
	}
}

// least is the place of the lowest sum.
func (t *Top) least() int {
	lowest := min(t.lows[0], t.lows[1], t.lows[2], t.lows[3])
	in := slices.Index(t.lows[:], lowest)
	return in*group + slices.Index(t.sums[in%len(t.sums)][:], lowest)
}

// Most returns at most n flows, those with the highest sums first. Flows whose sum may be another's for more than half are
// left out: they are there by chance.
func (t *Top) Most(n int) []Counter {
	all := make([]Counter, min(n, t.used))
	return all[:t.most(all)]
}

// most does as Most with as many flows as there is room for in all, and returns how many there are.
func (t *Top) most(all []Counter) (n int) {
	least := func(c *Counter) uint64 { return c.Sum - c.Over/2 }
	for i := range t.counters[:t.used] {
		c := t.counters[i]
		if c.Sum = t.sum(i); c.Over > c.Sum/2 {
			continue
		}
		at := n
		for at > 0 && least(&all[at-1]) < least(&c) {
			at--
		}
		if at == len(all) {
			continue
		}
		n = min(n+1, len(all))
		copy(all[at+1:n], all[at:])
		all[at] = c
	}
	return n
}
