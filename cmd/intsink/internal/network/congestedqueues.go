// Congested queues: one problem for each interface, with who fills the queue and who waits in it.

package network

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/usual"
)

// maxFull is how many interfaces with a congested queue are remembered: as many as there are in the tables.
const maxFull = event.MaxQueues

// fullFor is how long an interface counts as one with a congested queue, fullKept how long it is remembered: a way through it that few
// packets take may have been slow for its queue, and be known to be well only with the next of them.
const (
	fullFor  = 2 * settle
	fullKept = usual.MostSilence + fullFor
)

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
		if _, known := x.full[at]; known || len(x.full) < maxFull {
			x.full[at] = now
		}
	}
	for at, last := range x.full {
		if now.Sub(last) > fullKept || len(x.full) == maxFull && now.Sub(last) > fullFor {
			delete(x.full, at)
		}
	}
	return x.queueSigns(order, full, k.Hops, now), slow
}

// queueSigns makes a sign of each interface with congested queues, or one of all at known nodes where nearly all of these have one.
// Where half as many have, it is waited a moment for more.
func (x *Network) queueSigns(order [][2]uint64, full map[[2]uint64][]congested, used []usual.Sight, now time.Time) (signs []problem.Sign) {
	known := func(id uint32) bool { return x.isKnown(id, now) }
	nodes, of := map[uint32]bool{}, passed(used, known)
	var together [][2]uint64
	for _, at := range order {
		if id := uint32(at[0] >> 32); known(id) {
			nodes[id], together = true, append(together, at)
		}
	}
	was := x.toldFull
	x.toldFull = map[[2]uint64]bool{}
	everywhere := x.allFull.holds(len(nodes), of, now)
	if everywhere {
		signs = append(signs, fullEverywhere(together, full, len(nodes), max(of, len(nodes))))
	}
	var found []found
	for _, at := range order {
		if nodes[uint32(at[0]>>32)] && (everywhere || !was[at] && grow(len(nodes), of, begin(full[at]), now)) {
			continue
		}
		found, x.toldFull[at] = append(found, foundQueues(at, full[at])), true
	}
	return append(signs, x.choose(problem.QueueCongested, found, now)...)
}

// begin is when the first of an interface's episodes began; 0: one of them is over, so that nobody has to wait.
func begin(all []congested) int64 {
	since := all[0].value.Since
	for i := range all {
		if r := all[i].record; r != nil && r.End != 0 {
			return 0
		}
		since = min(since, all[i].value.Since)
	}
	return since
}

// fullEverywhere is the sign that nearly all nodes, n of so many, have a congested queue: the worst value is that of all.
func fullEverywhere(order [][2]uint64, full map[[2]uint64][]congested, n, of int) problem.Sign {
	all := problem.Sign{
		Kind: problem.QueueCongested, Key: "queues everywhere", Subject: "network", What: "queues are congested at nearly all nodes", Over: "queues are calm again", Settle: settle, Known: true,
		Evidence: problem.Evidence{Why: fmt.Sprintf("%d of the %d known nodes that packets pass have a congested queue", n, of)},
		Todo:     "look at what all nodes have in common: a load from the edge, a change that all got, the unit of their occupancies",
	}
	for _, at := range order {
		s := queueSign(at, full[at])
		if all.Since.IsZero() || s.Since.Before(all.Since) {
			all.Since = s.Since
		}
		if s.Seen.After(all.Seen) {
			all.Seen = s.Seen
		}
		if s.Value != nil && (all.Value == nil || *s.Value > *all.Value) {
			all.Value, all.Usual, all.Unit = s.Value, s.Usual, s.Unit
		}
	}
	return all
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
	var open []episode.Record
	if k.Episodes != nil {
		open = k.Episodes()
	}
	egresses = map[uint32]int{}
	for _, q := range tables {
		auto := q.Auto()
		for i := range q.Queues {
			r := &q.Queues[i]
			if seen[r.Key] || !q.Congested(&r.Value) {
				continue
			}
			seen[r.Key] = true
			all = append(all, newCongested(r, open, k, auto))
		}
	}
	all = append(all, x.recorded(tables, open, k, seen)...)
	for i := range all {
		c := &all[i]
		if at := c.egress(); c.value.Occupancy == unknown && !counted[at] {
			counted[at] = true
			egresses[uint32(c.key[0]>>32)]++
		}
	}
	slices.SortFunc(all, func(a, b congested) int { return slices.Compare(a.key[:], b.key[:]) })
	return all, egresses
}

// recorded lists the queues that only a record shows: their episode began and ended since the last look, or no table that was
// asked has them. seen are the others.
func (x *Network) recorded(tables []*inspect.PendingQuery, open []episode.Record, k *Known, seen map[[2]uint64]bool) (all []congested) {
	records := slices.Clone(open)
	if k.Ended != nil {
		var ended []episode.Record
		ended, x.ended = k.Ended(x.ended)
		records = append(records, ended...)
	}
	auto := slices.ContainsFunc(tables, (*inspect.PendingQuery).Auto)
	orUnknown := func(v uint32) uint32 {
		if v == 0 {
			return unknown
		}
		return v
	}
	for i := len(records) - 1; i >= 0; i-- { // of those of one queue the last
		r := &records[i]
		if seen[r.Queue] {
			continue
		}
		seen[r.Queue] = true
		c := congested{key: r.Queue, record: r, auto: auto, value: event.Queue{Since: r.Begin, Latency: orUnknown(r.PeakLatency), Occupancy: orUnknown(r.PeakOccupancy)}}
		if k.Usual != nil {
			c.usual, _ = k.Usual(usual.Place{Kind: usual.Queue, Key: r.Queue})
		}
		all = append(all, c)
	}
	return all
}

