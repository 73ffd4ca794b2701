// Congested queues: one problem for each interface, with who fills the queue and who waits in it.

package network

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/usual"
)

// maxFull is how many interfaces with a congested queue are remembered: as many as there are in the tables.
const maxFull = event.MaxQueues

// congested is a queue in an episode, as all workers know it.
type congested struct {
	key    [2]uint64
	value  event.Queue
	record *episode.Record // nil: there is none
	usual  usual.Value
	auto   bool
}

// queues lists congested queues, and those that are slow, but not fuller than usual: what delays packets there is the node.
// The caller holds x.mu.
func (x *Network) queues(tables []*inspect.PendingQuery, k *Known, now time.Time) (signs []problem.Sign, slow []congested) {
	full := map[[2]uint64][]congested{} // by interface
	var order [][2]uint64
	all, egresses := x.congested(tables, k)
	for _, q := range all {
		if q.auto && !q.isFull(egresses) {
			slow = append(slow, q)
			continue
		}
		at := q.egress()
		if len(full[at]) == 0 {
			order = append(order, at)
		}
		full[at] = append(full[at], q)
		if len(x.full) < maxFull {
			x.full[at] = now
		}
	}
	for at, last := range x.full {
		if now.Sub(last) > 2*settle {
			delete(x.full, at)
		}
	}
	var found []found
	for _, at := range order {
		found = append(found, foundQueues(at, full[at]))
	}
	return x.choose(problem.QueueCongested, found, now), slow
}

// foundQueues are an interface's congested queues. Their episodes have the most bytes where real packets wait.
func foundQueues(at [2]uint64, all []congested) found {
	bytes := uint64(0)
	for i := range all {
		if r := all[i].record; r != nil {
			bytes += r.Bytes
		}
	}
	return found{uint32(at[0] >> 32), bytes, func() problem.Sign { return queueSign(at, all) }}
}

// congested lists the queues that are in an episode, in order, and how many interfaces with such queues each node has
// that do not tell how full they are.
func (x *Network) congested(tables []*inspect.PendingQuery, k *Known) (all []congested, egresses map[uint32]int) {
	seen, counted := map[[2]uint64]bool{}, map[[2]uint64]bool{}
	egresses = map[uint32]int{}
	for _, q := range tables {
		auto := q.Auto()
		for i := range q.Queues {
			r := &q.Queues[i]
			if seen[r.Key] || !q.Congested(&r.Value) {
				continue
			}
			seen[r.Key] = true
			c := newCongested(r, k, auto)
			all = append(all, c)
			if at := c.egress(); c.value.Occupancy == unknown && !counted[at] {
				counted[at] = true
				egresses[uint32(r.Key[0]>>32)]++
			}
		}
	}
	slices.SortFunc(all, func(a, b congested) int { return slices.Compare(a.key[:], b.key[:]) })
	return all, egresses
}

func newCongested(r *inspect.Row[event.Queue], k *Known, auto bool) congested {
	c := congested{key: r.Key, value: r.Value, auto: auto}
	if at := slices.IndexFunc(k.Episodes, func(e episode.Record) bool { return e.Queue == r.Key }); at >= 0 {
		c.record = &k.Episodes[at]
	}
	if k.Usual != nil {
		c.usual, _ = k.Usual(usual.Place{Kind: usual.Queue, Key: r.Key})
	}
	return c
}

// egress names the interface, which is a queue of its own where the bitmap does not tell interfaces.
func (c *congested) egress() [2]uint64 {
	if uint16(c.key[0]) == noInterface {
		return c.key
	}
	return [2]uint64{c.key[0]}
}

// noInterface is the number of an interface that is not told.
const noInterface = 0xffff

// isFull reports whether the queue is fuller than usual, or than queues like it where nobody knows what is. Where no queue of the node tells how full it is, it is the queue's
// trouble if one interface has it alone, and the node's if several have it.
func (c *congested) isFull(egresses map[uint32]int) bool {
	if c.value.Occupancy == unknown {
		return egresses[uint32(c.key[0]>>32)] < 2
	}
	mean := c.value.Occupancy
	if c.record != nil {
		if x, known := c.record.Occupancy(); known {
			mean = x
		}
	}
	_, held := c.usual.Held()
	return held.IsFuller(mean)
}

// queueSign is the sign of an interface's congested queues: the one with the most bytes in its episode stands for all.
func queueSign(at [2]uint64, all []congested) problem.Sign {
	worst := &all[0]
	for i := range all {
		if c := &all[i]; c.record != nil && (worst.record == nil || c.record.Bytes > worst.record.Bytes) {
			worst = c
		}
	}
	s := problem.Sign{
		Kind: problem.QueueCongested, Key: fmt.Sprintf("queue %x", at), Subject: "network", Place: queuePlace(worst.key),
		What: "the queue is congested", Over: "the queue is calm", Since: time.Unix(0, worst.value.Since), Settle: settle,
		Todo: fmt.Sprintf("look at who fills it; over time: intsink incident --node %d", at[0]>>32),
	}
	for i := range all {
		if since := time.Unix(0, all[i].value.Since); since.Before(s.Since) {
			s.Since = since
		}
	}
	if len(all) > 1 {
		s.Evidence.Why = fmt.Sprintf("%d queues of the interface are congested", len(all))
	}
	worst.values(&s)
	if r := worst.record; r != nil {
		s.Evidence.Episode = r.ID
		doubt := r.Doubt()
		if doubt != "" {
			s.Evidence.Why = strings.TrimPrefix(s.Evidence.Why+"; "+doubt+": who fills it is not known", "; ")
		}
		for _, c := range r.Culprits.Most(maxFlows) {
			if doubt != "" {
				s.Evidence.Flows = append(s.Evidence.Flows, inspect.FlowID(&c.Flow))
				continue
			}
			s.Evidence.Culprits = append(s.Evidence.Culprits, problem.Culprit{Flow: inspect.FlowID(&c.Flow), Bytes: c.Sum, Share: float64(c.Sum-c.Over) / float64(max(r.Bytes, 1))})
		}
		for _, c := range r.Victims.Most(maxFlows) {
			s.Evidence.Victims = append(s.Evidence.Victims, problem.Victim{Flow: inspect.FlowID(&c.Flow), AddedNs: c.Sum})
		}
	}
	return s
}

func queuePlace(key [2]uint64) []problem.Part {
	node, queue := uint32(key[0]>>32), uint8(key[1])
	if egress := uint16(key[0]); egress != noInterface {
		return place("node", node, "egress", egress, "queue", queue)
	}
	return place("node", node, "queue", queue)
}

// values sets the value of a sign, and what it usually is: the latency, where it is known.
func (c *congested) values(s *problem.Sign) {
	if v := c.value.Occupancy; v != unknown {
		s.Value, s.Usual, s.Unit = new(float64(v)), usually(c.usual.Occupancy), "of occupancy"
	}
	if v := c.value.Latency; v != unknown && v != 0 {
		s.Value, s.Usual, s.Unit = new(float64(v)), usually(c.usual.Latency), "ns"
	}
}

// usually is the median of what is usual; nil: nobody knows.
func usually(u usual.Stat) *float64 {
	if !u.Known || u.Median == 0 {
		return nil
	}
	return new(float64(u.Median))
}
