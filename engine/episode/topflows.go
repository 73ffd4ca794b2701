// Top: the flows with the highest sums, by Space-Saving (Metwally, Agrawal, El Abbadi 2005).

package episode

import "intsink/flows"

// Counters is how many flows a Top has room for. A flow with more than 1/32 of the sum of all is among them, and no
// sum is too high by more than that: the flows above 5 % stand out from any number of small ones.
const Counters = 32

// Counter is one flow of a Top. Its sum is at most Sum, and at least Sum - Over.
type Counter struct {
	Flow    flows.Key
	Sum     uint64
	Over    uint64 // what may be another flow's, whose place it took
	Packets uint64 // since it took the place
}

// Top is flows with their sums, in no order. It holds no pointer.
type Top struct {
	counters [Counters]Counter
	used     int
	Total    uint64 // of all flows
}

// add adds to the sum of a flow.
func (t *Top) add(flow *flows.Key, n uint64) {
	t.Total += n
	counters := t.counters[:t.used]
	for i := range counters {
		if c := &counters[i]; c.Flow.Equal(flow) {
			c.Sum += n
			c.Packets++
			return
		}
	}
	if t.used < Counters {
		t.counters[t.used] = Counter{Flow: flow.Canonical(), Sum: n, Packets: 1}
		t.used++
		return
	}
	least := &counters[0]
	for i := range counters {
		if c := &counters[i]; c.Sum < least.Sum {
			least = c
		}
	}
	*least = Counter{Flow: flow.Canonical(), Sum: least.Sum + n, Over: least.Sum, Packets: 1}
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
		c := &t.counters[i]
		if c.Over > c.Sum/2 {
			continue
		}
		at := n
		for at > 0 && least(&all[at-1]) < least(c) {
			at--
		}
		if at == len(all) {
			continue
		}
		n = min(n+1, len(all))
		copy(all[at+1:n], all[at:])
		all[at] = *c
	}
	return n
}