func newCongested(r *inspect.Row[event.Queue], open []episode.Record, k *Known, auto bool) congested {
	c := congested{key: r.Key, value: r.Value, auto: auto}
	if at := slices.IndexFunc(open, func(e episode.Record) bool { return e.Queue == r.Key }); at >= 0 {
		c.record = &open[at]
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
		if r := all[i].record; r != nil && time.Unix(0, r.LastFull()).After(s.Seen) {
			s.Seen = time.Unix(0, r.LastFull())
		}
	}
	if len(all) > 1 {
		s.Evidence.Why = fmt.Sprintf("%d queues of the interface are congested", len(all))
	}
	worst.values(&s)
	if r := worst.record; r != nil {
		if r.Marked > 0 {
			s.Evidence.Why = strings.TrimPrefix(fmt.Sprintf("%s; %d of %d packets carry the mark of a queue (ECN: CE)", s.Evidence.Why, r.Marked, r.Packets), "; ")
		}
		s.Evidence.Episode, s.Times = r.ID, int(r.Bursts)
		addWho(&s.Evidence, r)
	}
	return s
}

// addWho adds who fills a queue and who waits in it: flows, hosts, services, all together, and just now.
func addWho(e *problem.Evidence, r *episode.Record) {
	culprits := func(t *episode.Top) (all []problem.Culprit) {
		for _, c := range t.Most(maxFlows) {
			all = append(all, problem.Culprit{Flow: inspect.FlowID(&c.Flow), Bytes: c.Sum, Share: float64(c.Sum-c.Over) / float64(max(t.Total, 1))})
		}
		return all
	}
	e.Culprits, e.Now, e.Bytes, e.AddedNs, e.FullNs = culprits(&r.Culprits), culprits(r.Now()), r.Bytes, r.Victims.Total, r.Over()
	e.Others = r.OtherBytes
	for _, c := range r.Victims.Most(maxFlows) {
		e.Victims = append(e.Victims, problem.Victim{Flow: inspect.FlowID(&c.Flow), AddedNs: c.Sum})
	}
	if doubt := r.Doubt(); doubt != "" {
		e.Why = strings.TrimPrefix(e.Why+"; "+doubt+": who fills it is not known", "; ")
		for _, c := range e.Culprits {
			e.Flows = append(e.Flows, c.Flow)
		}
		e.Culprits, e.Now = nil, nil
		return
	}
	share := func(m *episode.Member) float64 { return min(float64(m.Bytes-m.Over)/float64(max(r.Bytes, 1)), 1) }
	for _, m := range r.Hosts.Most(maxFlows) {
		e.Hosts = append(e.Hosts, problem.Share{Name: m.Flow.SrcAddr().String(), Share: share(&m), AddedNs: m.Added})
	}
	for _, m := range r.Services.Most(maxFlows) {
		e.Services = append(e.Services, problem.Share{Name: inspect.ServiceID(&m.Flow), Share: share(&m), AddedNs: m.Added})
	}
	if len(e.Hosts) > 0 && e.Hosts[0].Share >= hostAlone && (len(e.Culprits) == 0 || e.Hosts[0].Share >= manyFlows*e.Culprits[0].Share) {
		h := &e.Hosts[0]
		e.Culprits = slices.Insert(e.Culprits, 0, problem.Culprit{Host: h.Name, Bytes: uint64(h.Share * float64(r.Bytes)), Share: h.Share})
	}
}

// A host with a share of hostAlone fills the queue by many flows where it has manyFlows times as much as any flow.
const (
	hostAlone = 0.3
	manyFlows = 2
)

func queuePlace(key [2]uint64) []problem.Part {
	node, queue := uint32(key[0]>>32), uint8(key[1])
	if egress := uint16(key[0]); egress != noInterface {
		return place("node", node, "egress", egress, "queue", queue)
	}
	return place("node", node, "queue", queue)
}

// values sets the value of a sign, and what it usually is: the latency, where it is known, and the highest of the last seconds
// of a burst. Packets of queues that were empty meanwhile, or of others that count as one with it, say nothing of it.
func (c *congested) values(s *problem.Sign) {
	latency, occupancy := c.value.Latency, c.value.Occupancy
	if c.record != nil {
		if l, o := c.record.Worst(worstOf); l != 0 || o != 0 {
			latency, occupancy = l, o
		}
	}
	if v := occupancy; v != unknown && v != 0 {
		s.Value, s.Usual, s.Unit = new(float64(v)), usually(c.usual.Occupancy), "of occupancy"
	}
	if v := latency; v != unknown && v != 0 {
		s.Value, s.Usual, s.Unit = new(float64(v)), usually(c.usual.Latency), "ns"
	}
}

// worstOf is how far back the worst of an episode is looked for, nanoseconds.
const worstOf = 10e9

// usually is the median of what is usual; nil: nobody knows.
func usually(u usual.Stat) *float64 {
	if !u.Known || u.Median == 0 {
		return nil
	}
	return new(float64(u.Median))
}
